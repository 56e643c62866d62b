<?php
// SPDX-License-Identifier: Apache-2.0
// paths.php SECONDS: writes {leaf: the functions that lead to it} as JSON, and then runs them by turns. Each path ends in a leaf of
// its own, and tells each function that it goes through, those of PHP's own C code as well.
error_reporting(E_ALL);

function spin()
{
    $x = 1;
    for ($i = 0; $i < 3000; $i++) {
        $x = ($x * 31 + $i) % 65521;
    }
    return $x;
}

function leafPlain() { return spin(); }
function leafDeep() { return spin(); }
function leafMethod() { return spin(); }
function leafStatic() { return spin(); }
function leafInherited() { return spin(); }
function leafClosure() { return spin(); }
function leafArrow() { return spin(); }
function leafMap() { return spin(); }
function leafSort() { return spin(); }
function leafGenerator() { return spin(); }
function leafKeys() { return spin(); }
function leafInclude() { return spin(); }
function leafEval() { return spin(); }
function leafCall() { return spin(); }
function leafStaticCall() { return spin(); }
function leafText() { return spin(); }
function leafCatch() { return spin(); }
function leafFinally() { return spin(); }
function leafHandler() { return spin(); }
function leafIterator() { return spin(); }
function leafOffset() { return spin(); }
function leafRegex() { return spin(); }
function leafInvoke() { return spin(); }
function leafNested() { return spin(); }
function leafConstructor() { return spin(); }
function leafCount() { return spin(); }
function leafFiber() { return spin(); }

function plain() { return leafPlain(); }
function deep($n) { return $n > 1 ? deep($n - 1) : leafDeep(); }

abstract class Base
{
    public function run() { return $this->step(); }
    abstract protected function step();
    public function kept() { return leafInherited(); }
}

class Shape extends Base implements IteratorAggregate, ArrayAccess, Countable
{
    protected function step() { return leafMethod(); }
    public static function make() { return leafStatic(); }
    public function __call($name, $arguments) { return leafCall(); }
    public static function __callStatic($name, $arguments) { return leafStaticCall(); }
    public function __toString() { return (string) leafText(); }
    public function __invoke($x) { return leafInvoke(); }
    #[ReturnTypeWillChange]
    public function getIterator() { return new ArrayIterator([leafIterator()]); }
    #[ReturnTypeWillChange]
    public function offsetGet($at) { return leafOffset(); }
    #[ReturnTypeWillChange]
    public function offsetSet($at, $value) {}
    #[ReturnTypeWillChange]
    public function offsetExists($at) { return true; }
    #[ReturnTypeWillChange]
    public function offsetUnset($at) {}
    #[ReturnTypeWillChange]
    public function count() { return leafCount(); }
}

class Made
{
    public function __construct() { leafConstructor(); }
}

function closure() { $f = function () { return leafClosure(); }; return $f(); }
function arrow() { return (fn() => leafArrow())(); }
function map() { return array_map('mapped', [1]); }
function mapped($x) { return leafMap(); }
function sorted() { $list = [2, 1]; usort($list, function ($a, $b) { leafSort(); return $a - $b; }); return $list; }
function values() { yield leafGenerator(); }
function generator() { foreach (values() as $value) { $x = $value; } return $x; }
function keys() { yield 1 => 2; leafKeys(); }
function drained() { return iterator_to_array(keys()); }
function included() { return include $GLOBALS['file']; }
function evaluated() { return eval('return leafEval();'); }
function caught() { try { thrown(); } catch (Exception $e) { return leafCatch(); } }
function thrown() { throw new RuntimeException('x'); }
function cleaned() { try { return 1; } finally { leafFinally(); } }
function handled() { set_error_handler('noted'); $x = $undefined; restore_error_handler(); return $x; }
function noted($number, $text) { leafHandler(); return true; }
function iterated() { foreach (new Shape() as $x) { } return $x; }
function replaced() { return preg_replace_callback('/a/', 'found', 'a'); }
function found($m) { return (string) leafRegex(); }
function invoked() { return call_user_func(new Shape(), 1); }
function nested() { return array_map(function ($x) { return array_filter([1], 'kept'); }, [1]); }
function kept($x) { return leafNested(); }
function fibered() { $f = new Fiber('fibre'); return $f->start(); }
function fibre() { return leafFiber(); }

$file = $argv[2];
file_put_contents($file, "<?php\nreturn leafInclude();\n");

$shape = new Shape();
$paths = [
    'leafPlain' => [['plain'], fn() => plain()],
    'leafDeep' => [['deep*200'], fn() => deep(200)],
    'leafMethod' => [['Base::run', 'Shape::step'], fn() => $shape->run()],
    'leafStatic' => [['Shape::make'], fn() => Shape::make()],
    'leafInherited' => [['Base::kept'], fn() => $shape->kept()],
    'leafClosure' => [['closure', '{closure}'], fn() => closure()],
    'leafArrow' => [['arrow', '{closure}'], fn() => arrow()],
    'leafMap' => [['map', 'array_map', 'mapped'], fn() => map()],
    'leafSort' => [['sorted', 'usort', '{closure}'], fn() => sorted()],
    'leafGenerator' => [['generator', 'values'], fn() => generator()],
    'leafKeys' => [['drained', 'iterator_to_array', 'keys'], fn() => drained()],
    'leafInclude' => [['included', 'include ' . basename($file)], fn() => included()],
    'leafEval' => [['evaluated', 'eval'], fn() => evaluated()],
    'leafCall' => [['Shape::__call'], fn() => $shape->missing()],
    'leafStaticCall' => [['Shape::__callStatic'], fn() => Shape::missing()],
    'leafText' => [['Shape::__toString'], fn() => "<$shape>"],
    'leafCatch' => [['caught'], fn() => caught()],
    'leafFinally' => [['cleaned'], fn() => cleaned()],
    'leafHandler' => [['handled', 'noted'], fn() => handled()],
    'leafIterator' => [['iterated', 'Shape::getIterator'], fn() => iterated()],
    'leafOffset' => [['Shape::offsetGet'], fn() => $shape['x']],
    'leafRegex' => [['replaced', 'preg_replace_callback', 'found'], fn() => replaced()],
    'leafInvoke' => [['invoked', 'Shape::__invoke'], fn() => invoked()],
    'leafNested' => [['nested', 'array_map', '{closure}', 'array_filter', 'kept'], fn() => nested()],
    'leafConstructor' => [['Made::__construct'], fn() => new Made()],
    // The compiler turns the call of count() into an instruction.
    'leafCount' => [['Shape::count'], fn() => count($shape)],
];
if (class_exists('Fiber')) {
    $paths['leafFiber'] = [['fibered', 'Fiber::start', 'fibre'], fn() => fibered()];
}

function turn($run)
{
    for ($i = 0; $i < 5; $i++) {
        $run();
    }
}

function work($paths, $end)
{
    while (microtime(true) < $end) {
        foreach ($paths as $path) {
            turn($path[1]);
        }
    }
}

echo json_encode(array_map(fn($path) => $path[0], $paths)), "\n";
work($paths, microtime(true) + (float) $argv[1]);
