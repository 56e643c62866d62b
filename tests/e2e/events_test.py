#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""events_test.py: a policy of types Event and Memory over threads that know how many events they caused
(tests/programs/types/events.c).

Page faults by function, context switches by their stacks, a tracepoint of system calls; the metrics of page faults; and
nothing open when no policy asks for events.
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
SECONDS = 15
POLICY = """apiVersion: firetower.dev/v1alpha1
kind: ClusterProfilingPolicy
metadata:
  name: events
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
EVENTS = """  - type: Memory
  - type: Event
    events:
    - {name: context-switches, frequencyHertz: 199}
    - {name: "raw_syscalls:sys_enter", period: 1000}
"""


def attached():
    return machine.attached_programs("ft_sample_event", "ft_sample_trace")


def events_of(profile, thread, function=None):
    index = profile.value_index("events")
    return sum(one.values[index] for one in profile.samples if one.labels.get("thread") == thread
               and (function is None or function in one.names))


def judge(case, daemon, truth):
    faults, switches, calls = (daemon.profile(ALL, kind="event:" + name) for name in
                               ("page-faults", "context-switches", "raw_syscalls:sys_enter"))
    case.check("sample types", faults.types == [("samples", "count"), ("events", "count")], faults.types)

    def near(what, got, want, part):
        case.check(what, abs(got - want) <= part * want, f"{got} of {want}")
    # The frequency of 49 Hz takes some 700 samples of each CPU.
    near("page faults", events_of(faults, "faults"), truth["faults"][0], 0.05)
    near("page faults of touches_many", events_of(faults, "faults", "touches_many"), 0.75 * truth["faults"][0], 0.1)
    near("page faults of touches_few", events_of(faults, "faults", "touches_few"), 0.25 * truth["faults"][0], 0.2)
    near("context switches", events_of(switches, "switches", "switches"), truth["switches"][1], 0.1)
    near("system calls", events_of(calls, "calls", "calls"), truth["calls"][2], 0.05)
    leaves = {one.names[-1] for one in switches.samples if one.labels.get("thread") == "switches"}
    case.check("a switch is in the scheduler", any("schedule" in name for name in leaves), sorted(leaves))
    shown = daemon.metrics().sum("firetower_page_faults_total")
    near("firetower_page_faults_total", shown, sum(one[0] for one in truth.values()), 0.1)
    hottest = daemon.metrics().sum("firetower_hotspot_page_faults_total", function="touches_many")
    near("firetower_hotspot_page_faults_total of touches_many", hottest, 0.75 * truth["faults"][0], 0.1)


def main():
    case = Case("e2e.events")
    case.need("runc", "busybox", "bpftool")
    with Engine() as engine:
        folder = engine.work / "policies"
        folder.mkdir()
        (folder / "events.yaml").write_text(POLICY.format(profiles=CPU))
        with Daemon("--policy", folder, "--sample-labels", "comm,thread", window_seconds=10,
                    slice_milliseconds=1000) as daemon:
            case.check("no program of events while no policy asks for one", attached() == [], attached())
            (folder / "events.yaml").write_text(POLICY.format(profiles=EVENTS))
            time.sleep(3)
            case.check("one program for each event", attached() ==
                       ["ft_sample_event", "ft_sample_event", "ft_sample_tracepoint"], attached())
            report = engine.work / "report"
            with open(report, "wb") as out:
                container = engine.container("/bin/events", SECONDS).start(stdout=out)
                while container.is_running():
                    time.sleep(0.5)
            time.sleep(4)
            truth = {name: [int(one) for one in figures] for name, *figures in
                     (line.split() for line in report.read_text().splitlines())}
            case.check("every thread said what it did", set(truth) == {"faults", "switches", "calls"}, sorted(truth))
            judge(case, daemon, truth)
            (folder / "events.yaml").unlink()
            end = time.monotonic() + 10
            while attached() and time.monotonic() < end:
                time.sleep(0.1)
            case.check("and none after the last", attached() == [], attached())
            case.check("no perf event is open after the last policy", daemon.perf_events() == 0, daemon.perf_events())
    case.finish()


if __name__ == "__main__":
    main()
