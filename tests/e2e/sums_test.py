#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sums_test.py: the metrics of a busy container against each other and against the kernel's own accounting.

Five functions hold 95 % of it. A function gets a series of its own only after two windows, so what is asked of
function="other" is asked of the time after that. What interrupts and a hypervisor take from the container is sampled in it,
mostly under names of the kernel, and the kernel does not count it as the container's: it is not asked of the functions.
"""

import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support" / "real"))

from case import Case, run
from containers import Engine
from daemon import Daemon

SECONDS = 40
SETTLED_SECONDS = 15
HOTSPOT = "firetower_hotspot_cpu_seconds_total"
CONTAINER = "firetower_cpu_seconds_total"


def main():
    case = Case("e2e.sums")
    case.need("runc", "busybox", "promtool")
    with Engine() as engine, Daemon(window_seconds=5) as daemon:
        container = engine.container("/bin/toy_shares", SECONDS, "five").start()
        who = {"namespace": "-", "pod": container.uid, "container": container.name}
        time.sleep(SETTLED_SECONDS)
        early, early_usage = daemon.metrics(), container.usage_seconds()
        while container.is_running():
            time.sleep(0.2)
        usage = container.usage_seconds()
        time.sleep(6)  # A window, so that what a window decides is decided.
        late = daemon.metrics()

        seconds = late.sum(CONTAINER, **who)
        hotspots = late.sum(HOTSPOT, **who)
        case.figure("seconds: cgroup, container series, hotspot series", (usage, seconds, hotspots))
        case.at_most("|Σ hotspots ÷ container - 1|", abs(hotspots / seconds - 1) if seconds else 9, 0.01)
        case.at_most("|container ÷ cgroup's own usage - 1|", abs(seconds / usage - 1), 0.05)
        other = late.sum(HOTSPOT, function="other", **who) - early.sum(HOTSPOT, function="other", **who)
        sampled, used = seconds - early.sum(CONTAINER, **who), usage - early_usage
        case.figure("of these seconds after the first: other, sampled, the cgroup's own", (other, sampled, used))
        case.at_most('share of function="other"', (other - max(0, sampled - used)) / used, 0.10)
        named = {labels["function"] for labels, _ in late.find(HOTSPOT, **who)}
        case.check("the five functions have their series", named >= {f"hot_{i}" for i in range(5)}, sorted(named))
        binaries = {labels["binary"] for labels, _ in late.find(HOTSPOT, function="hot_0", **who)}
        case.check("their binary is the toy", [name.rsplit("/", 1)[-1] for name in binaries] == ["toy_shares"], binaries)

        told = run("promtool", "check", "metrics", input=late.text, check=False)
        case.check("promtool check metrics is clean", told.returncode == 0 and not (told.stdout + told.stderr).strip(),
                   (told.stdout + told.stderr).strip()[:2000])
        case.check("no sample was lost", not late.lost(), late.lost() or "none")
    case.finish()


if __name__ == "__main__":
    main()
