#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""steady_bench.py: what the daemon costs while 100 processes sleep and two burn, at 99 Hz, a bundle every 10 s.

CPU: medians of five windows of 9 s; the BPF share is what the programs measured of themselves, with the kernel's own
statistics (which cost something, hence afterwards) beside it. Memory: resident set and BPF maps, before and after 2,000
short processes in 60 s.
"""

import os
import statistics
import subprocess
import time

import bench
import short
from daemon import TOYS, Daemon

WINDOWS = short.pick(5, 1)
START_SECONDS, WINDOW_SECONDS = short.pick((12, 9), (1, 1))
CHURN_SECONDS, CHURN_PROCESSES = short.pick((60, 1900), (2, 20))


def bpf_seconds(daemon):
    return daemon.metrics().sum("firetower_bpf_run_seconds_total")


def kernel_bpf_seconds(pid):
    return sum(ns for _, ns, _ in bench.bpf_programs(pid)) / 1e9


def memory(daemon):
    maps = daemon.metrics().sum("firetower_bpf_map_bytes")
    return bench.rss_bytes(daemon.process.pid), maps


def steady_cost(daemon):
    pid, machine = daemon.process.pid, os.cpu_count()
    own, bpf = [], []
    for _ in range(WINDOWS):
        cpu, run = bench.cpu_seconds(pid), bpf_seconds(daemon)
        time.sleep(WINDOW_SECONDS)
        own.append(100 * (bench.cpu_seconds(pid) - cpu) / WINDOW_SECONDS / machine)
        bpf.append(100 * (bpf_seconds(daemon) - run) / WINDOW_SECONDS / machine)
    for name, shares in (("own_cpu", own), ("bpf", bpf)):
        bench.line(f"steady_{name}_percent_of_machine", statistics.median(shares))
        bench.line(f"steady_{name}_percent_min", min(shares))
        bench.line(f"steady_{name}_percent_max", max(shares))
    both = [a + b for a, b in zip(own, bpf)]
    bench.at_most("steady_cost_percent_of_machine", statistics.median(both), 0.20)


def kernel_view(daemon):
    """The programs' own measure against the kernel's, over one window."""
    with bench.bpf_statistics():
        kernel, own = kernel_bpf_seconds(daemon.process.pid), bpf_seconds(daemon)
        time.sleep(WINDOW_SECONDS)
        kernel, own = kernel_bpf_seconds(daemon.process.pid) - kernel, bpf_seconds(daemon) - own
    bench.line("steady_bpf_percent_by_kernel_statistics", 100 * kernel / WINDOW_SECONDS / os.cpu_count())
    bench.line("steady_bpf_own_measure_to_kernel_statistics", own / kernel if kernel else 0)


def churn_growth(daemon):
    rss, maps = memory(daemon)
    bench.line("memory_rss_mb", rss / 1e6)
    bench.line("memory_bpf_maps_mb", maps / 1e6)
    bench.at_most("memory_total_mb", (rss + maps) / 1e6, 45)
    told = subprocess.run([str(TOYS / "toy_storm"), str(CHURN_SECONDS), "2", "27000", str(TOYS / "toy_short"), "2000"],
                          capture_output=True, text=True, check=True)
    bench.need("memory_short_processes", int(told.stdout), CHURN_PROCESSES)
    after_rss, after_maps = memory(daemon)
    bench.line("memory_after_churn_mb", (after_rss + after_maps) / 1e6)
    bench.at_most("memory_growth_percent", 100 * ((after_rss + after_maps) / (rss + maps) - 1), 5)


def main():
    load = []
    try:
        for command in [["sleep", "3600"]] * 100 + [[str(TOYS / "toy_stack"), "3600"]] * 2:
            load.append(subprocess.Popen(command, stdout=subprocess.DEVNULL))
        with Daemon("--default-frequency-hertz", "99", slice_milliseconds=bench.DEFAULT_SLICE_MS) as daemon:
            time.sleep(START_SECONDS)  # Start-up and the first bundle are not the steady state.
            steady_cost(daemon)
            kernel_view(daemon)
            churn_growth(daemon)
    finally:
        for process in load:
            process.kill()
            process.wait()
    bench.finish()


if __name__ == "__main__":
    main()
