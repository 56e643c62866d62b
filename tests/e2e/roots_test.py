#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""roots_test.py LOAD: of the samples of a program as it is shipped, how many show the whole stack.

A stack is whole when the product says so (no label `cut`) and its first frame is where a thread begins.
"""

import collections
import pathlib
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support" / "real"))

import loads
from case import Case, run
from daemon import Daemon

SECONDS = 12
SHARE = 0.995
KERNEL = "[kernel.kallsyms]"
# Where threads begin: the C start files, libc's clone, the Go runtime's entries and goroutines, and where Go gives up
# a goroutine for good and uses the thread's own stack, as `go tool pprof` shows its own profiles, too. Stripped
# libraries have no name for theirs; then only the product's own word counts, and how many those are is printed.
FIRST = {"_start", "__clone", "__clone3", "clone3", "clone", "thread_start", "_rt0_amd64_linux",
         *(f"runtime.{name}{abi}" for name in ("goexit", "mstart", "rt0_go", "mcall", "morestack")
           for abi in ("", ".abi0"))}
# Before Go 1.21 nothing leads from there to the goroutine that called it.
FIRST_OF_OLD_GO = {"runtime.systemstack", "runtime.systemstack.abi0"}


def firsts_of(name):
    if name != "go":
        return FIRST
    version = run("go", "env", "GOVERSION").stdout.strip()
    return FIRST | FIRST_OF_OLD_GO if int(version.split(".")[1]) < 21 else FIRST


def judge(case, name, profile, comms):
    firsts = firsts_of(name)
    total = whole = unnamed = frames = 0
    why = collections.Counter()
    for sample in profile.samples:
        if sample.labels.get("comm") not in comms or not sample.stack:
            continue
        cut = sample.labels.get("cut")
        if sample.stack[0].module == KERNEL and not cut:
            continue  # A task that is leaving has no user part any more: there is nothing to be whole.
        count = sample.values[0]
        total += count
        frames += count * len(sample.stack)
        first = sample.stack[0]
        if cut:
            why[f"cut: {cut}"] += count
        elif first.is_named and first.name not in firsts:
            why[f"begins with {first.name}"] += count
        else:
            whole += count
            unnamed += 0 if first.is_named else count
    case.at_least(f"{name}: samples", total, 500)
    case.at_least(f"{name}: share with the whole stack", whole / max(total, 1), SHARE)
    case.figure(name, f"{frames / max(total, 1):.1f} frames a stack, first frame without a name in {unnamed}, "
                      f"others {dict(why.most_common(4))}")


def main():
    name = sys.argv[1]
    case = Case(f"e2e.roots-{name}")
    case.need(*loads.LOADS[name].needs)
    with tempfile.TemporaryDirectory(prefix="firetower-load-") as folder, Daemon(window_seconds=60) as daemon:
        load, comms = loads.LOADS[name].start(pathlib.Path(folder))
        with load:
            time.sleep(SECONDS)
            profile = daemon.profile('{container=~".+"}')
        judge(case, name, profile, comms)
    case.finish()


if __name__ == "__main__":
    main()
