# SPDX-License-Identifier: Apache-2.0
"""The price of a further frame: the slope between two depths of a recursion, of BPF run time as the kernel counts it."""

import os
import pathlib
import shutil
import statistics
import subprocess
import time

import bench
import short
from daemon import Daemon

DEPTHS = (10, 110)
HERTZ = 997
SECONDS = short.pick(4, 1)
SETTLE_SECONDS = 2
ROUNDS = short.pick(4, 1)
PROGRAMS = pathlib.Path(__file__).resolve().parents[2] / "programs"
PERF_EVENT = 7  # enum bpf_prog_type


def run_time(daemon):
    """(nanoseconds, runs) of the sampler so far."""
    mine = [one for one in bench.bpf_programs(daemon.process.pid) if one[0] == PERF_EVENT]
    return sum(one[1] for one in mine), sum(one[2] for one in mine)


def judge(name, program, kinds):
    """Prints and judges the price of a frame of the interpreter `name`; kinds: {what: (its options, the most nanoseconds)}."""
    interpreter = shutil.which(name)
    if not interpreter:
        print(f"bench.{name}: there is none here: it is left out")
        return
    with bench.bpf_statistics(), \
            Daemon("--default-frequency-hertz", str(HERTZ), "--max-frequency-hertz", str(HERTZ), window_seconds=60) as daemon:
        for what, (options, most) in kinds.items():
            slopes = [slope(daemon, [interpreter, *options, PROGRAMS / program]) for _ in range(ROUNDS)]
            bench.line(f"{what}_ns_a_frame_min", min(slopes))
            bench.at_most(f"{what}_ns_a_frame", statistics.median(slopes), most)
    bench.finish()


def slope(daemon, command):
    """Nanoseconds a frame, of command + [depth]; both CPUs run the recursion, so that no tick is another's."""
    cost = []
    for depth in DEPTHS:
        load = [subprocess.Popen([*command, str(depth)]) for _ in range(os.cpu_count())]
        try:
            time.sleep(SETTLE_SECONDS)
            before = run_time(daemon)
            time.sleep(SECONDS)
            after = run_time(daemon)
        finally:
            for one in load:
                one.kill()
                one.wait()
        cost.append((after[0] - before[0]) / max(after[1] - before[1], 1))
    return (cost[1] - cost[0]) / (DEPTHS[1] - DEPTHS[0])
