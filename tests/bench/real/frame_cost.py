# SPDX-License-Identifier: Apache-2.0
"""The price of a further frame: the slope between two depths of a recursion, of BPF run time as the kernel counts it."""

import os
import subprocess
import time

import bench
import short

DEPTHS = (10, 110)
HERTZ = 997
SECONDS = short.pick(4, 1)
SETTLE_SECONDS = 2
PERF_EVENT = 7  # enum bpf_prog_type


def run_time(daemon):
    """(nanoseconds, runs) of the sampler so far."""
    mine = [one for one in bench.bpf_programs(daemon.process.pid) if one[0] == PERF_EVENT]
    return sum(one[1] for one in mine), sum(one[2] for one in mine)


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
