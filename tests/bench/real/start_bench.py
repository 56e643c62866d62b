#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""start_bench.py: from the daemon's start to its first whole stack of a program that was running already.

The load has no frame pointers, so its table has to be read first. CPU is the daemon's own, the kernel's verification of
its programs included, when /metrics shows that a stack was sampled and a profile holds it whole; beside it the CPU that
bpftrace needs until it has printed the stacks of its first 100 ms, with names, and the CPU of its start alone, with no
stack to name. What the daemon puts off until it is needed (the kernel's symbols, tables of what did not run) is in its
CPU after ten seconds.
"""

import resource
import shutil
import statistics
import subprocess
import sys
import time
import urllib.error
import urllib.parse

import bench
import pprof
import short
from daemon import TOYS, Daemon
from toys import toy_levels

ROUNDS = short.pick(7, 1)
FRAMES = 30
MOST_CPU_SECONDS = 0.25
SETTLED_SECONDS = short.pick(10, 2)
# A question costs the daemon CPU, and who asks runs in the kernel, whose names are then read: nothing is asked before the
# first slice can be there.
SLICE_SECONDS = 0.5
ASK_EVERY_SECONDS = 0.1
WHOLE = ["_start", "main", "window", *toy_levels(FRAMES - 3), "leaf"]
BPFTRACE = "profile:hz:99 {{ @[kstack, ustack, comm] = count(); }} interval:ms:{} {{ exit(); }}"


def children_cpu():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def profile_of(daemon):
    """Asked without the CLI: a program started for each question would be one more whose tables the daemon reads."""
    question = urllib.parse.urlencode({"q": '{container=~".+"}', "from": "now-10m"})
    try:
        return pprof.parse(daemon.fetch(f"/api/v1/profile?{question}"))
    except urllib.error.HTTPError:
        return pprof.Profile()


def start_of_daemon():
    """CPU and wall seconds from exec to the first whole stack in an answer, and CPU after SETTLED_SECONDS."""
    daemon = Daemon("--default-frequency-hertz", "99")
    begin = time.monotonic()
    daemon.start()
    time.sleep(SLICE_SECONDS)
    try:
        while time.monotonic() < begin + 20:
            cpu, wall = bench.cpu_seconds(daemon.process.pid), time.monotonic() - begin
            found = profile_of(daemon)
            if any(sample.names == WHOLE and "cut" not in sample.labels for sample in found.samples):
                time.sleep(max(0.0, begin + SETTLED_SECONDS - time.monotonic()))
                return cpu, wall, bench.cpu_seconds(daemon.process.pid)
            time.sleep(ASK_EVERY_SECONDS)
        raise RuntimeError("no whole stack within 20 s")
    finally:
        daemon.__exit__(None, None, None)


def cpu_of_bpftrace(milliseconds):
    """CPU seconds of a bpftrace that counts stacks for so long, and whether it printed one."""
    before = children_cpu()
    told = subprocess.run(["bpftrace", "-e", BPFTRACE.format(milliseconds)], capture_output=True, text=True, check=True)
    return children_cpu() - before, "@[" in told.stdout


def peer_cpu():
    """CPU seconds of bpftrace until its first stacks stand there named, and of its start alone."""
    for _ in range(5):
        first, printed = cpu_of_bpftrace(100)
        if printed:
            return first, cpu_of_bpftrace(1)[0]
    raise RuntimeError("bpftrace printed no stack in five runs")


def main():
    peer = shutil.which("bpftrace") is not None
    load = subprocess.Popen([str(TOYS / "toy_gap"), "3600", str(FRAMES)], stdout=subprocess.DEVNULL)
    ours, peers, ratios = [], [], []
    try:
        for _ in range(ROUNDS):
            ours.append(start_of_daemon())
            if peer:
                peers.append(peer_cpu())
                ratios.append(ours[-1][0] / peers[-1][0])
    finally:
        load.kill()
        load.wait()
    cpu = [one[0] for one in ours]
    bench.line("start_cpu_seconds_min", min(cpu))
    bench.line("start_cpu_seconds_max", max(cpu))
    bench.at_most("start_cpu_seconds", statistics.median(cpu), MOST_CPU_SECONDS)
    bench.line("start_wall_seconds", statistics.median(one[1] for one in ours))
    bench.line(f"start_cpu_seconds_after_{SETTLED_SECONDS}_s", statistics.median(one[2] for one in ours))
    if not peer:
        print("SKIP bench.start: bpftrace, the peer, is not installed (hack/bootstrap --tests)")
        sys.exit(77 if short.passes(statistics.median(cpu) <= MOST_CPU_SECONDS) else 1)
    bench.line("start_cpu_seconds_bpftrace", statistics.median(first for first, _ in peers))
    bench.line("start_cpu_seconds_bpftrace_without_stacks", statistics.median(bare for _, bare in peers))
    bench.at_most("start_cpu_to_bpftrace", statistics.median(ratios), 1.0)
    bench.finish()


if __name__ == "__main__":
    main()
