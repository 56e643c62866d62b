# SPDX-License-Identifier: Apache-2.0
# paths.pl SECONDS FILE [thread]: writes {leaf: the subroutines that lead to it} as JSON, and then runs them by turns. Each path ends in
# a leaf of its own. A subroutine without a name is "anon LINE".
use strict;
use warnings;
no warnings 'recursion';
use List::Util ();
use Time::HiRes ();

our %at; # the lines of subroutines without a name
sub spin {
    my $x = 1;
    for (my $i = 0; $i < 400; $i++) {
        $x = ($x * 31 + $i) % 65_521;
    }
    return $x;
}

my @names = qw(Plain Deep Method Class Super Autoload Closure Sorted Block First Reduce Eval Caught After Thrown Included Fetch FetchEval
    FetchAfter Text Compare Add Destroy Warn Die Signal Goto Given Regex Replaced Format Begin Nested Mapped Lexical Try Defer Tied
    SortEval Wanted Local);
eval "sub leaf$_ { my \$x = spin(); return \$x }" for @names;

sub plain { return leafPlain() }
sub deep { my ($n) = @_; return $n > 1 ? deep($n - 1) : leafDeep() }
sub by_leaf { leafSorted(); return $a <=> $b }
sub sorted { my @x = sort by_leaf 2, 1; return \@x }
sub block { my @x = sort { leafBlock(); $a <=> $b } 2, 1; return \@x }
sub first { return List::Util::first { leafFirst(); $_ > 1 } 1, 2 } BEGIN { $at{First} = __LINE__ }
sub reduce { return List::Util::reduce { leafReduce(); $a + $b } 1, 2, 3 } BEGIN { $at{Reduce} = __LINE__ }
sub evaluated { return eval "leafEval()" }
sub caught { my $x = eval { leafCaught() }; return $x }
sub thrown { eval { die "x\n" }; return leafThrown() }
sub included { return do $main::FILE }
sub destroyed { my $x = bless [], 'Gone'; return 1 }
sub warned { local $SIG{__WARN__} = sub { leafWarn() }; warn "x\n"; return 1 } BEGIN { $at{Warn} = __LINE__ }
sub died { local $SIG{__DIE__} = \&dying; eval { die "x\n" }; return 1 }
sub dying { leafDie(); return }
sub signalled { local $SIG{USR1} = \&on_signal; kill USR1 => $$; my $x = 1; return $x + 1 }
sub on_signal { leafSignal(); return }
sub jumped { goto &target }
sub target { return leafGoto() }
sub given(&) { my ($code) = @_; return $code->() }
sub matched { my $ok = 'ab' =~ /a(?{ leafRegex() })b/; return $ok }
sub replaced { my $x = 'aa'; $x =~ s/a/leafReplaced()/ge; return $x }
sub begun { return eval 'BEGIN { leafBegin() } 1' }
sub nested { my @x = map { eval { my @y = sort { leafNested(); 0 } 2, 1; 1 } } 1; return \@x }
sub mapped { my @x = map { leafMapped() } grep { 1 } 1; return \@x }
sub wanted { my ($x) = (leafWanted())[0]; return $x }
sub locally { local $_ = 1; for my $i (1 .. 2) { for (1) { leafLocal() } } return 1 }
sub by_eval { my $x = eval { leafSortEval(); 1 }; return $a <=> $b }
sub sort_evals { my @x = sort by_eval 3, 1, 2; return \@x }

our $text = 'x';
format STDERR =
@<<
leafFormat()
.
open my $null, '>', '/dev/null' or die;
sub written { my $old = select $null; $~ = 'STDERR'; write; select $old; return 1 }

package Base;
sub shared { return main::leafSuper() }

package Shape;
our @ISA = ('Base');
our $AUTOLOAD;
sub new { my ($class) = @_; return bless { size => 1 }, $class }
sub run { return main::leafMethod() }
sub make { return main::leafClass() }
sub shared { my ($self) = @_; return $self->SUPER::shared() }
sub DESTROY { }
sub AUTOLOAD { return main::leafAutoload() }

package Gone;
sub DESTROY { main::leafDestroy(); return }

package Value;
use overload '""' => \&text, '<=>' => sub { main::leafCompare(); 0 }, '+' => 'add'; BEGIN { $main::at{Compare} = __LINE__ }
sub text { main::leafText(); return 'value' }
sub add { my $x = eval { main::leafAdd() }; return 1 }

package Box;
sub TIESCALAR { my ($class, $how) = @_; return bless { how => $how }, $class }
sub FETCH { my ($self) = @_; return $self->{how}->() }
sub STORE { return main::leafTied() }

package main;

