#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""java_bench.py: the price of frames of Java, interpreted and compiled.

It is the slope between two depths of a recursion, of BPF run time as the kernel counts it. The compiled recursion is C1's,
which inlines nothing here.
"""

import glob
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import bench
import short
from daemon import Daemon

PROGRAM = pathlib.Path(__file__).resolve().parents[2] / "programs" / "java" / "Deep.java"
DEPTHS = (10, 110)
HERTZ = 997
ROUNDS = short.pick(4, 1)
SECONDS = short.pick(4, 1)
SETTLE_SECONDS = 2
PERF_EVENT = 7  # enum bpf_prog_type
KINDS = {"interpreted": (["-Xint"], 130), "compiled": (["-XX:TieredStopAtLevel=1", "-XX:MaxInlineLevel=0"], 200)}


def run_time(daemon):
    """(nanoseconds, runs) of the sampler so far."""
    mine = [one for one in bench.bpf_programs(daemon.process.pid) if one[0] == PERF_EVENT]
    return sum(one[1] for one in mine), sum(one[2] for one in mine)


def slope(daemon, java, classes, options):
    """Nanoseconds a frame, from one pair of depths; both CPUs run the recursion, so that no tick is another's."""
    cost = []
    for depth in DEPTHS:
        load = [subprocess.Popen([java, *options, "-XX:+UseSerialGC", "-cp", classes, "Deep", str(depth)])
                for _ in range(os.cpu_count())]
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


def main():
    compilers = sorted(glob.glob("/usr/lib/jvm/*/bin/javac"))
    if not compilers:
        print("bench.java: no JDK here: it is left out")
        return
    java = pathlib.Path(compilers[0]).with_name("java")
    with tempfile.TemporaryDirectory() as classes, bench.bpf_statistics(), \
            Daemon("--default-frequency-hertz", str(HERTZ), "--max-frequency-hertz", str(HERTZ), window_seconds=60) as daemon:
        subprocess.run([compilers[0], "--release", "8", "-nowarn", "-d", classes, PROGRAM], check=True,
                       stderr=subprocess.DEVNULL)
        for kind, (options, most) in KINDS.items():
            slopes = [slope(daemon, java, classes, options) for _ in range(ROUNDS)]
            bench.line(f"java_{kind}_ns_a_frame_min", min(slopes))
            bench.at_most(f"java_{kind}_ns_a_frame", statistics.median(slopes), most)
    bench.finish()


if __name__ == "__main__":
    sys.exit(main())
