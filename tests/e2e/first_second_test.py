#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""first_second_test.py: the stacks of programs that nobody has seen before, from their first sample on.

Two hundred binaries that differ in build id and layout, without frame pointers, are started one after another and live
for 0.4 s; a hundred others are run for 20 ms each, again and again. Nothing was read ahead: what a table that is still
being read would have cost shows here. A stack is whole if the product says so, it begins where threads begin, and,
once the program is in its own code, it is one that the program stated.
"""

import collections
import pathlib
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support" / "real"))

import distinct
from case import Case, run
from daemon import Daemon
from own_names import name_of
from statements import Statements
from whole import KERNEL, has_user_part, why_not_whole

NEW = 200
SHORT = 100
SHORT_RUNS = 4
LIFE_SECONDS = 0.4
SHORT_SECONDS = 0.02  # With the start of a process less than 50 ms.


def build_ids(files):
    told = run("readelf", "-n", *files).stdout
    return {line.split()[-1] for line in told.splitlines() if "Build ID" in line}


def judge(case, what, profile, prefix, statements, limit):
    total = whole = in_exec = unnamed = 0
    seen = set()
    why = collections.Counter()
    for sample in profile.samples:
        comm = sample.labels.get("comm", "")
        if not comm.startswith(prefix):
            continue
        count = sample.values[0]
        if sample.labels.get("cut") == "exec":
            in_exec += count  # The old image is half gone and the new one not there: there is no user stack.
            continue
        if not has_user_part(sample):
            continue
        seen.add(comm)
        total += count
        reason = why_not_whole(sample)
        names = [name_of(frame) for frame in sample.stack if frame.module != KERNEL]
        unnamed += count * any(name_of(frame) != frame.name for frame in sample.stack)
        if not reason and statements.names.intersection(names) - {"_start"} and not statements.allow(names):
            reason = f"not stated: {' '.join(names[-8:])}"
        whole += count * (not reason)
        why[reason] += count
    case.at_least(f"{what}: samples", total, 300)
    case.at_least(f"{what}: share with the whole stack", whole / max(total, 1), limit)
    del why[""]
    case.figure(what, f"{len(seen)} programs seen, {in_exec} samples inside exec besides, others {dict(why.most_common(6))}")
    case.figure(what, f"{unnamed} of {total} samples have places in the program's own file and no names for them")


def main():
    case = Case("e2e.first-second")
    case.need("gcc", "readelf")
    with tempfile.TemporaryDirectory(prefix="firetower-first-") as folder:
        work = pathlib.Path(folder)
        new, short = distinct.build(work, NEW, "new-"), distinct.build(work, SHORT, "short-")
        case.check("each binary has a build id of its own", len(build_ids([*new, *short])) == NEW + SHORT)
        statements = Statements(run(new[0], "0").stdout)
        with Daemon(window_seconds=600) as daemon:
            for file in new:
                subprocess.run([file, str(LIFE_SECONDS)], stdout=subprocess.DEVNULL, check=True)
            lived = []
            for file in short * SHORT_RUNS:
                begin = time.monotonic()
                subprocess.run([file, str(SHORT_SECONDS)], stdout=subprocess.DEVNULL, check=True)
                lived.append(time.monotonic() - begin)
            time.sleep(1.5)
            profile = daemon.profile('{container=~".+"}')
            metrics = daemon.metrics()
        judge(case, "first second of a new binary", profile, "new-", statements, 0.95)
        judge(case, "short process", profile, "short-", statements, 0.90)
        case.at_most("median life of a short process, ms", sorted(lived)[len(lived) // 2] * 1000, 50)
        case.figure("samples lost by reason", metrics.lost() or "none")
        case.figure("unwind tables", {name: metrics.sum(name) for name in
                                      sorted({n for n, _, _ in metrics.series if "unwind" in n or "cold" in n})})
    case.finish()


if __name__ == "__main__":
    main()
