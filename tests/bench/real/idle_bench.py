#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""idle_bench.py: how often the daemon wakes a machine that has nothing to do.

Windows with and without the daemon in turn, nothing else running. The daemon's own wake-ups are the voluntary context
switches of its threads. The timer interrupts are the kernel's: one a tick of the sampling event, also on a CPU that
idles and is not sampled, beside what the machine has without us.
"""

import os
import pathlib
import statistics
import time

import bench
import short
from daemon import Daemon
from machine import busy_seconds

WINDOWS = short.pick(5, 1)
START_SECONDS, WINDOW_SECONDS = short.pick((3, 6), (0.5, 1))
MOST_WAKE_UPS = 25


def wake_ups(pid):
    """Voluntary context switches by thread; threads of one name count as one."""
    found = {}
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        name = (task / "comm").read_text().strip()
        for row in (task / "status").read_text().splitlines():
            if row.startswith("voluntary_ctxt_switches:"):
                found[name] = found.get(name, 0) + int(row.split()[1])
    return found


def timer_interrupts():
    for row in pathlib.Path("/proc/interrupts").read_text().splitlines():
        fields = row.split()
        if fields and fields[0] == "LOC:":
            return sum(int(field) for field in fields[1:1 + os.cpu_count()])
    return 0


def rate(before, after):
    return (after - before) / WINDOW_SECONDS / os.cpu_count()


def window(pid=None):
    """Timer interrupts, the daemon's wake-ups by thread (each a second and CPU) and the share of CPU in use."""
    timer, busy, own = timer_interrupts(), busy_seconds(), wake_ups(pid) if pid else {}
    time.sleep(WINDOW_SECONDS)
    after = wake_ups(pid) if pid else {}
    threads = {name: rate(own.get(name, 0), count) for name, count in after.items()}
    return rate(timer, timer_interrupts()), threads, rate(busy, busy_seconds())


def main():
    without, with_daemon, own, threads, busy = [], [], [], {}, []
    for _ in range(WINDOWS):
        timer, _, share = window()
        without.append(timer)
        busy.append(share)
        with Daemon("--default-frequency-hertz", "97", window_seconds=60,
                    slice_milliseconds=bench.DEFAULT_SLICE_MS) as daemon:
            time.sleep(START_SECONDS)  # Start-up is not the idle state.
            timer, by_thread, _ = window(daemon.process.pid)
        with_daemon.append(timer)
        own.append(sum(by_thread.values()))
        for name, count in by_thread.items():
            threads.setdefault(name, []).append(count)
    bench.line("idle_machine_busy_percent", 100 * statistics.median(busy))
    for name, counts in sorted(threads.items()):
        bench.line(f"idle_wake_ups_per_second_and_cpu_{name}", statistics.median(counts))
    bench.line("idle_wake_ups_min", min(own))
    bench.line("idle_wake_ups_max", max(own))
    bench.at_most("idle_wake_ups_per_second_and_cpu", statistics.median(own), MOST_WAKE_UPS)
    bench.line("idle_timer_interrupts_per_second_and_cpu_without", statistics.median(without))
    bench.line("idle_timer_interrupts_per_second_and_cpu", statistics.median(with_daemon))
    more = [b - a for a, b in zip(without, with_daemon)]
    bench.line("idle_timer_interrupts_added", statistics.median(more))
    bench.line("idle_timer_interrupts_added_min", min(more))
    bench.line("idle_timer_interrupts_added_max", max(more))
    bench.finish()


if __name__ == "__main__":
    main()
