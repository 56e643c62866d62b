#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""perl_test.py paths|threads: the subroutines of Perl programs by name, merged with native frames, in one walk.

In tests/programs/perl/paths.pl each path ends in a subroutine of its own, so the leaf of a stack says what the whole of it must be.
With the Perl of this machine, and with each program in FIRETOWER_PERLS, separated by colons. `threads`: in two threads (ithreads).
"""

import pathlib
import re
import sys

SUPPORT = pathlib.Path(__file__).resolve().parents[1] / "support" / "real"
sys.path.insert(0, str(SUPPORT))

import interpreted_paths
from case import Case

NAMELESS = re.compile(r"__ANON__\[.*:(\d+)\]$")


class Running(interpreted_paths.Running):
    source = pathlib.Path(__file__).resolve().parents[1] / "programs" / "perl" / "paths.pl"
    module = "[perl]"
    loop = "Perl_runops_standard"

    def arguments(self):
        return ["thread"] if self.mode == "threads" else []

    def lines(self):
        """The lines of spin()."""
        return range(12, 18)

    def prefix(self):
        return ["work", "turn"] if self.mode == "threads" else ["{main}", "work", "turn"]

    def wanted(self, leaf):
        return [*self.prefix(), *self.paths[leaf], leaf]

    def own(self, sample):
        """The subroutines of Perl in a sample, the outermost first."""
        names = [frame.name for frame in sample.stack if frame.module == self.module]
        names = [NAMELESS.sub(r"anon \1", name.removeprefix("main::")) for name in names]
        return ["require" if name == f"require {self.included.name}" else name for name in names]

    def may_begin(self, stack):
        """It starts: modules are read, and the table of paths is written."""
        return "work" not in stack


def main():
    what = sys.argv[1]
    case = Case(f"e2e.perl-{what}")
    found = interpreted_paths.programs("perl", "FIRETOWER_PERLS", ["-e", "printf '%vd', $^V"])
    if not found:
        case.skip("no Perl here")
    suffix = "-threads" if what == "threads" else ""
    interpreted_paths.run(case, [(version + suffix, perl, []) for version, perl in found.items()], Running)


if __name__ == "__main__":
    main()
