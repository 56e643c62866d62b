#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""roots_test.py LOAD [perf]: of the samples of a program as it is shipped, how many show the whole stack.

A stack is whole when the product says so (no label `cut`) and its first frame is where a thread begins. With `perf`,
what its two ways of walking show of the same load a moment later stands beside it; those figures are not judged.
"""

import collections
import pathlib
import subprocess
import sys
import tempfile
import time

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "support" / "real"), str(TESTS / "bench")]

import loads
import perf
import short
from case import Case, run
from daemon import Daemon
from whole import FIRST, has_user_part, why_not_whole

SECONDS = short.pick(12, 3)
# Beside others a load gets less of the machine, and so fewer samples: it is measured until it has enough to be judged,
# but no longer than this many times as long.
LONGEST = 4
SAMPLES = short.pick(1000, 100)
PERF_SECONDS = short.pick(6, 2)
SHARE = 0.995
# A load that starts programs all the time has some; none has more.
IN_EXEC = 0.02
# Before Go 1.21 nothing leads from there to the goroutine that called it.
FIRST_OF_OLD_GO = {"runtime.systemstack", "runtime.systemstack.abi0"}


def firsts_of(name):
    if name != "go":
        return FIRST
    version = run("go", "env", "GOVERSION").stdout.strip()
    return FIRST | FIRST_OF_OLD_GO if int(version.split(".")[1]) < 21 else FIRST


def samples_of(profile, comms):
    return [sample for sample in profile.samples if sample.labels.get("comm") in comms and has_user_part(sample)]


def measure(daemon, comms):
    """The profile, once it has enough samples of those threads, or at the latest; and the seconds it took."""
    began = time.monotonic()
    wait = SECONDS
    while True:
        time.sleep(wait)
        profile = daemon.profile('{container=~".+"}')
        seconds = time.monotonic() - began
        total = sum(sample.values[0] for sample in samples_of(profile, comms))
        left = LONGEST * SECONDS - seconds
        if total >= SAMPLES or left <= 0:
            return profile, seconds
        # The expected time at this rate, and a second for samples that are not in the profile yet.
        wait = min(left, 1 + seconds * (SAMPLES - total) / max(total, 1))


def judge(case, name, profile, comms):
    firsts = firsts_of(name)
    total = whole = unnamed = frames = in_exec = 0
    why = collections.Counter()
    for sample in samples_of(profile, comms):
        count = sample.values[0]
        if sample.labels.get("cut") == "exec":
            in_exec += count  # The old image is half gone and the new one not there: there is no user stack.
            continue
        total += count
        frames += count * len(sample.stack)
        reason = why_not_whole(sample, firsts)
        if reason:
            why[reason] += count
        else:
            whole += count
            unnamed += 0 if sample.stack[0].is_named else count
    case.at_least(f"{name}: samples", total, SAMPLES)
    case.at_most(f"{name}: samples inside exec, for each other", in_exec / max(total, 1), IN_EXEC)
    share, what = whole / max(total, 1), f"{name}: share with the whole stack"
    if short.SHORT:
        case.figure(what, share)
    else:
        case.at_least(what, share, SHARE)
    case.figure(name, f"{frames / max(total, 1):.1f} frames a stack, first frame without a name in {unnamed}, "
                      f"{in_exec} samples inside exec besides, others {dict(why.most_common(4))}")


def beside(case, name, work, comms):
    """perf's shares of the load that is still running."""
    root, why = perf.fetch()
    if root is None:
        case.figure(f"{name}: perf", f"left out: {why}")
        return
    yardstick = perf.Perf(root, work)
    for call_graph in ("fp", "dwarf"):
        what = f"{name}: share with the whole stack, perf record --call-graph {call_graph}"
        try:
            total, whole = yardstick.share(comms, firsts_of(name), call_graph, PERF_SECONDS)
        except (RuntimeError, subprocess.TimeoutExpired) as error:
            case.figure(what, f"left out: {str(error)[-200:].strip()}")
            continue
        case.figure(what, f"{whole / max(total, 1):.4f} of {total}")


def main():
    name = sys.argv[1]
    case = Case(f"e2e.roots-{name}")
    case.need(*loads.LOADS[name].needs)
    with tempfile.TemporaryDirectory(prefix="firetower-load-") as folder:
        work = pathlib.Path(folder)
        with Daemon(window_seconds=60) as daemon:
            load, comms = loads.LOADS[name].start(work)
            with load:
                profile, seconds = measure(daemon, comms)
                daemon.stop()
                if "perf" in sys.argv[2:]:
                    beside(case, name, work, comms)
        case.figure(f"{name}: seconds", f"{seconds:.1f}")
        judge(case, name, profile, comms)
    case.finish()


if __name__ == "__main__":
    main()
