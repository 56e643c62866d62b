#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ruby_test.py paths|modes [MODE...]: the methods of Ruby programs by name, merged with native frames, in one walk.

In tests/programs/ruby/paths.rb each path ends in a method of its own, so the leaf of a stack says what the whole of it must be.
`paths`: with the Ruby of this machine, and with each program in FIRETOWER_RUBIES, separated by colons. `modes`: in threads, and
with the compiler of those that have one.
"""

import collections
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

SUPPORT = pathlib.Path(__file__).resolve().parents[1] / "support" / "real"
sys.path.insert(0, str(SUPPORT))

from case import Case
from daemon import Daemon
from known_paths import count_odd, expand, run_in_pairs

PROGRAM = pathlib.Path(__file__).resolve().parents[1] / "programs" / "ruby" / "paths.rb"
SECONDS = 12
EXACT = 0.99
EXACT_COMPILED = 0.98
SAMPLES = 60
MODULE = "[ruby]"
MODES = {"threads": [], "yjit": ["--yjit"]}
COMPILED = ("yjit",)
# Lines of spin() in the program.
SPIN = range(6, 13)
# Paths on a stack of their own, which begins with them.
FIBERS = ("leafFiber", "leafEnumerator")


def rubies():
    """Each Ruby here, by its version."""
    found = {}
    for ruby in [shutil.which("ruby"), *os.environ.get("FIRETOWER_RUBIES", "").split(":")]:
        if ruby and pathlib.Path(ruby).exists():
            said = subprocess.run([ruby, "-e", "print RUBY_VERSION"], capture_output=True, text=True).stdout
            found.setdefault(said.strip(), ruby)
    return found


def can_run(ruby, options):
    return subprocess.run([ruby, *options, "-e", "1"], capture_output=True).returncode == 0


class Running:
    def __init__(self, name, ruby, options, folder):
        self.name = name
        self.mode = name.split("-", 1)[1] if "-" in name else ""
        # Each run has files of its own, by which its samples are told.
        self.program = folder / f"{name}.rb"
        self.included = folder / f"{name}-included.rb"
        shutil.copy(PROGRAM, self.program)
        how = ["thread"] if self.mode == "threads" else []
        self.root = ["block (2 levels) in <main>"] if how else ["<main>"]
        self.process = subprocess.Popen([ruby, *options, self.program, str(SECONDS), self.included, *how], stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        self.why = "" if line.startswith("{") else line + self.process.stderr.read().strip()[-300:] or "it said nothing"
        self.paths = {leaf: expand(path) for leaf, path in json.loads(line or "{}").items()} if not self.why else {}

    def wanted(self, leaf):
        path = [*self.paths[leaf], leaf]
        return path if leaf in FIBERS else [*self.root, "work", "block in work", "turn", "block in <main>", *path]

    def can_have(self, stack):
        """It is on its way to some leaf, or in what that calls."""
        return any((self.wanted(leaf) + ["spin"])[:len(stack)] == stack for leaf in self.paths) or "leaf" not in " ".join(stack)

    def own(self, sample):
        """All methods of Ruby in a sample, the outermost first, but for those that Ruby brings along."""
        names = [frame.name for frame in sample.stack if frame.module == MODULE and not frame.file.startswith("<internal:")]
        # From 3.4 on, what eval() runs has no name of its own.
        return ["evaluated" if name == "<compiled>" else name for name in names]


def is_of(running, sample):
    return any(frame.file.endswith((running.program.name, running.included.name)) for frame in sample.stack)


def judge(case, running, profile):
    """All samples of its, and how many of them are cut."""
    everything = total = exact = cuts = nameless = loops = lines = 0
    wrong, leaves, odd, others = collections.Counter(), set(), collections.Counter(), collections.Counter()
    for sample in profile.samples:
        if not is_of(running, sample):
            continue
        count = sample.values[0]
        everything += count
        is_cut, is_nameless = count_odd(sample, MODULE, odd)
        cuts += count * is_cut
        nameless += count * is_nameless
        loops += count * any(frame.name == "rb_vm_exec" for frame in sample.stack)
        stack = running.own(sample)
        if not is_cut and not is_nameless and not running.can_have(stack):
            wrong[" ".join(stack)] += count
        leaf = next((name for name in stack if name in running.paths), None)
        if leaf is None:
            others["no leaf: " + " ".join(stack or sample.names[-3:])] += count
            continue
        total += count
        leaves.add(leaf)
        if stack in (running.wanted(leaf), [*running.wanted(leaf), "spin"]):
            exact += count
            last = [frame for frame in sample.stack if frame.module == MODULE][-1]
            lines += count * (last.name == "spin" and last.line in SPIN)
        else:
            others[" ".join(stack)] += count
    name = running.name
    case.check(f"{name}: no stack that the program cannot have", not wrong, dict(wrong.most_common(4)) or "")
    case.at_least(f"{name}: samples in leaves", total, SAMPLES)
    case.at_least(f"{name}: of them, share with exactly the leaf's path", exact / max(total, 1),
                  EXACT_COMPILED if running.mode in COMPILED else EXACT)
    case.at_least(f"{name}: paths seen", len(leaves), len(running.paths) - 2)
    case.at_least(f"{name}: share with a line of the leaf's loop", lines / max(exact, 1), 0.9)
    case.at_most(f"{name}: samples with a gap", cuts + nameless, max(4, 0.01 * everything))
    case.at_most(f"{name}: samples in which the interpreter's loop is shown", loops, max(4, 0.01 * everything))
    case.figure(name, f"{everything} samples, {total} in leaves, {exact} exact, {nameless} with a frame without a name, {cuts} cut")
    for stack, count in others.most_common(4):
        case.figure(name, f"{count} x other: {stack}")
    for stack, count in odd.most_common(3):
        case.figure(name, f"{count} × {stack}")
    return everything, cuts


def started(found, what):
    if what == "paths":
        return [(version, ruby, []) for version, ruby in found.items()]
    return [(f"{version}-{mode}", ruby, MODES[mode]) for version, ruby in found.items() for mode in sys.argv[2:] or MODES
            if can_run(ruby, MODES[mode])]


def main():
    what = sys.argv[1]
    case = Case(f"e2e.ruby-{what}")
    found = rubies()
    if not found:
        case.skip("no Ruby here")
    with tempfile.TemporaryDirectory() as folder, Daemon(window_seconds=60) as daemon:
        everything, cut = run_in_pairs(case, daemon, started(found, what),
                                       lambda *job: Running(*job, pathlib.Path(folder)), judge)
        case.at_most("share of the stacks that are cut", cut / max(everything, 1), 0.005)
        metrics = daemon.metrics()
        daemon.stop()
        case.check("no sample was lost", not metrics.lost(), metrics.lost() or "none")
    case.finish()


if __name__ == "__main__":
    main()
