#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""in_use_test.py: a policy of type Memory with inUse over programs that know what they have not freed
(tests/programs/types/keeps.c), with the allocators of allocations_test.py.

By the function that allocated it: in the open window, in stored ones, as of the last one of several, and no more once
the program has ended. A leak of a megabyte a second is what has grown most within three windows.
"""

import json
import pathlib
import sys
import time
import urllib.parse

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "support" / "real"), str(TESTS / "e2e")]

import allocations_test
from case import Case
from containers import Engine
from daemon import Daemon

# Until its allocator is probed, and how long it allocates.
PAUSE, SECONDS = 4, 17
WINDOW = 5
POLICY = allocations_test.POLICY.format(profiles="  - {type: Memory, sampleBytes: 1024, inUse: true}\n")


def totals(profile, comm, function=None):
    objects, space = profile.value_index("inuse_objects"), profile.value_index("inuse_space")
    chosen = [one for one in profile.samples if one.labels.get("comm") == comm
              and (function is None or function in one.names)]
    return sum(one.values[objects] for one in chosen), sum(one.values[space] for one in chosen)


def judge(case, when, profile, truths):
    def near(what, got, want, part):
        # None at all of it where everything was freed again.
        case.check(what, abs(got - want) <= part * want, f"{got} of {want}")
    for name, truth in truths.items():
        for function, (objects, size) in truth.items():
            got = totals(profile, f"a-{name}", function)
            near(f"{when}: {name}: objects in use of {function}", got[0], objects, 0.05)
            near(f"{when}: {name}: bytes in use of {function}", got[1], size, 0.05)
        near(f"{when}: {name}: all bytes in use", totals(profile, f"a-{name}")[1],
             sum(size for _, size in truth.values()), 0.05)


def read(reports):
    truths = {}
    for name, report in reports.items():
        lines = [line.split() for line in report.read_text().splitlines()]
        truths[name] = {function: (int(objects), int(size)) for function, objects, size in lines}
    return truths


def main():
    case = Case("e2e.in-use")
    case.need("runc", "busybox", "gcc", "musl-gcc")
    for pattern in allocations_test.PRELOADED.values():
        if not list(allocations_test.LIBRARIES.glob(pattern)):
            case.skip(f"{pattern} is not installed")
    with Engine() as engine:
        commands = allocations_test.programs(engine, "keeps.c")
        folder = engine.work / "policies"
        folder.mkdir()
        (folder / "memory.yaml").write_text(POLICY)
        with Daemon("--policy", folder, "--sample-labels", "comm", window_seconds=WINDOW,
                    slice_milliseconds=1000) as daemon:
            reports = {name: engine.work / f"report-{name}" for name in commands}
            containers = []
            for name, command in commands.items():
                with open(reports[name], "wb") as out:
                    containers.append(engine.container(*command, PAUSE, SECONDS).start(stdout=out))
            time.sleep(PAUSE + 3)
            early = time.time()
            end = time.monotonic() + 60
            while time.monotonic() < end and not all(report.read_text() for report in reports.values()):
                time.sleep(0.2)
            time.sleep(3)
            late = time.time()
            truths = read(reports)
            case.check("every program said what it has", all(len(truth) == 7 for truth in truths.values()), truths)
            judge(case, "at once", daemon.profile('{container!=""}', kind="memory"), truths)
            growth = daemon.cli("diff", f'{{container!=""}}@{early - WINDOW:.0f}..{early:.0f}',
                                f'{{container!=""}}@{late - WINDOW:.0f}..{late:.0f}', "--type", "memory", "--no-headers").stdout
            case.check("a leak is what has grown most", "leaks" in growth.splitlines()[1], growth)
            # By now no program allocates any more, and the windows of before are stored.
            time.sleep(2 * WINDOW + 2)
            profile = daemon.profile('{container!=""}', kind="memory")
            case.check("sample types", profile.types == [
                ("alloc_objects", "count"), ("alloc_space", "bytes"), ("inuse_objects", "count"),
                ("inuse_space", "bytes")], profile.types)
            judge(case, "two windows later", profile, truths)
            top = daemon.cli("top", "functions", '{container!=""}', "--type", "memory:inuse_space", "--since", "5m").stdout
            largest = max(truths["glibc"], key=lambda function: sum(truth[function][1] for truth in truths.values()))
            rows = [line.split() for line in top.splitlines()]
            case.check("firetower top names the function with the most in use first",
                       any(largest in row for row in rows[:4]), top)
            rows = json.loads(daemon.cli("top", "functions", '{container!=""}', "--type", "memory:inuse_space", "-o",
                                         "json").stdout)["rows"]
            grown = max(rows, key=lambda row: row["growth"])
            case.check("firetower top marks the leak by its growth", grown["function"] == "leaks"
                       and 0.5 * grown["self"] < grown["growth"] <= grown["self"], grown)
            top = daemon.cli("top", '{container!=""}', "--type", "memory:inuse_space", "-o", "json").stdout
            shown = sorted(row["value"] for row in json.loads(top)["rows"])
            want = sorted(sum(size for _, size in truth.values()) for truth in truths.values())
            case.check("firetower top shows the containers by what is in use", len(shown) == len(want) and all(
                abs(one - other) <= 0.05 * other for one, other in zip(shown, want)), (shown, want))
            flame = json.loads(daemon.fetch("/api/v1/flame?type=memory:inuse_space&seconds=300&q=" + urllib.parse.quote(
                '{container!=""}')))
            case.check("a flame graph has all that is in use", abs(flame["total"] - sum(want)) <= 0.05 * sum(want),
                       (flame["total"], sum(want)))
            for container in containers:
                container.remove()
            time.sleep(WINDOW + 4)
            profile = daemon.profile('{container!=""}', since=f"{WINDOW // 2}s", kind="memory")
            left = sum(totals(profile, f"a-{name}")[1] if profile.types else 0
                       for name in commands)
            case.check("nothing is in use of programs that have ended", left == 0, left)
    case.finish()


if __name__ == "__main__":
    main()
