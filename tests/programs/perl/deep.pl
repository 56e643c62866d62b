# SPDX-License-Identifier: Apache-2.0
# deep.pl DEPTH: computes for ever below so many calls of one subroutine.
use strict;
use warnings;
no warnings 'recursion';

sub leaf {
    my $x = 0;
    for (my $i = 0;; $i++) {
        $x = ($x + $i) & 0xffff;
    }
}

sub down {
    my ($depth) = @_;
    return $depth > 0 ? 1 + down($depth - 1) : leaf();
}

down($ARGV[0]);
