#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""locks_test.py: a policy of type Lock over threads that know how long they waited (tests/programs/types/locks.c).

Four mutexes, a reader-writer lock and a condition variable: delay and number of waits of each waiter, the function that
takes the lock and the one that has it, the kind; the metrics, in which waits for a condition are none for a lock.
"""

import json
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support" / "real"))

import pprof
from case import Case
from containers import Engine
from daemon import Daemon

SECONDS = 15
POLICY = """apiVersion: firetower.dev/v1alpha1
kind: ClusterProfilingPolicy
metadata:
  name: locks
spec:
  mode: General
  targets:
    podSelector: {matchLabels: {}}
  profiles: [{type: Lock, minBlockMicroseconds: 1000}]
  general: {schedule: Continuous}
"""
# The function that waits, the kind, who holds it, and the function in which that does.
WAITERS = {**{f"taker-{n}": ("takes", "mutex", f"holder-{n}", "holds") for n in range(4)},
           "reader": ("reads", "rwlock", "writer", "writes"), "consumer": ("consumes", "condition", "producer", "produces")}


def fetch(daemon):
    done = daemon.cli("get", '{container!=""}', "--since", "10m", "--type", "lock", "-o", "pprof", check=False, text=False)
    return pprof.parse(done.stdout) if done.returncode == 0 and done.stdout else pprof.Profile()


def judge(case, profile, thread, truth):
    waited_ns, times = truth
    function, kind, holder, holds = WAITERS[thread]
    samples = [one for one in profile.samples if one.labels.get("thread") == thread]
    count, delay = profile.value_index("contentions"), profile.value_index("delay")
    # A taker that finds its lock free by the time it asks waits for nothing else of that kind.
    mine = [one for one in samples if function in one.names and one.labels.get("lock") == kind]
    total = sum(one.values[delay] for one in mine)
    case.check(f"{thread}: delay, s", abs(total - waited_ns) <= 0.05 * waited_ns, f"{total / 1e9:.3f} of {waited_ns / 1e9:.3f}")
    waits = sum(one.values[count] for one in mine)
    case.check(f"{thread}: contentions", abs(waits - times) <= 0.05 * times, f"{waits} of {times}")
    # The first waits of a program end before the tables of its files are there: such a stack says that it is cut.
    others = [one for one in samples if one not in mine and "cut" not in one.labels]
    case.check(f"{thread}: every other wait is for its {kind}", not others,
               sorted({(one.labels.get("lock"), *one.names) for one in others}))

    def part(holds_true):
        return sum(one.values[delay] for one in mine if holds_true(one)) / (total or 1)
    case.at_least(f"{thread}: part that {holder} holds", part(lambda one: one.labels.get("holder") == holder), 0.95)
    case.at_least(f"{thread}: part held in {holds}",
                  part(lambda one: one.labels.get("holder_stack", "").split(";")[-1] == holds), 0.95)


def judge_top(case, daemon, takers_s):
    """The command's tables have the function that takes a lock, not the scheduler's."""
    def rows(by):
        told = daemon.cli("top", by, '{container!=""}', "--since", "10m", "--type", "lock", "-o", "json").stdout
        return json.loads(told)["rows"]
    functions = {row["function"]: row["self"] / 1e9 for row in rows("functions")}
    case.check("top functions: takes", abs(functions.get("takes", 0) - takers_s) <= 0.05 * takers_s,
               f"{functions.get('takes', 0):.2f} of {takers_s:.2f} s, beside {sorted(functions)}")
    first, = [row for row in rows("processes") if row["process"] == "locks"]
    case.check("top processes: the hottest stack ends where a lock or a condition is waited for",
               first["hottest"]["stack"][-1] in {"takes", "reads", "consumes"}, first["hottest"])


def main():
    case = Case("e2e.locks")
    case.need("runc", "busybox")
    with Engine() as engine:
        folder = engine.work / "policies"
        folder.mkdir()
        (folder / "locks.yaml").write_text(POLICY)
        with Daemon("--policy", folder, "--sample-labels", "comm,thread", window_seconds=10,
                    slice_milliseconds=1000) as daemon:
            time.sleep(2)
            report = engine.work / "report"
            with open(report, "wb") as out:
                container = engine.container("/bin/locks", SECONDS).start(stdout=out)
                while container.is_running():
                    time.sleep(0.5)
            time.sleep(4)
            truth = {name: (int(waited), int(times)) for name, waited, times in
                     (line.split() for line in report.read_text().splitlines())}
            case.check("every waiter said what it did", set(truth) == set(WAITERS), sorted(truth))
            profile = fetch(daemon)
            case.check("sample types", profile.types == [("contentions", "count"), ("delay", "nanoseconds")], profile.types)
            for thread in WAITERS:
                judge(case, profile, thread, truth[thread])
            locked = sum(waited for name, (waited, _) in truth.items() if name != "consumer") / 1e9
            shown = daemon.metrics().sum("firetower_lock_wait_seconds_total")
            case.check("firetower_lock_wait_seconds_total, without conditions", abs(shown - locked) <= 0.05 * locked,
                       f"{shown:.2f} of {locked:.2f}")
            hottest = daemon.metrics().sum("firetower_hotspot_lock_wait_seconds_total", function="takes")
            takers = sum(waited for name, (waited, _) in truth.items() if name.startswith("taker")) / 1e9
            judge_top(case, daemon, takers)
            case.check("takes is a hotspot", abs(hottest - takers) <= 0.05 * takers, f"{hottest:.2f} of {takers:.2f}")
    case.finish()


if __name__ == "__main__":
    main()
