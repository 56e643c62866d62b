#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""trigger_test.py: captures that begin before their threshold was crossed.

A container's CPU rises at a known time; the capture holds its CPU of the ten seconds before the trigger fired. While
armed nothing is shown or stored. No second capture in the cooldown. A container that is killed for memory leaves its
last seconds; one that is throttled fires as well.
"""

import pathlib
import re
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support" / "real"))

import pprof
from case import Case
from containers import Engine, cgroup_root
from daemon import Daemon
from triggers import captures, fired, policy, utilization, wait_for

BEFORE, AFTER, FOR = 20, 6, 8
STEP = "while [ ! -e /tmp/go ]; do sleep 0.1; done; exec /bin/toy_stack 3600"
HOG = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; tail /dev/zero"


def container_pid(container):
    """Returns the pid of the container's first process, in the host's numbering."""
    tasks = (cgroup_root("v1:cpuacct") or cgroup_root("v2")) / container.path[1:] / "cgroup.procs"
    return int(tasks.read_text().split()[0])


def judge_step(case, daemon, container):
    shown = daemon.metrics().sum("firetower_cpu_seconds_total", container=container.name)
    case.check("while armed nothing of it is on /metrics", shown == 0, shown)
    before = container.usage_seconds()
    (pathlib.Path(f"/proc/{container_pid(container)}/root/tmp") / "go").touch()
    step = time.monotonic()
    case.check("the trigger fires", wait_for(lambda: fired(daemon, "step"), FOR + 15), fired(daemon, "step"))
    case.figure("seconds from the step to the firing", round(time.monotonic() - step, 1))
    fire, at_fire = time.time(), container.usage_seconds()
    time.sleep(AFTER)
    at_end = container.usage_seconds()
    case.check("the capture is stored", wait_for(lambda: captures(daemon, "step"), 20))
    (path, profile), = captures(daemon, "step")
    total = profile.total("cpu") / 1e9
    case.figure("object", path.name)
    case.figure("CPU of the container from the step to the firing, s", round(at_fire - before, 2))
    case.figure("CPU in the capture, s", round(total, 2))
    case.at_least("part of the CPU before the firing that is in the capture",
                  (total - (at_end - at_fire)) / (at_fire - before), 0.9)
    case.at_most("and no more than there was", total / (at_end - before), 1.1)
    # The capture begins as long before as the policy says. But it begins with the first slice that has a sample, and
    # before the step there are few samples.
    begin = profile.time_nanos / 1e9 - fire
    case.check("it begins before the step, and no earlier than asked", -BEFORE - 1.5 <= begin <= -FOR + 1, round(begin, 2))
    end = (profile.time_nanos + profile.duration_nanos) / 1e9
    case.at_most("and ends as long after, off by s", abs(end - (fire + AFTER)), 1.5)
    case.check("it says why", any("ContainerCPU" in comment for comment in profile.comments), profile.comments)
    shown = daemon.metrics().sum("firetower_cpu_seconds_total", container=container.name)
    case.check("what was captured is on /metrics", 0 < shown <= AFTER * 1.3, shown)
    case.check("and in no window", not [one for _, _, one, _ in pprof.read_store(daemon.store) if one == container.name])
    asked = daemon.profile(f'{{container="{container.name}"}}', since="10m")
    case.check("a query finds it", abs(asked.total("cpu") - profile.total("cpu")) < 1e6, asked.total("cpu") / 1e9)
    time.sleep(FOR + 4)
    case.check("no second capture in the cooldown", len(fired(daemon, "step")) == 1 and
               len(captures(daemon, "step")) == 1, len(fired(daemon, "step")))


def judge_oom(case, daemon, engine, folder):
    container = engine.container("/bin/busybox", "sh", "-c", HOG)
    (folder / "oom.yaml").write_text(policy("oom", container, "{name: killed, metric: OOMKill}", BEFORE, AFTER))
    time.sleep(2)
    limit = (cgroup_root("v1:memory") or cgroup_root("v2")) / container.path[1:]
    container.start()
    (limit / ("memory.limit_in_bytes" if (limit / "memory.limit_in_bytes").exists() else "memory.max")
     ).write_text(str(64 << 20))
    case.check("a container that is killed for memory fires", wait_for(lambda: fired(daemon, "oom"), 30))
    case.check("its capture is stored", wait_for(lambda: captures(daemon, "oom"), AFTER + 20))
    if captures(daemon, "oom"):
        (_, profile), = captures(daemon, "oom")
        case.at_least("samples of the seconds before it was killed", profile.total("samples"), 5)


def judge_throttled(case, daemon, engine, folder):
    quota = cgroup_root("v1:cpu")
    container = engine.container("/bin/toy_stack", 3600)
    (folder / "throttled.yaml").write_text(
        policy("throttled", container, utilization("throttled", "ContainerCPUThrottled", 30, 3), BEFORE, AFTER))
    container.start()
    if quota:
        (quota / container.path[1:] / "cpu.cfs_quota_us").write_text("20000")
    else:
        (cgroup_root("v2") / container.path[1:] / "cpu.max").write_text("20000 100000")
    case.check("a throttled container fires", wait_for(lambda: fired(daemon, "throttled"), 30))
    why = "".join(fired(daemon, "throttled"))
    percent = re.search(r"ContainerCPUThrottled ([0-9.]+)", why)
    # It wants a whole CPU and gets a fifth: its quota is used up in every period.
    case.at_least("with the part of its periods that it was throttled in", float(percent[1]) if percent else 0, 90)


def main():
    case = Case("e2e.trigger")
    case.need("runc", "busybox")
    with Engine() as engine:
        folder = engine.work / "policies"
        folder.mkdir()
        one = engine.container("/bin/busybox", "sh", "-c", STEP).start()
        (folder / "step.yaml").write_text(policy("step", one, utilization("hot", "ContainerCPU", 10, FOR), BEFORE, AFTER))
        with Daemon("--policy", folder, window_seconds=10) as daemon:
            time.sleep(BEFORE)
            judge_step(case, daemon, one)
            judge_throttled(case, daemon, engine, folder)
            judge_oom(case, daemon, engine, folder)
            counted = daemon.metrics().sum("firetower_trigger_captures_total")
            case.check("each is counted", counted == 3, counted)
    case.finish()


if __name__ == "__main__":
    main()
