# SPDX-License-Identifier: Apache-2.0
# paths.rb SECONDS FILE: writes {leaf: the methods and blocks that lead to it} as JSON, and then runs them by turns. Each path ends in
# a leaf of its own, and tells each method and block of Ruby's that it goes through, but for those that Ruby brings along.

def spin
  x = 1
  i = 0
  while i < 2000
    x = (x * 31 + i) % 65_521
    i += 1
  end
  x
end

%w[Plain Deep Method Singleton Super Block Yield Proc Lambda Each Map Sort Hash Inject Eval Included Missing Sent Defined Instance
   Rescue Ensure Text Compare Fiber Enumerator Caught Nested Retry Constructor Symbol Default Regex].each do |name|
  eval("def leaf#{name}\n  spin\nend", TOPLEVEL_BINDING, __FILE__, 20)
end

def plain; leafPlain; end
def deep(n); n > 1 ? deep(n - 1) : leafDeep; end
def block; [1].each { leafBlock }; end
def yielding; yield; end
def yielded; yielding { leafYield }; end
def procs; proc { leafProc }.call; end
def lambdas; -> { leafLambda }.call; end
def each_pair; { 1 => 2 }.each { |k, v| leafHash }; end
def mapped; [1].map { leafMap }; end
def sorted; [2, 1].sort { |a, b| leafSort; a - b }; end
def injected; [1, 2].inject { |a, b| leafInject }; end
def evaluated; eval('leafEval', binding, '(eval)', 1); end
def included; load FILE; end
def sent; send(:leafSent); end
def caught; raise 'x'; rescue RuntimeError; leafRescue; end
def ensured; 1; ensure; leafEnsure; end
def thrown; catch(:done) { leafCaught; throw :done }; end
def fibered; Fiber.new { leafFiber }.resume; end
def enumerated; Enumerator.new { |y| leafEnumerator; y << 1 }.next; end
def nested; [1].each { [1].map { leafNested } }; end
def retried; tries = 0; begin; tries += 1; raise 'x' if tries < 2; leafRetry; rescue RuntimeError; retry; end; end
def symbols; %w[a].each(&method(:symbol)); end
def symbol(x); leafSymbol; end
def defaulted(x = leafDefault); x; end
def replaced; 'a'.gsub(/a/) { leafRegex.to_s }; end

class Base
  def shared; leafSuper; end
  def leafed(name); send(name); end
end

class Shape < Base
  attr_reader :size
  def initialize(size = 0, make = false); @size = size; leafConstructor if make; end
  def run; leafMethod; end
  def self.make; leafSingleton; end
  def shared; super; end
  def method_missing(name, *rest); name == :absent ? leafMissing : super; end
  def respond_to_missing?(*); false; end
  define_method(:defined) { leafDefined }
  def to_s; leafText.to_s; end
  def <=>(other); leafCompare; size <=> other.size; end
  include Comparable
end

FILE = ARGV[1]
File.write(FILE, "leafIncluded\n")
SHAPE = Shape.new(1)
OTHER = Shape.new(2)

PATHS = {
  'leafPlain' => [['plain'], -> { plain }],
  'leafDeep' => [['deep*200'], -> { deep(200) }],
  'leafMethod' => [['run'], -> { SHAPE.run }],
  'leafSingleton' => [['make'], -> { Shape.make }],
  'leafSuper' => [['shared', 'shared'], -> { SHAPE.shared }],
  'leafBlock' => [['block', 'block in block'], -> { block }],
  'leafYield' => [['yielded', 'yielding', 'block in yielded'], -> { yielded }],
  'leafProc' => [['procs', 'block in procs'], -> { procs }],
  'leafLambda' => [['lambdas', 'block in lambdas'], -> { lambdas }],
  'leafHash' => [['each_pair', 'block in each_pair'], -> { each_pair }],
  'leafMap' => [['mapped', 'block in mapped'], -> { mapped }],
  'leafSort' => [['sorted', 'block in sorted'], -> { sorted }],
  'leafInject' => [['injected', 'block in injected'], -> { injected }],
  'leafEval' => [['evaluated', 'evaluated'], -> { evaluated }],
  'leafIncluded' => [['included', '<top (required)>'], -> { included }],
  'leafMissing' => [['method_missing'], -> { SHAPE.absent }],
  'leafSent' => [['sent'], -> { sent }],
  'leafDefined' => [['block in <class:Shape>'], -> { SHAPE.defined }],
  'leafInstance' => [['block (2 levels) in <main>'], -> { SHAPE.instance_eval { leafInstance } }],
  'leafRescue' => [['caught', 'rescue in caught'], -> { caught }],
  'leafEnsure' => [['ensured'], -> { ensured }],
  'leafText' => [['to_s'], -> { "<#{SHAPE}>" }],
  'leafCompare' => [['<=>'], -> { SHAPE < OTHER }],
  'leafFiber' => [['block in fibered'], -> { fibered }],
  'leafEnumerator' => [['block in enumerated'], -> { enumerated }],
  'leafCaught' => [['thrown', 'block in thrown'], -> { thrown }],
  'leafNested' => [['nested', 'block in nested', 'block (2 levels) in nested'], -> { nested }],
  'leafRetry' => [['retried'], -> { retried }],
  'leafConstructor' => [['initialize'], -> { Shape.new(1, true) }],
  'leafSymbol' => [['symbols', 'symbol'], -> { symbols }],
  'leafDefault' => [['defaulted'], -> { defaulted }],
  'leafRegex' => [['replaced', 'block in replaced'], -> { replaced }]
}.freeze

def turn(run)
  i = 0
  while i < 5
    run.call
    i += 1
  end
end

def work(finish)
  while Process.clock_gettime(Process::CLOCK_MONOTONIC) < finish
    PATHS.each_value { |_, run| turn(run) }
  end
end

puts "{#{PATHS.map { |leaf, (path, _)| "#{leaf.inspect}: #{path.inspect}" }.join(', ')}}"
$stdout.flush
finish = Process.clock_gettime(Process::CLOCK_MONOTONIC) + ARGV[0].to_f
if ARGV[2] == 'thread'
  Array.new(2) { Thread.new { work(finish) } }.each(&:join)
else
  work(finish)
end
