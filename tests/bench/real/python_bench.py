#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""python_bench.py: what frames of Python cost, and what the program loses, beside py-spy on the same load in one run.

A frame's price is the slope between two depths of a recursion, of BPF run time as the kernel counts it. The load of the
comparison is tests/programs/python_paths.py, whose leaves tell what a stack must be; it is sampled by nobody, the daemon
and py-spy in turn.
"""

import collections
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import bench
import short
from frame_cost import HERTZ, slope
from daemon import Daemon

TESTS = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = TESTS / "programs" / "python_paths.py"
PYTHON = "/usr/bin/python3"
DEEP = """
import sys
def leaf():
    while True:
        for _ in range(100000):
            pass
def f(n):
    return f(n - 1) if n else leaf()
f(int(sys.argv[1]))
"""
ROUNDS = short.pick(5, 1)
MOST_NS = 160
RATE = 99


class Load:
    """python_paths.py under a name, which says at its end how many turns it made."""

    def __init__(self, name, seconds):
        self.process = subprocess.Popen(["taskset", "-c", "0", PYTHON, str(PROGRAM), name, str(seconds), "count"],
                                        stdout=subprocess.PIPE, text=True)
        self.paths = json.loads(self.process.stdout.readline())

    def turns(self):
        return json.loads(self.process.communicate()[0])

    def is_exact(self, names):
        return names[-1] in self.paths and names == ["<module>", "main", *self.paths[names[-1]], names[-1]]


def shares(stacks):
    """(samples in leaves, the share of them that is exact); `stacks`: (names, value, exact) of all samples."""
    leaves = [one for one in stacks if one[0] and one[0][-1].startswith("leaf_")]
    total = sum(value for _, value, _ in leaves)
    return total, sum(value for _, value, exact in leaves if exact) / max(total, 1)


def with_daemon(load, name, seconds):
    with Daemon("--default-frequency-hertz", str(RATE), window_seconds=60) as daemon:
        turns = load.turns()
        time.sleep(1)
        profile = daemon.profile('{container=~".+"}')
    stacks = []
    for sample in profile.samples:
        names = [frame.name for frame in sample.stack if frame.module == "[python]"]
        if sample.labels.get("thread") == name:
            stacks.append((names, sample.values[0], bool(names) and load.is_exact(names)))
    return turns, stacks


def with_py_spy(load, program, seconds, work):
    out = work / "py-spy.raw"
    spy = subprocess.Popen([str(program), "record", "-f", "raw", "-F", "-r", str(RATE), "-d", str(seconds), "-o", str(out),
                            "-p", str(load.process.pid)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    turns = load.turns()
    spy.wait(timeout=60)
    stacks = []
    for row in out.read_text().splitlines():
        frames, _, count = row.rpartition(" ")
        names = [frame.rpartition(" (")[0] for frame in frames.split(";")]
        # Whether it has qualified names is a matter of its version: it is judged by the last part of each.
        wanted = ["<module>", "main", *load.paths.get(names[-1], ["?"]), names[-1]]
        stacks.append((names, int(count), [name.rpartition(".")[2] for name in names] ==
                       [name.rpartition(".")[2] for name in wanted]))
    return turns, stacks


def beside(program, work):
    seconds = short.pick(12, 3)
    lost, seen = collections.defaultdict(list), collections.defaultdict(list)
    for number in range(short.pick(5, 1)):
        alone = Load(f"alone{number}", seconds).turns()
        name = f"daemon{number}"
        turns, stacks = with_daemon(load := Load(name, seconds), name, seconds)
        lost["daemon"].append(1 - turns / alone)
        seen["daemon"] += stacks
        if program is None:
            continue
        turns, stacks = with_py_spy(load := Load(f"spy{number}", seconds), program, seconds, work)
        lost["py_spy"].append(1 - turns / alone)
        seen["py_spy"] += stacks
    for who in lost:
        total, exact = shares(seen[who])
        bench.need(f"python_samples_{who}", total, 100)
        bench.line(f"python_exact_{who}", exact)
        bench.line(f"python_lost_percent_{who}", 100 * statistics.median(lost[who]))


def main():
    with bench.bpf_statistics(), Daemon("--default-frequency-hertz", str(HERTZ), "--max-frequency-hertz", str(HERTZ),
                                        window_seconds=60) as daemon:
        slopes = [slope(daemon, [PYTHON, "-c", DEEP]) for _ in range(ROUNDS)]
    bench.line("python_ns_a_frame_min", min(slopes))
    bench.at_most("python_ns_a_frame", statistics.median(slopes), MOST_NS)
    fetched = bench.from_pypi("py-spy", "py-spy", "py-spy==0.4.3")
    program = fetched / "bin" / "py-spy" if fetched else None
    if program is None:
        print("bench.python: py-spy cannot be had from PyPI here: it is left out")
    with tempfile.TemporaryDirectory() as folder:
        beside(program, pathlib.Path(folder))
    bench.finish()


if __name__ == "__main__":
    sys.exit(main())
