#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""python_test.py paths|short: the frames of Python programs by name, merged with native ones, in one walk.

In tests/programs/python_paths.py each path ends in a function of its own, so the leaf of a stack says what the whole of
it must be. Every Python of this machine that the product says it supports runs it, in one thread and in two; so does each
of the folders in FIRETOWER_PYTHON_ROOTS, separated by colons, that are root file systems with /usr/bin/python3.N. `short`:
what is seen of processes that live 200 ms; the machine has to be theirs, as others that start programs get their rounds.
"""

import collections
import glob
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

PROGRAM = pathlib.Path(__file__).resolve().parents[1] / "programs" / "python_paths.py"
PYENV = "/root/.pyenv/versions/3.*/bin/python3"
SECONDS = 24
# Processes that live before the profile is asked for: the first ones of a build are met before its file is read.
SETTLE_SECONDS = 2
SUPPORTED = {f"3.{minor}" for minor in range(8, 16)}
EXACT = 0.995
SHORT_LIVES = 15
# Taken together; each Python by itself has some 250 samples, which are few.
SHORT_SHARE, SHORT_SHARE_OF_EACH = 0.95, 0.9
# Below these no function of Python's runs yet, or any more.
STARTS = ("Py_InitializeFromConfig", "Py_FinalizeEx", "_dl_start", "load_elf_binary", "do_exit", "mmput")
# For each of up to eight Pythons, which share two CPUs with other tests.
SAMPLES = 100
LOOP = "_PyEval_EvalFrameDefault"
PYTHON = "[python]"
THREAD = ["Thread._bootstrap", "Thread._bootstrap_inner", "Thread.run", "run"]


def interpreters():
    """The command of each supported Python here with the program, by a short name."""
    commands = [[path, str(PROGRAM)] for path in ("/usr/bin/python3", *sorted(glob.glob(PYENV))) if os.path.exists(path)]
    for root in filter(None, os.environ.get("FIRETOWER_PYTHON_ROOTS", "").split(":")):
        shutil.copy(PROGRAM, root)
        commands += [["chroot", root, path.removeprefix(root), "/" + PROGRAM.name]
                     for path in glob.glob(f"{root}/usr/bin/python3.[0-9]*") if not path.endswith("-config")]
    found = {}
    for command in commands:
        version = subprocess.run([*command[:-1], "-c", "import sys; print('%d.%d.%d' % sys.version_info[:3])"],
                                 capture_output=True, text=True).stdout.strip()
        if version.rpartition(".")[0] in SUPPORTED:
            kind = {"chroot": "root", "/usr/bin/python3": "usr"}.get(command[0], "own")
            found.setdefault(f"{kind}-{version}", command)
    return found


class Running:
    def __init__(self, name, command, threads):
        self.name, self.threads = name + ("-t" if threads else ""), threads
        self.process = subprocess.Popen([*command, self.name, str(SECONDS), *(["threads"] if threads else [])],
                                        stdout=subprocess.PIPE, text=True)
        self.paths = json.loads(self.process.stdout.readline())
        # Code objects have no qualified names before 3.11.
        self.qualified = int(re.search(r"-3\.(\d+)", name).group(1)) >= 11

    def wanted(self, leaf):
        names = [*(THREAD if self.threads else ["<module>"]), "main", *self.paths[leaf], leaf]
        return names if self.qualified else [name.rpartition(".")[2] for name in names]


def judge(case, running, profile):
    samples = [one for one in profile.samples if one.labels.get("thread") == running.name]
    total = exact = unnamed = loops = 0
    wrong, leaves = collections.Counter(), set()
    for sample in samples:
        stack = [frame.name for frame in sample.stack if frame.module == PYTHON]
        if not stack or stack[-1] not in running.paths:
            # Between two paths, or a frame that the product says it could not name.
            if "main" in stack and not begins(stack, running):
                wrong[tuple(stack)] += sample.values[0]
            unnamed += sample.values[0] * any(re.match(r"\[python\]", name) for name in stack)
            continue
        total += sample.values[0]
        leaves.add(stack[-1])
        # From where the interpreter starts its program on; the thread's own name is set above main.
        if stack == running.wanted(stack[-1]):
            exact += sample.values[0]
            loops += sample.values[0] * any(LOOP in frame.name for frame in sample.stack)
        else:
            wrong[tuple(stack)] += sample.values[0]
    case.at_least(f"{running.name}: samples in leaves", total, SAMPLES)
    case.at_least(f"{running.name}: share with exactly the leaf's path", exact / max(total, 1), EXACT)
    lies = {stack: n for stack, n in wrong.items() if not is_part(stack, running)}
    case.check(f"{running.name}: no stack that the program cannot have", not lies, lies or "")
    case.check(f"{running.name}: every path was seen", len(leaves) == len(running.paths),
               sorted(running.paths.keys() - leaves) or len(leaves))
    case.at_most(f"{running.name}: exact stacks that show the interpreter's loop", loops, 0)
    everything = sum(sample.values[0] for sample in samples)
    case.figure(running.name, f"{everything} samples, {unnamed} with a frame without a name")
    for stack, n in wrong.most_common(3):
        case.figure(running.name, f"{n} × {' '.join(stack)}")


def live_shortly(work, found):
    """Runs processes of 200 ms, each under a name of its own kind from its exec on; the names."""
    names = []
    for name, command in found.items():
        if command[0] == "chroot":
            continue
        program = work / f"s{name}"[:15]
        program.symlink_to(os.path.realpath(command[0]))
        names.append(program.name)
        for _ in range(SHORT_LIVES):
            subprocess.run([program, *command[1:], program.name, "0.2"], stdout=subprocess.DEVNULL, check=True)
    return names


def judge_short(case, name, profile):
    """Judges all of its samples, from exec to exit."""
    total, named, starts, others = 0, 0, 0, collections.Counter()
    for sample in profile.samples:
        if sample.labels.get("thread") != name:
            continue
        total += sample.values[0]
        if any(frame.module == PYTHON and frame.is_named for frame in sample.stack):
            named += sample.values[0]
        elif any(name in STARTS for name in sample.names):
            starts += sample.values[0]
        else:
            others[sample.labels.get("cut") or sample.stack[-1].name] += sample.values[0]
    case.at_least(f"{name}: samples of processes of 200 ms", total, SHORT_LIVES * 5)
    case.figure(name, f"{named} of {total} with Python's functions, {starts} before or after them; "
                      f"the others {dict(others.most_common(4))}")
    case.at_least(f"{name}: share that shows what ran", (named + starts) / max(total, 1), SHORT_SHARE_OF_EACH)
    return named + starts, total


def begins(stack, running):
    """It is on its way to some leaf, or comes from it."""
    return any(stack == running.wanted(leaf)[:len(stack)] for leaf in running.paths)


def is_part(stack, running):
    """Frames are missing, and none is another's."""
    left = iter(running.wanted(stack[-1]) if stack[-1] in running.paths else ())
    return all(any(name == one for one in left) for name in stack)


