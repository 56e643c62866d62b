#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""storm_test.py: a fork storm in a container, of processes that live a few milliseconds, for 30 s.

A sample is right when it lies in the storm's container and each of its user frames is known: by name, or at least by
module. Samples of the kernel alone (fork, exec, exit) have no user frame to know.
"""

import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support" / "real"))

import pprof
from case import Case
from containers import Engine
from daemon import Daemon

SECONDS = 30


def main():
    case = Case("e2e.storm")
    case.need("runc", "busybox")
    with Engine() as engine, Daemon() as daemon:
        container = engine.container("/bin/toy_storm", SECONDS, 2, 0, engine.marked("toy_short"), 5000)
        output = container.bundle.with_suffix(".out")
        with open(output, "w") as out:
            container.start(stdout=out)
        while container.is_running():
            time.sleep(0.2)
        usage = container.usage_seconds()
        time.sleep(1)
        metrics = daemon.metrics()
        status, _ = daemon.stop()
        case.at_least("processes a second", int(output.read_text()) / SECONDS, 30)

        right = elsewhere = unknown = 0
        strange, astray = {}, {}
        for namespace, pod, name, profile in pprof.read_store(daemon.store):
            mine = (namespace, pod, name) == ("-", container.uid, container.name)
            for sample in profile.samples:
                count = sample.values[0]
                stack = " ".join(frame.name or hex(frame.address) for frame in sample.stack)
                if not mine:
                    if any(engine.mark in frame.module for frame in sample.stack):
                        elsewhere += count
                        key = f"{namespace}/{pod}/{name}: {stack}"
                        astray[key] = astray.get(key, 0) + count
                elif any(not frame.module and not frame.is_named for frame in sample.stack):
                    unknown += count
                    strange[stack] = strange.get(stack, 0) + count
                else:
                    right += count
        total = right + elsewhere + unknown
        case.at_least("samples of the storm", total, 500)
        case.at_least("share attributed with its mappings known", right / max(total, 1), 0.99)
        case.figure("right, elsewhere, unknown", (right, elsewhere, unknown))
        for what, found in (("unknown frames", strange), ("elsewhere", astray)):
            for key in sorted(found, key=found.get, reverse=True)[:5]:
                case.figure(what, f"{found[key]} × {key}")
        case.at_least("CPU in samples ÷ CPU of the cgroup", total / 97 / usage, 0.95)
        case.check("no sample was lost at 97 Hz", not metrics.lost(), metrics.lost() or "none")
        case.figure("in exec", metrics.sum("firetower_samples_lost_total", reason="exec"))
        case.check("the daemon left with 0", status == 0, status)
    case.finish()


if __name__ == "__main__":
    main()
