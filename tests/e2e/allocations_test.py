#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""allocations_test.py: a policy of type Memory over programs that know what they allocated
(tests/programs/types/allocates.c): with the C libraries' own allocators, linked dynamically and statically, and with
jemalloc, tcmalloc and mimalloc.

Objects and bytes by the function that allocates; the metrics; no probe when no policy asks for any; and what a program
that allocates two million times a second (allocates_often.c) loses, beside the same program without a policy on the
same CPU.
"""

import pathlib
import shutil
import subprocess
import sys
import time

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS / "support" / "real"))

from case import Case, run
from containers import Engine
from daemon import Daemon

SECONDS = 12
# Until its allocator is probed.
PAUSE = 4
SAMPLE_BYTES = 1024
# The program that allocates often: all of its time, and that before its policy.
OFTEN_SECONDS, OFTEN_BEFORE = 40, 12
LIBRARIES = pathlib.Path("/usr/lib/x86_64-linux-gnu")
PRELOADED = {"jemalloc": "libjemalloc.so.2", "tcmalloc": "libtcmalloc_minimal.so.4", "mimalloc": "libmimalloc.so.?"}
COMPILE = ("-O1", "-g1", "-fno-optimize-sibling-calls", "-fno-builtin")
POLICY = """apiVersion: firetower.dev/v1alpha1
kind: ClusterProfilingPolicy
metadata:
  name: allocations
spec:
  mode: General
  targets:
    podSelector: {{matchLabels: {{}}}}
  profiles:
{profiles}
  general:
    schedule: Continuous
"""
CPU = "  - type: CPU\n"
MEMORY = f"  - {{type: Memory, sampleBytes: {SAMPLE_BYTES}}}\n"


def install(engine, program):
    """Copies the libraries that a file needs to the image, under their own paths."""
    for line in run("ldd", program).stdout.splitlines():
        path = next((word for word in line.split() if word.startswith("/")), None)
        if path and not (engine.image / path[1:]).exists():
            (engine.image / path[1:]).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, engine.image / path[1:])


def programs(engine, source="allocates.c"):
    """The command line of each allocator's program, whose comm says which it is."""
    image = engine.image / "bin"
    compiled = (*COMPILE, TESTS / "programs" / "types" / source, "-o")
    run("gcc", *compiled, image / "a-glibc")
    run("gcc", "-static", *compiled, image / "a-glibc-static")
    run("musl-gcc", "-static", *compiled, image / "a-musl-static")
    install(engine, image / "a-glibc")
    commands = {name: (f"/bin/a-{name}",) for name in ("glibc", "glibc-static", "musl-static")}
    for name, pattern in PRELOADED.items():
        library = next(LIBRARIES.glob(pattern)).name
        shutil.copy(image / "a-glibc", image / f"a-{name}")
        target = engine.image / "lib" / library
        target.parent.mkdir(exist_ok=True)
        shutil.copy(LIBRARIES / library, target)
        install(engine, LIBRARIES / library)
        commands[name] = ("/bin/busybox", "env", f"LD_PRELOAD=/lib/{library}", f"/bin/a-{name}")
    return commands


def totals(profile, comm, function=None):
    objects, space = profile.value_index("alloc_objects"), profile.value_index("alloc_space")
    chosen = [one for one in profile.samples if one.labels.get("comm") == comm
              and (function is None or function in one.names)]
    return sum(one.values[objects] for one in chosen), sum(one.values[space] for one in chosen)


def judge(case, daemon, truths):
    profile = daemon.profile('{container!=""}', kind="memory")
    case.check("sample types", profile.types[:2] == [("alloc_objects", "count"), ("alloc_space", "bytes")], profile.types)

    def near(what, got, want, part):
        case.check(what, abs(got - want) <= part * want, f"{got} of {want}, {got / want:.4f}")
    for name, truth in truths.items():
        for function, (calls, size) in truth.items():
            # strdup of musl has no call frame information: its callers are not known, and its stacks say so.
            if (name, function) == ("musl-static", "duplicates"):
                continue
            objects, space = totals(profile, f"a-{name}", function)
            near(f"{name}: objects of {function}", objects, calls, 0.05)
            near(f"{name}: bytes of {function}", space, size, 0.05)
        near(f"{name}: all bytes", totals(profile, f"a-{name}")[1], sum(size for _, size in truth.values()), 0.05)
    metrics = daemon.metrics()
    everything = sum(size for truth in truths.values() for _, size in truth.values())
    near("firetower_allocated_bytes_total", metrics.sum("firetower_allocated_bytes_total"), everything, 0.05)
    large = sum(truth["allocates_large"][1] for truth in truths.values())
    near("firetower_hotspot_allocated_bytes_total of allocates_large",
         metrics.sum("firetower_hotspot_allocated_bytes_total", function="allocates_large"), large, 0.05)
    case.at_most("samples lost since another thread's was half taken", metrics.sum(
        "firetower_samples_lost_total", reason="preempted"), 20)


