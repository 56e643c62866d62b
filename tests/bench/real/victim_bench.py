#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""victim_bench.py: what a sample takes from the thread it interrupts, beside `perf record -g` by frame pointers.

toy_gap measures by itself what it loses; it runs 30 frames deep without frame pointers, on one CPU, while in turn nobody,
perf and the daemon sample it at one rate. What both find without a sampler is taken off. The daemon's stacks have to be
whole in the same run, for a sampler that takes one frame is cheap.
"""

import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import bench
import short
from daemon import TOYS, Daemon
from toys import toy_levels

HERTZ = 997
FRAMES = 30
ROUNDS = short.pick(9, 1)
SECONDS, WINDOW_MS = short.pick((2.5, 250), (0.6, 50))
SETTLE_SECONDS = short.pick(1.5, 0.7)  # The sampler's start, and its first samples of a program it does not know.
MOST_RATIO = 1.25
LEAST_WHOLE = 0.995
CPU = 0


class GapMeter:
    """toy_gap on one CPU; its rows are read afterwards."""

    def __init__(self, work):
        self.path = work / "gaps"
        self.process = subprocess.Popen(["taskset", "-c", str(CPU), str(TOYS / "toy_gap"), "3600", str(FRAMES),
                                         str(WINDOW_MS)],
                                        stdout=open(self.path, "wb"))

    def stop(self):
        self.process.kill()
        self.process.wait()

    def lost_share(self, begin, end):
        """Returns the lost share of the time between two moments (CLOCK_MONOTONIC, s), from the whole windows in
        between."""
        rows = [tuple(map(int, row.split())) for row in self.path.read_text().splitlines()[:-1]]
        inside = [row for row in rows if row[0] >= begin * 1e9 and row[1] <= end * 1e9]
        return sum(row[3] for row in inside) / sum(row[1] - row[0] for row in inside)


def watch(gaps):
    begin = time.monotonic()
    time.sleep(SECONDS)
    end = time.monotonic()
    time.sleep(WINDOW_MS / 1000 + 0.05)  # The last window's row.
    return gaps.lost_share(begin, end)


def with_perf(gaps, work):
    command = ["perf", "record", "-a", "-e", "cpu-clock", "-F", str(HERTZ), "-g", "-o", str(work / "perf.data")]
    perf = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        time.sleep(SETTLE_SECONDS)
        if perf.poll() is not None:
            print("SKIP bench.victim: perf record does not run here")
            sys.exit(77)
        return watch(gaps)
    finally:
        perf.terminate()
        perf.wait()


def with_daemon(gaps):
    with Daemon("--default-frequency-hertz", str(HERTZ), "--max-frequency-hertz", str(HERTZ), window_seconds=60) as daemon:
        time.sleep(SETTLE_SECONDS)
        lost = watch(gaps)
        profile = daemon.profile('{container=~".+"}')
    mine = [sample for sample in profile.samples if "leaf" in sample.names and "window" in sample.names]
    total = sum(sample.values[0] for sample in mine)
    whole = sum(sample.values[0] for sample in mine
                if sample.names[:FRAMES + 1] == ["_start", "main", "window", *toy_levels(FRAMES - 3), "leaf"])
    return lost, total, whole


def main():
    for program in ("perf", "taskset"):
        if shutil.which(program) is None:
            print(f"SKIP bench.victim: {program} is not installed (hack/bootstrap --tests)")
            sys.exit(77)
    base, ours, perfs, total, whole = [], [], [], 0, 0
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        gaps = GapMeter(work)
        try:
            for _ in range(ROUNDS):
                before = watch(gaps)
                perf = with_perf(gaps, work)
                between = watch(gaps)
                own, some, those = with_daemon(gaps)
                after = watch(gaps)
                total, whole = total + some, whole + those
                base.append(between)
                perfs.append(perf - (before + between) / 2)
                ours.append(own - (between + after) / 2)
        finally:
            gaps.stop()
    bench.line("victim_lost_percent_without", 100 * statistics.median(base))
    bench.line("victim_lost_percent_without_min", 100 * min(base))
    bench.line("victim_lost_percent_without_max", 100 * max(base))
    for name, shares in (("perf", perfs), ("daemon", ours)):
        bench.line(f"victim_lost_ns_a_sample_{name}", 1e9 * statistics.median(shares) / HERTZ)
        bench.line(f"victim_lost_ns_a_sample_{name}_min", 1e9 * min(shares) / HERTZ)
        bench.line(f"victim_lost_ns_a_sample_{name}_max", 1e9 * max(shares) / HERTZ)
    bench.need("victim_stacks", total, 1)
    bench.at_least("victim_whole_stacks", whole / max(total, 1), LEAST_WHOLE)
    bench.at_most("victim_lost_daemon_to_perf", statistics.median(ours) / statistics.median(perfs), MOST_RATIO)
    bench.finish()


if __name__ == "__main__":
    main()
