#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""traces_bench.py: what a sample costs more whose thread publishes its trace: BPF run time as the kernel counts it.

The same program runs with its variable and without the symbol that tells of it, so all else is alike.
"""

import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import bench
import frame_cost
import short
from daemon import Daemon

ROOT = pathlib.Path(__file__).resolve().parents[3]
SOURCES = ROOT / "tests" / "programs" / "traces"
SECONDS = short.pick(4, 1)
WARM_SECONDS = 3
ROUNDS = short.pick(4, 1)
MOST_NS = {"static": 300, "vector": 900}


def build(folder, name, *flags):
    """Builds the program; `name` is also its library's, if it has one."""
    program = folder / name
    common = ["gcc", "-O1", "-g", "-fno-omit-frame-pointer", f"-I{ROOT}", "-pthread"]
    if name == "vector":
        own = folder / "libvector.so"
        subprocess.run([*common, "-shared", "-fPIC", "-ftls-model=global-dynamic", "-mtls-dialect=gnu", *flags,
                        SOURCES / "context.c", "-o", own], check=True)
        subprocess.run([*common, SOURCES / "traces.c", own, f"-Wl,-rpath,{folder}", "-o", program], check=True)
    else:
        subprocess.run([*common, *flags, SOURCES / "traces.c", SOURCES / "context.c", "-o", program], check=True)
    return program


def cost(daemon, program):
    """Nanoseconds of a sample while the program runs."""
    load = subprocess.Popen([program, str(WARM_SECONDS + SECONDS + 2)])
    try:
        time.sleep(WARM_SECONDS)
        before = frame_cost.run_time(daemon)
        time.sleep(SECONDS)
        after = frame_cost.run_time(daemon)
    finally:
        load.kill()
        load.wait()
    return (after[0] - before[0]) / max(after[1] - before[1], 1)


def main():
    with tempfile.TemporaryDirectory() as folder, bench.bpf_statistics(), \
            Daemon("--default-frequency-hertz", str(frame_cost.HERTZ), "--max-frequency-hertz", str(frame_cost.HERTZ),
                   window_seconds=60) as daemon:
        folder = pathlib.Path(folder)
        plain = build(folder, "plain")
        traced = {"static": build(folder, "static", "-rdynamic"), "vector": build(folder, "vector")}
        found = {name: [] for name in traced}
        for _ in range(ROUNDS):
            without = cost(daemon, plain)
            bench.line("plain_ns", without)
            for name, program in traced.items():
                found[name].append(cost(daemon, program) - without)
        for name, most in MOST_NS.items():
            bench.at_most(f"{name}_ns_more", statistics.median(found[name]), most)
    bench.finish()


if __name__ == "__main__":
    sys.exit(main())
