#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""php_test.py paths|modes [MODE...]: the functions of PHP programs by name, merged with native frames, in one walk.

In tests/programs/php/paths.php each path ends in a function of its own, so the leaf of a stack says what the whole of it must
be. `paths`: with the PHP of this machine, and with each program in FIRETOWER_PHPS, separated by colons. `modes`: one of them
after the other, with the cache of compiled code, and with each of its compilers.
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

SUPPORT = pathlib.Path(__file__).resolve().parents[1] / "support" / "real"
sys.path.insert(0, str(SUPPORT))

from case import Case
from daemon import Daemon
from known_paths import count_odd, expand, run_in_pairs

PROGRAM = pathlib.Path(__file__).resolve().parents[1] / "programs" / "php" / "paths.php"
SECONDS = 12
EXACT = 0.99
EXACT_COMPILED = 0.98
SAMPLES = 60
# Lines of spin() in the program. Compiled code does not say where it is.
SPIN_ITSELF = (7,)
SPIN = range(10, 15)
MODULE = "[php]"
CACHE = ["-d", "opcache.enable=1", "-d", "opcache.enable_cli=1", "-d", "opcache.file_update_protection=0", "-d", "opcache.jit_buffer_size=64M"]
MODES = {
    "cache": [*CACHE, "-d", "opcache.jit=0"],
    "functions": [*CACHE, "-d", "opcache.jit=function"],
    "tracing": [*CACHE, "-d", "opcache.jit=tracing"],
}
COMPILED = ("functions", "tracing")


def phps():
    """Each PHP here, by its version."""
    found = {}
    for php in [shutil.which("php"), *os.environ.get("FIRETOWER_PHPS", "").split(":")]:
        if php and pathlib.Path(php).exists():
            said = subprocess.run([php, "-r", "echo PHP_VERSION;"], capture_output=True, text=True).stdout
            found.setdefault(said.strip(), php)
    return found


class Running:
    def __init__(self, name, php, options, folder):
        self.name = name
        self.mode = name.split("-", 1)[1] if "-" in name else ""
        # Each run has files of its own, by which its samples are told.
        self.program = folder / f"{name}.php"
        self.included = folder / f"{name}-included.php"
        shutil.copy(PROGRAM, self.program)
        self.process = subprocess.Popen([php, *options, self.program, str(SECONDS), self.included], stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        self.why = "" if line.startswith("{") else line + self.process.stderr.read().strip()[-300:] or "it said nothing"
        self.paths = {leaf: expand(path) for leaf, path in json.loads(line or "{}").items()} if not self.why else {}

    def wanted(self, leaf):
        return ["{main}", "work", "turn", "{closure}", *self.paths[leaf], leaf]

    def can_have(self, stack):
        """It is on its way to some leaf, or in what that calls."""
        return any((self.wanted(leaf) + ["spin"])[:len(stack)] == stack for leaf in self.paths) or \
            stack[:4] == ["{main}", "work", "turn", "{closure}"] and "leaf" not in " ".join(stack) or len(stack) < 4

    def own(self, sample):
        """All functions of PHP in a sample, the outermost first."""
        return [re.sub(r"(.*::)?\{closure.*\}", "{closure}", frame.name) for frame in sample.stack if frame.module == MODULE]


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
        loops += count * any(frame.name == "execute_ex" for frame in sample.stack)
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
            lines += count * (last.name == "spin" and last.line in (SPIN_ITSELF if running.mode in COMPILED else SPIN))
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
        return [(version, php, []) for version, php in found.items()]
    return [(f"{version}-{mode}", php, MODES[mode]) for version, php in found.items() for mode in sys.argv[2:] or MODES]


def main():
    what = sys.argv[1]
    case = Case(f"e2e.php-{what}")
    found = phps()
    if not found:
        case.skip("no PHP here")
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