our $FILE = $ARGV[1];
open my $file, '>', $FILE or die;
print $file "leafIncluded();\n1;\n";
close $file;
my $shape = Shape->new;
my ($one, $two) = (bless([], 'Value'), bless([], 'Value'));
tie my $fetched, 'Box', sub { leafFetch() }; BEGIN { $at{Fetch} = __LINE__ }
tie my $evaluating, 'Box', sub { my $x = eval { leafFetchEval() }; return $x }; BEGIN { $at{FetchEval} = __LINE__ }
tie my $after, 'Box', \&fetch_after;
sub fetch_after { my $x = eval { 1 }; return leafFetchAfter() }
my $closure = do { my $n = 1; sub { return leafClosure() + $n } }; BEGIN { $at{Closure} = __LINE__ }
my %lines;

my %paths = (
    Plain => [['plain'], sub { plain() }],
    Deep => [['deep*200'], sub { deep(200) }],
    Method => [['Shape::run'], sub { $shape->run }],
    Class => [['Shape::make'], sub { Shape->make }],
    Super => [['Shape::shared', 'Base::shared'], sub { $shape->shared }],
    Autoload => [['Shape::AUTOLOAD'], sub { $shape->absent }],
    Closure => [["anon $at{Closure}"], sub { $closure->() }],
    Sorted => [['sorted', 'by_leaf'], sub { sorted() }],
    Block => [['block'], sub { block() }],
    First => [['first', "anon $at{First}"], sub { first() }],
    Reduce => [['reduce', "anon $at{Reduce}"], sub { reduce() }],
    Eval => [['evaluated', 'eval'], sub { evaluated() }],
    Caught => [['caught'], sub { caught() }],
    Thrown => [['thrown'], sub { thrown() }],
    Included => [['included', 'require'], sub { included() }],
    Fetch => [['Box::FETCH', "anon $at{Fetch}"], sub { my $x = $fetched }],
    FetchEval => [['Box::FETCH', "anon $at{FetchEval}"], sub { my $x = $evaluating }],
    FetchAfter => [['Box::FETCH', 'fetch_after'], sub { my $x = $after }],
    Tied => [['Box::STORE'], sub { $fetched = 1 }],
    Text => [['Value::text'], sub { my $x = "<$one>" }],
    Compare => [["Value::anon $at{Compare}"], sub { my $x = $one <=> $two }],
    Add => [['Value::add'], sub { my $x = $one + 1 }],
    Destroy => [['destroyed', 'Gone::DESTROY'], sub { destroyed() }],
    Warn => [['warned', "anon $at{Warn}"], sub { warned() }],
    Die => [['died', 'dying'], sub { died() }],
    Signal => [['signalled', 'on_signal'], sub { signalled() }],
    Goto => [['target'], sub { jumped() }],
    Given => [['given', 'anon ' . __LINE__], sub { given { leafGiven() } }],
    Regex => [['matched'], sub { matched() }],
    Replaced => [['replaced'], sub { replaced() }],
    Format => [['written', 'STDERR'], sub { written() }],
    Begin => [['begun', 'eval', 'BEGIN'], sub { begun() }],
    Nested => [['nested'], sub { nested() }],
    Mapped => [['mapped'], sub { mapped() }],
    Wanted => [['wanted'], sub { my $x = wanted() }],
    Local => [['locally'], sub { locally() }],
    SortEval => [['sort_evals', 'by_eval'], sub { sort_evals() }],
);
# What newer versions alone can read.
eval q{use feature 'current_sub', 'lexical_subs'; no warnings; my sub inner { return leafLexical() }
    sub lexical { return inner() } 1} and $paths{Lexical} = [['lexical', 'inner'], sub { lexical() }];
eval q{use feature 'try'; no warnings; sub tried { try { leafTry() } catch ($x) { die } return 1 } 1}
    and $paths{Try} = [['tried'], sub { tried() }];
eval q{use feature 'defer'; no warnings; sub deferred { defer { leafDefer() } return 1 } 1}
    and $paths{Defer} = [['deferred'], sub { deferred() }];

my $threaded = ($ARGV[2] // '') eq 'thread';
delete $paths{Signal} if $threaded;
# A subroutine without a name begins at a line that B knows.
require B;
my %said = map { my $line = B::svref_2object($paths{$_}[1])->START->line; $_ => ["anon $line", @{$paths{$_}[0]}] } keys %paths;

sub turn {
    my ($run) = @_;
    for my $i (1 .. 5) {
        $run->();
    }
}

sub work {
    my ($finish) = @_;
    while (Time::HiRes::time() < $finish) {
        turn($paths{$_}[1]) for sort keys %paths;
    }
}

print '{', join(', ', map { my $path = $said{$_}; "\"leaf$_\": [" . join(', ', map {"\"$_\""} @$path) . ']' } sort keys %said), "}\n";
STDOUT->flush;
my $finish = Time::HiRes::time() + $ARGV[0];
if ($threaded) {
    require threads;
    $_->join for map { threads->create(\&work, $finish) } 1 .. 2;
} else {
    work($finish);
}
