#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""offcpu_test.py: a policy of type OffCPU over threads that know how long they waited (tests/programs/types/waits.c).

Waiting, run-queue and CPU time of each thread by its name, over windows that end within its waits; the function that
waits, the state, the waker; the metrics; and nothing attached when no policy asks for waits.
"""

import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support" / "real"))

import machine
from case import Case
from containers import Engine
from daemon import Daemon

ALL = '{container!=""}'
SECONDS = 24
POLICY = """apiVersion: firetower.dev/v1alpha1
kind: ClusterProfilingPolicy
metadata:
  name: waits
spec:
  mode: Filter
  targets:
    podSelector: {{matchLabels: {{}}}}
  profiles: [{profiles}]
  filter:
    cpus: "0-4095"
"""
BOTH = "{type: CPU, frequencyHertz: 499}, {type: OffCPU, minBlockMicroseconds: 1}"
# The function in which each thread waits, the state in which it does so, and who wakes it. One that asks for another CPU
# also waits, uninterruptible, for the kernel's thread that moves it.
WAITS = {"sleeps": ("sleeps", "sleeping", None), "long": ("waits_long", "sleeping", None),
         "reads": ("reads", "sleeping", "feeds"), "feeds": ("feeds", "sleeping", None),
         "migrates": ("migrates", "sleeping or uninterruptible", None), "hog-a": ("hogs", "preempted", None),
         "hog-b": ("hogs", "preempted", None), "holds-a": ("holds", "sleeping", None),
         "holds-b": ("holds", "sleeping", None)}


def attached():
    return machine.attached_programs("ft_offcpu")


def truths(path):
    """By thread: lifetime, CPU time and time on a run queue in seconds, as the program said at its end."""
    found = {}
    for line in path.read_text().splitlines():
        name, *figures = line.split()
        found[name] = [int(figure) / 1e9 for figure in figures]
    return found


class Judge:
    def __init__(self, case, daemon):
        self.case = case
        self.waits, self.cpu = (daemon.profile(ALL, kind=kind) for kind in ("offcpu", "cpu"))

    def samples(self, profile, thread):
        return [one for one in profile.samples if one.labels.get("thread") == thread]

    def seconds(self, profile, thread, kind):
        index = profile.value_index(kind)
        return sum(one.values[index] for one in self.samples(profile, thread)) / 1e9

    def times(self, thread, truth):
        lived, ran, delayed = truth
        waited = lived - ran - delayed
        off, queued = self.seconds(self.waits, thread, "off_cpu"), self.seconds(self.waits, thread, "runqueue")
        self.case.check(f"{thread}: time that it waited, s", abs(off - waited) <= 0.03 * lived,
                        f"{off:.3f} of {waited:.3f}, lived {lived:.3f}")
        self.case.check(f"{thread}: time on a run queue, s", abs(queued - delayed) <= 0.03 * lived,
                        f"{queued:.3f} of {delayed:.3f}")
        on = self.seconds(self.cpu, thread, "cpu")
        self.case.check(f"{thread}: all three are its lifetime", abs(off + queued + on - lived) <= 0.03 * lived,
                        f"{off:.3f} + {queued:.3f} + {on:.3f} of {lived:.3f}")

    def stacks(self, thread):
        function, state, waker = WAITS[thread]
        kind = self.waits.value_index("runqueue" if state == "preempted" else "off_cpu")
        samples = self.samples(self.waits, thread)
        total = sum(one.values[kind] for one in samples) or 1

        def share(holds):
            return sum(one.values[kind] for one in samples if holds(one)) / total
        self.case.at_least(f"{thread}: part that waits in {function}", share(lambda one: function in one.names), 0.97)
        self.case.at_least(f"{thread}: part that is {state}", share(lambda one: one.labels.get("state") in state.split(" or ")), 0.97)
        if waker:
            self.case.at_least(f"{thread}: part that {waker} wakes", share(lambda one: one.labels.get("waker") == waker), 0.9)


def metrics(case, daemon, truth):
    shown = daemon.metrics().sum("firetower_offcpu_seconds_total")
    waited = sum(lived - ran - delayed for lived, ran, delayed in truth.values())
    # The main thread waits for the others, from its start to its end.
    waited += max(lived for lived, _, _ in truth.values())
    case.check("firetower_offcpu_seconds_total", abs(shown - waited) <= 0.05 * waited, f"{shown:.1f} of {waited:.1f}")
    hottest = daemon.metrics().sum("firetower_hotspot_offcpu_seconds_total")
    case.check("its functions add up to it", abs(hottest - shown) < 0.01, f"{hottest:.3f} of {shown:.3f}")


def main():
    case = Case("e2e.offcpu")
    case.need("runc", "busybox", "bpftool")
    with Engine() as engine:
        folder = engine.work / "policies"
        folder.mkdir()
        (folder / "waits.yaml").write_text(POLICY.format(profiles="{type: CPU, frequencyHertz: 499}"))
        with Daemon("--policy", folder, "--sample-labels", "comm,thread", window_seconds=10,
                    slice_milliseconds=1000) as daemon:
            case.check("no program on switches while no policy asks for waits", attached() == [], attached())
            (folder / "waits.yaml").write_text(POLICY.format(profiles=BOTH))
            time.sleep(3)
            case.check("programs on switches and wake-ups", len(attached()) == 2, attached())
            report = engine.work / "report"
            with open(report, "wb") as out:
                container = engine.container("/bin/waits", SECONDS).start(stdout=out)
                while container.is_running():
                    time.sleep(0.5)
            time.sleep(4)
            truth = truths(report)
            case.check("every thread said what it did", set(truth) == set(WAITS), sorted(truth))
            judge = Judge(case, daemon)
            case.check("sample types", judge.waits.types == [("samples", "count"), ("runqueue", "nanoseconds"),
                                                             ("off_cpu", "nanoseconds")], judge.waits.types)
            leaves = {one.names[-1] for one in judge.waits.samples}
            case.check("leaves are the scheduler's", "__schedule" in leaves and not any("bpf" in name for name in leaves),
                       sorted(leaves))
            for thread in WAITS:
                judge.times(thread, truth[thread])
                judge.stacks(thread)
            metrics(case, daemon, truth)
            (folder / "waits.yaml").unlink()
            end = time.monotonic() + 10
            while (attached() or daemon.perf_events()) and time.monotonic() < end:
                time.sleep(0.1)
            case.check("and none after the last", attached() == [], attached())
            case.check("no perf event is open after the last policy", daemon.perf_events() == 0, daemon.perf_events())
    case.finish()


if __name__ == "__main__":
    main()
