#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ruby_test.py paths|modes [MODE...]: the methods of Ruby programs by name, merged with native frames, in one walk.

In tests/programs/ruby/paths.rb each path ends in a method of its own, so the leaf of a stack says what the whole of it must be.
`paths`: with the Ruby of this machine, and with each program in FIRETOWER_RUBIES, separated by colons. `modes`: in threads, and
with the compiler of those that have one.
"""

import pathlib
import subprocess
import sys

SUPPORT = pathlib.Path(__file__).resolve().parents[1] / "support" / "real"
sys.path.insert(0, str(SUPPORT))

import interpreted_paths
from case import Case

MODES = {"threads": [], "yjit": ["--yjit"]}
# Paths on a stack of their own, which begins with them.
FIBERS = ("leafFiber", "leafEnumerator")


class Running(interpreted_paths.Running):
    source = pathlib.Path(__file__).resolve().parents[1] / "programs" / "ruby" / "paths.rb"
    module = "[ruby]"
    loop = "rb_vm_exec"
    compiled = ("yjit",)

    def arguments(self):
        return ["thread"] if self.mode == "threads" else []

    def lines(self):
        """The lines of spin()."""
        return range(6, 13)

    def prefix(self):
        root = "block (2 levels) in <main>" if self.mode == "threads" else "<main>"
        return [root, "work", "block in work", "turn", "block in <main>"]

    def wanted(self, leaf):
        path = [*self.paths[leaf], leaf]
        return path if leaf in FIBERS else [*self.prefix(), *path]

    def own(self, sample):
        """All methods of Ruby in a sample, the outermost first, but for those that Ruby brings along."""
        names = [frame.name for frame in sample.stack if frame.module == self.module and not frame.file.startswith("<internal:")]
        # From 3.4 on, what eval() runs has no name of its own.
        return ["evaluated" if name == "<compiled>" else name for name in names]

    def may_begin(self, stack):
        """It starts: methods are made, and the table of paths is written."""
        return stack[:1] == ["<main>"] and "work" not in stack and len(stack) < 5


def can_run(ruby, mode):
    """Rubies without a compiler only warn where one is asked for."""
    if mode != "yjit":
        return True
    return subprocess.run([ruby, "--yjit", "-e", "exit RubyVM::YJIT.enabled?"], capture_output=True).returncode == 0


def main():
    what = sys.argv[1]
    case = Case(f"e2e.ruby-{what}")
    found = interpreted_paths.programs("ruby", "FIRETOWER_RUBIES", ["-e", "print RUBY_VERSION"])
    if not found:
        case.skip("no Ruby here")
    jobs = [(version, ruby, []) for version, ruby in found.items()]
    if what == "modes":
        wanted = [(version, ruby, mode) for version, ruby, _ in jobs for mode in sys.argv[2:] or MODES]
        jobs = [(f"{version}-{mode}", ruby, MODES[mode]) for version, ruby, mode in wanted if can_run(ruby, mode)]
        for version, ruby, mode in wanted:
            if not can_run(ruby, mode):
                case.figure(f"{version}-{mode}", "left out: this Ruby has no such compiler")
    interpreted_paths.run(case, jobs, Running)


if __name__ == "__main__":
    main()
