#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""trigger_load_test.py pressure|system: captures by what a load does to the CPU that it runs on.

pressure: programs that share one CPU, by the time in which one of them waited for it: of their container, and of the
node. system: a program that lives in system calls, by the kernel's time on the busiest CPU, while the mean of all CPUs
is below the threshold. Each capture holds the ten seconds before. No second one in the cooldown; a policy without a
cooldown fires each time that the load begins, until its captures of the hour are used up.
"""

import bisect
import os
import pathlib
import re
import signal
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support" / "real"))

from case import Case
from containers import Engine, cgroup_root
from daemon import Daemon
from triggers import captures, fired, policy, utilization, wait_for

# The time before the trigger is all load, and so are the ten seconds that are judged.
BEFORE, AFTER, FOR = 11, 5, 11
CAP, CAP_FOR = 2, 2
LOADS = {
    "pressure": ("toy_stack", {"alpha"}),
    "system": ("toy_syscall", {"hot_read", "hot_getppid"}),
}
LOAD = """while [ ! -e /tmp/go ]; do sleep 0.1; done
for i in 1 2 3; do taskset {mask:x} /bin/{toy} 3600 >/dev/null & done
wait"""


class Load:
    """Three of a toy on one CPU, held and let go; what they have used is written down all the while."""

    def __init__(self, engine, toy):
        mask = 1 << max(os.sched_getaffinity(0))
        self.toy = toy
        self.container = engine.container("/bin/busybox", "sh", "-c", LOAD.format(mask=mask, toy=toy)).start()
        self._times, self._usage = [], []
        self._write_down()
        threading.Thread(target=self._follow, daemon=True).start()

    def _write_down(self):
        usage = self.container.usage_seconds()
        self._usage.append(usage)
        self._times.append(time.time())

    def _follow(self):
        try:
            while True:
                self._write_down()
                time.sleep(0.05)
        except OSError:
            pass  # The container is gone.

    def used(self, begin, end):
        """CPU seconds of the container between two moments of the wall clock."""
        return self._used_until(end) - self._used_until(begin)

    def _used_until(self, moment):
        return self._usage[max(bisect.bisect_right(self._times, moment) - 1, 0)]

    def folder(self, hierarchy):
        return cgroup_root(hierarchy) / self.container.path[1:]

    def begin(self):
        """The first time."""
        tasks = self.folder("v1:cpuacct" if cgroup_root("v1:cpuacct") else "v2") / "cgroup.procs"
        shell = tasks.read_text().split()[0]
        (pathlib.Path(f"/proc/{shell}/root/tmp") / "go").touch()

        def toys():
            pids = map(int, tasks.read_text().split())
            return [pid for pid in pids if pathlib.Path(f"/proc/{pid}/comm").read_text().strip() == self.toy]

        wait_for(lambda: len(toys()) == 3, 5)
        self.pids = toys()

    def hold(self, how):
        for pid in self.pids:
            os.kill(pid, signal.SIGSTOP if how else signal.SIGCONT)


def counted(daemon, name, what, **labels):
    return daemon.metrics().sum(f"firetower_trigger_{what}_total", policy=name, **labels)


def judge_capture(case, daemon, load, functions, name, why):
    """The one capture of a policy that fired just now."""
    fire = time.time()
    case.check(f"{name}: the capture is stored", wait_for(lambda: captures(daemon, name), AFTER + 15))
    (_, profile), = captures(daemon, name)
    begin, total = profile.time_nanos / 1e9, profile.total("cpu") / 1e9
    end = begin + profile.duration_nanos / 1e9
    case.check(f"{name}: it covers the ten seconds before and {AFTER} after",
               -BEFORE - 1.5 <= begin - fire <= -10 and abs(end - fire - AFTER) <= 1.5,
               f"{begin - fire:.1f} to {end - fire:.1f} s")
    before = load.used(begin, fire)
    case.at_least(f"{name}: part of the {before:.2f} s of CPU before the firing that is in it",
                  (total - load.used(fire, end)) / before, 0.9)
    case.at_most(f"{name}: and no more than there was, part", total / load.used(begin, end), 1.1)
    index = profile.value_index("cpu")
    own = sum(one.values[index] for one in profile.samples if functions & set(one.names)) / 1e9
    case.at_least(f"{name}: part of it in the load's functions", own / total, 0.9)
    case.check(f"{name}: it says why", any(why in comment for comment in profile.comments), profile.comments)


def judge_once(case, daemon, load, names):
    """After its capture each of them holds once more."""
    load.hold(True)
    time.sleep(4)
    load.hold(False)
    for name in names:
        case.check(f"{name}: what holds in the cooldown is suppressed as such",
                   wait_for(lambda: counted(daemon, name, "suppressed", reason="Cooldown") >= 1, FOR + 5))
        case.check(f"{name}: it fired once", counted(daemon, name, "captures") == 1 and len(fired(daemon, name)) == 1)


def judge_cap(case, daemon, load):
    """Its second capture is of the second time; the third time is one too many."""
    case.check("capped: without a cooldown it fires again", wait_for(lambda: counted(daemon, "capped", "captures") == CAP, 5),
               counted(daemon, "capped", "captures"))
    load.hold(True)
    time.sleep(4)
    load.hold(False)
    case.check("capped: beyond maxCapturesPerHour it is suppressed as such",
               wait_for(lambda: counted(daemon, "capped", "suppressed", reason="HourlyCap") >= 1, CAP_FOR + 5))
    case.check("capped: and makes no capture", counted(daemon, "capped", "captures") == CAP and
               len(fired(daemon, "capped")) == CAP and len(captures(daemon, "capped")) == CAP,
               len(captures(daemon, "capped")))


def busiest_system_share(seconds):
    """The kernel's part of the time of the CPU where it has most, per /proc/stat."""
    def read():
        lines = pathlib.Path("/proc/stat").read_text().splitlines()
        times = [[int(word) for word in line.split()[1:9]] for line in lines if re.match(r"cpu\d", line)]
        return [(each[2] + each[5] + each[6], sum(each)) for each in times]
    before = read()
    time.sleep(seconds)
    return max((system - was) / max(total - had, 1) for (system, total), (was, had) in zip(read(), before))


