# SPDX-License-Identifier: Apache-2.0
"""Programs of interpreters whose frames lie beside the native stack: each path ends in a leaf of its own, below which is spin()."""

import collections
import json
import os
import pathlib
import shutil
import subprocess
import tempfile

from daemon import Daemon
from known_paths import count_odd, expand, run_in_pairs

SECONDS = 12
HERTZ = 97
EXACT = 0.99
EXACT_COMPILED = 0.98
SAMPLES = 60
# The least share of its CPU time that a process has in samples with its functions; it takes a moment to start.
SEEN = 0.9


def programs(name, variable, say_version):
    """Each interpreter here by its version: `name` on PATH, and those of the environment's variable."""
    found = {}
    for program in [shutil.which(name), *os.environ.get(variable, "").split(":")]:
        if program and pathlib.Path(program).exists():
            said = subprocess.run([program, *say_version], capture_output=True, text=True).stdout
            found.setdefault(said.strip(), program)
    return found


class Running:
    """A run of the program. Classes that derive from it say `source`, `module`, `loop`, `compiled`, lines(), prefix(), wanted() and own()."""

    compiled = ()

    def __init__(self, name, command, folder):
        self.name = name
        self.mode = name.split("-", 1)[1] if "-" in name else ""
        # Each run has files of its own, by which its samples are told.
        self.program = folder / f"{name}{self.source.suffix}"
        self.included = folder / f"{name}-included{self.source.suffix}"
        shutil.copy(self.source, self.program)
        self.process = subprocess.Popen([*command, self.program, str(SECONDS), self.included, *self.arguments()],
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        self.why = "" if line.startswith("{") else line + self.process.stderr.read().strip()[-300:] or "it said nothing"
        self.paths = {leaf: expand(path) for leaf, path in json.loads(line or "{}").items()} if not self.why else {}

    def arguments(self):
        return []

    def is_compiled(self):
        return self.mode in self.compiled

    def is_of(self, sample):
        return any(frame.file.endswith((self.program.name, self.included.name)) for frame in sample.stack)

    def can_have(self, stack):
        """It is on its way to some leaf, or in what that calls; or it comes to no leaf, but through the program's own turns."""
        if any((self.wanted(leaf) + ["spin"])[:len(stack)] == stack for leaf in self.paths):
            return True
        prefix = self.prefix()
        return "leaf" not in " ".join(stack) and (stack[:len(prefix)] == prefix[:len(stack)] or self.may_begin(stack))

    def may_begin(self, _stack):
        return False


def judge(case, running, profile):
    """All samples of its, and how many of them are cut."""
    everything = total = exact = cuts = nameless = loops = lines = 0
    wrong, leaves, odd, others = collections.Counter(), set(), collections.Counter(), collections.Counter()
    for sample in profile.samples:
        if not running.is_of(sample):
            continue
        count = sample.values[0]
        everything += count
        is_cut, is_nameless = count_odd(sample, running.module, odd)
        cuts += count * is_cut
        nameless += count * is_nameless
        loops += count * any(frame.name == running.loop for frame in sample.stack)
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
            last = [frame for frame in sample.stack if frame.module == running.module][-1]
            lines += count * (last.name.endswith("spin") and last.line in running.lines())
        else:
            others[" ".join(stack)] += count
    name = running.name
    case.check(f"{name}: no stack that the program cannot have", not wrong, dict(wrong.most_common(4)) or "")
    case.at_least(f"{name}: samples in leaves", total, SAMPLES)
    case.at_least(f"{name}: samples with its functions, of its CPU time", everything / (running.cpu_seconds * HERTZ), SEEN)
    case.at_least(f"{name}: of those in leaves, share with exactly the leaf's path", exact / max(total, 1),
                  EXACT_COMPILED if running.is_compiled() else EXACT)
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


def run(case, jobs, start):
    """Runs the jobs, (name, program, options) each, by start(name, command, folder), and judges them."""
    with tempfile.TemporaryDirectory() as folder, Daemon("--default-frequency-hertz", str(HERTZ), window_seconds=60) as daemon:
        everything, cut = run_in_pairs(case, daemon, jobs, lambda name, program, options:
                                       start(name, [program, *options], pathlib.Path(folder)), judge)
        case.at_most("share of the stacks that are cut", cut / max(everything, 1), 0.005)
        metrics = daemon.metrics()
        daemon.stop()
        case.check("no sample was lost", not metrics.lost(), metrics.lost() or "none")
    case.finish()