def warm_up(found):
    """The file's own table is read while its first process runs."""
    for one in [subprocess.Popen([*command, "warm", str(SETTLE_SECONDS)], stdout=subprocess.DEVNULL)
                for command in found.values()]:
        one.wait()


def judge_paths(case, daemon, found):
    for threads in (False, True):
        running = [Running(name, command, threads) for name, command in found.items()]
        for one in running:
            one.process.wait()
        time.sleep(2)
        profile = daemon.profile('{container=~".+"}')
        for one in running:
            judge(case, one, profile)


def judge_short_lives(case, daemon, found):
    with tempfile.TemporaryDirectory() as folder:
        names = live_shortly(pathlib.Path(folder), found)
    time.sleep(2)
    profile = daemon.profile('{container=~".+"}')
    shown = [judge_short(case, name, profile) for name in names]
    case.at_least("of all processes of 200 ms: share that shows what ran",
                  sum(one[0] for one in shown) / max(sum(one[1] for one in shown), 1), SHORT_SHARE)


def main():
    what = sys.argv[1]
    case = Case(f"e2e.python-{what}")
    found = interpreters()
    if not found:
        case.skip(f"no Python of {', '.join(sorted(SUPPORTED))} here")
    with Daemon(window_seconds=60) as daemon:
        warm_up(found)
        {"paths": judge_paths, "short": judge_short_lives}[what](case, daemon, found)
        metrics = daemon.metrics()
        daemon.stop()
        case.check("no sample was lost", not metrics.lost(), metrics.lost() or "none")
    case.finish()


if __name__ == "__main__":
    main()