def rules(case, what, load):
    """The rule that is judged, one that shall not fire, and one that others on the machine may have fire as well."""
    if what == "system":
        # A quarter is what the load keeps of its CPU beside two others as busy; alone it has nine tenths.
        mean = ("NodeCPUSystem", 60, {"cpus": "All"}) if os.cpu_count() > 1 else None
        return (("NodeCPUSystem", 25, {"cpus": "Any"}), mean, None)
    if cgroup_root("v2") and (load.folder("v2") / "cpu.pressure").exists():
        return (("ContainerCPUPressure", 50, {}), None, ("NodeCPUPressure", 50, {}))
    case.figure("containers have no pressure here: judged by", "NodeCPUPressure")
    return (("NodeCPUPressure", 50, {}), None, None)


def main():
    what = sys.argv[1]
    case = Case(f"e2e.trigger-{what}")
    case.need("runc", "busybox")
    if what == "pressure":
        try:
            case.figure("/proc/pressure/cpu", pathlib.Path("/proc/pressure/cpu").read_text().splitlines()[0])
        except OSError as error:
            case.skip(f"no pressure on this kernel (CONFIG_PSI, psi=1): {error}")
    toy, functions = LOADS[what]
    with Engine() as engine:
        folder = engine.work / "policies"
        folder.mkdir()
        # The node's readings must show the load alone, so other work has to be over first.
        case.check("the machine is quiet before, within a minute", any(busiest_system_share(3) < 0.15 for _ in range(20)))
        load = Load(engine, toy)
        held, mean, also = rules(case, what, load)

        def write(name, rule, seconds, **more):
            metric, percent, others = rule
            text = policy(name, load.container, utilization(name, metric, percent, seconds, **others), BEFORE, AFTER, **more)
            (folder / f"{name}.yaml").write_text(text)

        write("hot", held, FOR)
        write("capped", held, CAP_FOR, cooldown=0, most=CAP)
        if mean:
            write("mean", mean, CAP_FOR)
        with Daemon("--policy", folder, window_seconds=10) as daemon:
            time.sleep(5)
            case.check("nothing fires before the load", not counted(daemon, "hot", "captures") + counted(daemon, "capped", "captures"))
            if also:
                write("also", also, FOR)
            load.begin()
            step = time.time()
            case.check("hot: it fires", wait_for(lambda: fired(daemon, "hot"), FOR + 10), fired(daemon, "hot"))
            case.figure("hot: s from the load to the firing", f"{time.time() - step:.1f}")
            judge_capture(case, daemon, load, functions, "hot", held[0])
            if also:
                case.check("also: it fires", wait_for(lambda: fired(daemon, "also"), 5), fired(daemon, "also"))
                case.check("also: its capture is stored", wait_for(lambda: captures(daemon, "also"), AFTER + 10))
            judge_once(case, daemon, load, ["hot"])
            judge_cap(case, daemon, load)
            if mean:
                case.check("mean: below the threshold nothing fired", counted(daemon, "mean", "captures") == 0 and
                           daemon.metrics().sum("firetower_trigger_evaluations_total", policy="mean") > 20)
    case.finish()


if __name__ == "__main__":
    main()
