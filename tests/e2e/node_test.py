#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""node_test.py paths|modes [MODE...]: the functions of JavaScript programs by name, merged with native frames, in one walk.

In tests/programs/node/paths.js each path ends in a function of its own, so the leaf of a stack says what the whole of it must
be. `paths`: with the Node.js of this machine, and with each program in FIRETOWER_NODES, separated by colons. `modes`: one of
them after the other, interpreted, with each compiler, and with a collector that moves what it can.
"""

import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

SUPPORT = pathlib.Path(__file__).resolve().parents[1] / "support" / "real"
sys.path.insert(0, str(SUPPORT))

from case import Case
from daemon import Daemon
from known_paths import count_odd, expand, run_in_pairs

PROGRAM = pathlib.Path(__file__).resolve().parents[1] / "programs" / "node" / "paths.js"
SECONDS = 12
EXACT = 0.97  # With calls that are compiled into their callers.
SAMPLES = 60
SHORT = 40
SHORT_NAMED = 0.7  # 0.3 where no round is asked for; a busy machine reads later.
MODULE = "[javascript]"
MODES = {
    "jitless": ["--jitless"],
    "no-opt": ["--no-opt"],
    "sparkplug": ["--always-sparkplug", "--no-opt"],
    "maglev": ["--maglev", "--no-turbofan"],
    "maglev-only": ["--maglev", "--no-turbofan", "--no-sparkplug"],
    "compaction": ["--stress-compaction"],
    "worker": [],
    "loop": [],
    "no-inline": ["--max-inlined-bytecode-size=0"],
}
# A function out of `new Function` is in no file.
MADE = ("madeAtRunTime",)
# A collector that moves everything each time moves functions before their names are read.
MOVED = ("compaction",)


def nodes():
    """Each Node.js here, by its version."""
    found = {}
    for node in [shutil.which("node"), *os.environ.get("FIRETOWER_NODES", "").split(":")]:
        if node and pathlib.Path(node).exists():
            version = subprocess.run([node, "--version"], capture_output=True, text=True).stdout.strip()
            found.setdefault(version, node)
    return found


class Running:
    def __init__(self, name, node, options, folder):
        self.name = name
        self.mode = name.split("-", 1)[1] if "-" in name else ""
        self.root = "looping" if self.mode == "loop" else "work"
        # Each run has a file of its own, by which its samples are told.
        self.program = folder / f"{name}.js"
        shutil.copy(PROGRAM, self.program)
        self.process = subprocess.Popen([node, *options, self.program, str(SECONDS), self.mode], stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        self.why = "" if line else (self.process.stderr.read().strip().splitlines() or ["it said nothing"])[-1]
        self.paths = {leaf: expand(path) for leaf, path in json.loads(line or "{}").items()}

    def wanted(self, leaf):
        return [self.root, "turn", *self.paths[leaf], leaf]

    def can_have(self, stack):
        """It is on its way to some leaf, or in what that calls; what was compiled into its caller may be left out."""
        return any(is_part(stack, [*self.wanted(leaf), "spin"]) for leaf in self.paths) or \
            is_part(stack, [self.root, "turn", "catching", "thrower"])

    def own(self, sample):
        """The program's own functions, the outermost first, from its root on; nothing of another program's stack."""
        names = [frame.name for frame in sample.stack
                 if frame.module == MODULE and (frame.file == str(self.program) or frame.name in MADE)]
        return names[names.index(self.root):] if self.root in names else []


def is_part(stack, whole):
    rest = iter(whole)
    return all(any(name == one for one in rest) for name in stack)


def judge(case, running, profile):
    """The samples of its main thread, and how many of them are cut."""
    everything = total = exact = cuts = nameless = 0
    wrong, leaves, odd, others = collections.Counter(), set(), collections.Counter(), collections.Counter()
    for sample in profile.samples:
        if not any(frame.file == str(running.program) for frame in sample.stack):
            continue
        count = sample.values[0]
        everything += count
        is_cut, is_nameless = count_odd(sample, MODULE, odd)
        cuts += count * is_cut
        nameless += count * is_nameless
        stack = running.own(sample)
        if not is_cut and not is_nameless and not running.can_have(stack):
            wrong[" ".join(stack)] += count
        leaf = next((name for name in stack if name in running.paths), None)
        if leaf is None:
            others["no leaf: " + " ".join(stack or sample.names[-3:])] += count
            continue
        total += count
        leaves.add(leaf)
        # Nothing of JavaScript may be below it: a frame that is one too low would be.
        innermost = next(frame.name for frame in reversed(sample.stack) if frame.module == MODULE)
        if stack[:stack.index(leaf) + 1] == running.wanted(leaf) and innermost in (leaf, "spin"):
            exact += count
        else:
            others[" ".join(stack)] += count
    name = running.name
    case.check(f"{name}: no stack that the program cannot have", not wrong, dict(wrong.most_common(4)) or "")
    case.at_least(f"{name}: samples in leaves", total, SAMPLES)
    if running.mode not in MOVED:
        case.at_least(f"{name}: of them, share with exactly the leaf's path", exact / max(total, 1), EXACT)
        case.at_least(f"{name}: paths seen", len(leaves), len(running.paths) - 2)
        case.at_most(f"{name}: samples with a gap", cuts + nameless, max(8, 0.02 * everything))
    case.figure(name, f"{everything} samples, {total} in leaves, {exact} exact, {nameless} with a frame without a name, {cuts} cut")
    for stack, count in others.most_common(4):
        case.figure(name, f"{count} x other: {stack}")
    for stack, count in odd.most_common(3):
        case.figure(name, f"{count} × {stack}")
    return everything, cuts


def judge_short(case, daemon, node, folder):
    """Processes that live some 170 ms, most of them to start: what ran has to be read before they end."""
    program = folder / "short.js"
    shutil.copy(PROGRAM, program)
    for _ in range(SHORT):
        subprocess.run([node, program, "0.12"], stdout=subprocess.DEVNULL, check=True)
    time.sleep(2)
    total = named = 0
    for sample in daemon.profile('{container=~".+"}').samples:
        frames = [frame for frame in sample.stack if frame.module == MODULE]
        if not frames or not any(frame.name == "Builtins_JSEntry" for frame in sample.stack) or \
                any(frame.file.startswith(str(folder)) and frame.file != str(program) for frame in frames):
            continue
        total += sample.values[0]
        named += sample.values[0] * all(frame.is_named for frame in frames)
    case.figure("short lives", f"{total} samples with functions, {named} of them with all names")
    case.at_least("short lives: samples with functions", total, SAMPLES)
    case.at_least("short lives: of them, share with all names", named / max(total, 1), SHORT_NAMED)


def started(found, what):
    if what == "paths":
        return [(version, node, []) for version, node in found.items()]
    version, node = sorted(found.items(), key=lambda one: int(re.search(r"\d+", one[0]).group()))[-1]
    return [(f"{version}-{mode}", node, MODES[mode]) for mode in sys.argv[2:] or MODES]


def main():
    what = sys.argv[1]
    case = Case(f"e2e.node-{what}")
    found = nodes()
    if not found:
        case.skip("no Node.js here")
    with tempfile.TemporaryDirectory() as folder, Daemon(window_seconds=60) as daemon:
        everything, cut = run_in_pairs(case, daemon, started(found, what),
                                       lambda *job: Running(*job, pathlib.Path(folder)), judge)
        if what == "paths":
            judge_short(case, daemon, next(iter(found.values())), pathlib.Path(folder))
        case.at_most("share of the stacks that are cut", cut / max(everything, 1), 0.005)
        metrics = daemon.metrics()
        daemon.stop()
        case.check("no sample was lost", not metrics.lost(), metrics.lost() or "none")
    case.finish()


if __name__ == "__main__":
    main()