class Often:
    """A program that allocates often: its calls for each second of CPU time."""

    def __init__(self, report):
        self.rows = [[float(one) for one in line.split()] for line in report.read_text().splitlines()]

    def rate(self, begin, end=float("inf")):
        rows = [row for row in self.rows if begin <= row[0] <= end]
        return (rows[-1][2] - rows[0][2]) / (rows[-1][1] - rows[0][1])


def judge_often(case, engine, daemon, folder):
    """The machine's own speed changes by the second: both programs have it, in turns on one CPU."""
    policy = folder / "memory.yaml"
    policy.write_text(POLICY.format(profiles=CPU))
    reports = [engine.work / name for name in ("often", "control")]
    run("gcc", "-static", "-O1", "-fno-builtin", TESTS / "programs" / "types" / "allocates_often.c", "-o",
        engine.image / "bin" / "often")
    with open(reports[0], "wb") as ours, open(reports[1], "wb") as others:
        container = engine.container("/bin/busybox", "taskset", "1", "/bin/often", OFTEN_SECONDS).start(stdout=ours)
        control = subprocess.Popen(["taskset", "1", engine.image / "bin" / "often", str(OFTEN_SECONDS)], stdout=others)
        time.sleep(OFTEN_BEFORE)
        policy.write_text(POLICY.format(profiles="  - type: Memory\n"))
        began = time.monotonic()
        busy = 0
        while container.is_running():
            busy = max(busy, daemon.metrics().sum("firetower_allocation_processes", state="too_busy"))
            time.sleep(0.5)
        control.wait(timeout=10)
    often, control = (Often(report) for report in reports)

    def lost(begin, end=float("inf")):
        before = often.rate(0, began) / control.rate(0, began)
        return 1 - often.rate(begin, end) / control.rate(begin, end) / before
    case.check("a program that allocates too often is left alone", busy == 1, busy)
    case.check("the log says so", "allocations are not sampled: too many" in daemon.log())
    whole, later = lost(began), lost(began + 3)
    case.check("it loses less than a twentieth", whole < 0.05, f"{whole:.4f} of {control.rate(began):.0f} calls a second")
    # Two such programs without any policy differ by up to one per cent in that time.
    case.check("it loses nothing once the probes are gone", later < 0.02, f"{later:.4f}")


def main():
    case = Case("e2e.allocations")
    case.need("runc", "busybox", "gcc", "musl-gcc")
    for pattern in PRELOADED.values():
        if not list(LIBRARIES.glob(pattern)):
            case.skip(f"{pattern} is not installed")
    with Engine() as engine:
        commands = programs(engine)
        folder = engine.work / "policies"
        folder.mkdir()
        (folder / "memory.yaml").write_text(POLICY.format(profiles=CPU))
        with Daemon("--policy", folder, "--sample-labels", "comm", window_seconds=10, slice_milliseconds=1000) as daemon:
            before = daemon.perf_events()
            (folder / "memory.yaml").write_text(POLICY.format(profiles=MEMORY))
            reports = {name: engine.work / f"report-{name}" for name in commands}
            containers = []
            for name, command in commands.items():
                with open(reports[name], "wb") as out:
                    containers.append(engine.container(*command, SECONDS, PAUSE).start(stdout=out))
            time.sleep(PAUSE)
            probed = 0
            while any(one.is_running() for one in containers):
                probed = max(probed, daemon.metrics().sum("firetower_allocation_processes", state="probed"))
                time.sleep(0.5)
            case.check("every process was probed", probed >= len(commands), probed)
            time.sleep(4)
            truths = {}
            for name, report in reports.items():
                lines = [line.split() for line in report.read_text().splitlines()]
                truths[name] = {function: (int(calls), int(size)) for function, calls, size in lines}
            case.check("every program said what it did", all(len(truth) == 6 for truth in truths.values()), truths)
            judge(case, daemon, truths)
            judge_often(case, engine, daemon, folder)
            (folder / "memory.yaml").unlink()
            end = time.monotonic() + 10
            while daemon.perf_events() > before and time.monotonic() < end:
                time.sleep(0.1)
            case.check("no perf event more is open after the last policy", daemon.perf_events() <= before,
                       (daemon.perf_events(), before))
    case.finish()


if __name__ == "__main__":
    main()
