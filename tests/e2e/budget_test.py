#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""budget_test.py: the daemon keeps within limits.cpu of its policies, and what it still shows is true.

Two policies have limits that do not pay for what they ask. The one of lower priority is lowered, /metrics and the
log say so, the CPU time shown stays that of the cgroup; with a budget that suffices the rate rises again.
"""

import os
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support" / "real"))

from case import Case
from containers import Engine
from daemon import Daemon

POLICY = """apiVersion: firetower.dev/v1alpha1
kind: ClusterProfilingPolicy
metadata:
  name: {name}
spec:
  mode: General
  targets:
    podSelector: {{matchLabels: {{}}}}
    containers: {{include: [{containers}]}}
  profiles: [{{type: CPU, frequencyHertz: {hertz}}}]
  general: {{schedule: Continuous}}
  priority: {priority}
{limits}
"""


PART = 0.65  # of what they cost without limits
# Rates rise a step at a time, for some five minutes: hack/test soak waits for that.
RECOVERS = "FIRETOWER_BUDGET_RECOVERS" in os.environ


def own_seconds(metrics):
    return metrics.sum("firetower_overhead_cpu_seconds_total")


def shown_seconds(metrics, container):
    return metrics.sum("firetower_cpu_seconds_total", container=container.name)


def watch(daemon, containers, seconds):
    """Over the next seconds: the daemon's own cost, in cores, and of each container shown CPU ÷ the cgroup's own."""
    before, used, begin = daemon.metrics(), [c.usage_seconds() for c in containers], time.monotonic()
    time.sleep(seconds)
    after, took = daemon.metrics(), time.monotonic() - begin
    ratios = [(shown_seconds(after, c) - shown_seconds(before, c)) / (c.usage_seconds() - was)
              for c, was in zip(containers, used)]
    return (own_seconds(after) - own_seconds(before)) / took, ratios


def await_rates(daemon, rate, count, seconds):
    """The seconds until that many policies get such a rate; None if they do not in time."""
    begin = time.monotonic()
    while time.monotonic() - begin < seconds:
        if daemon.metrics().sum("firetower_governed_policies", rate=rate) == count:
            return time.monotonic() - begin
        time.sleep(1)
    return None


def main():
    case = Case("e2e.budget")
    case.need("runc", "busybox")
    with Engine() as engine:
        # Stacks that cost something: of a cost that the rates do not move, no rate is a part.
        one = engine.container("/bin/toy_deep_bare", 3600, 1, 60).start()
        two = engine.container("/bin/toy_deep_bare", 3600, 1, 60).start()
        # Reading the kernel's symbols counts once, and is to be over when the cost is taken.
        syscalls = engine.container("/bin/toy_syscall", 6).start()
        folder = engine.work / "policies"
        folder.mkdir()

        def write(cores=None):
            for name, shown, hertz, priority in (("high", (one, syscalls), 97, 5), ("low", (two,), 999, 0)):
                limits = f'  limits: {{cpu: "{cores / 2:.9f}"}}' if cores else ""
                (folder / f"{name}.yaml").write_text(POLICY.format(
                    name=name, containers=", ".join(f'"{container.name}"' for container in shown),
                    hertz=hertz, priority=priority, limits=limits))

        write()
        with Daemon("--policy", folder) as daemon:
            time.sleep(15)
            full, _ = watch(daemon, (one, two), 20)
            case.figure("own cost without limits, m CPU", f"{full * 1e3:.3f}")
            budget = PART * full
            write(budget)
            took = await_rates(daemon, "lowered", 1, 60)
            case.check("one policy is lowered, within a minute", took is not None, f"after {took or 60:.0f} s")
            if took is None:
                print(daemon.log()[-2000:])
                case.finish()
            lines = [line for line in daemon.log().splitlines() if "policy lowered" in line]
            case.check("the log names it, and what it gets", lines and all("low\"" in line for line in lines), lines[:1])
            case.check("it is the one of lower priority, and nobody else",
                       daemon.metrics().sum("firetower_governed_policies", rate="full") == 1)
            time.sleep(25)
            cores, ratios = watch(daemon, (one, two), 30)
            case.at_most("own cost ÷ limits.cpu together", cores / budget, 1.25)
            for name, ratio in zip(("full rate", "lowered"), ratios):
                case.check(f"CPU shown ÷ the cgroup's own, container at {name}", 0.85 <= ratio <= 1.15, f"{ratio:.3f}")
            if not RECOVERS:
                case.finish()
            before = daemon.metrics().sum("firetower_governor_steps_total")
            write(2)
            took = await_rates(daemon, "full", 2, 500)
            case.check("with a budget that suffices it gets back all it asked for", took is not None, f"{took or 500:.0f} s")
            case.figure("steps down in all", f"{before:.0f}")
            _, ratios = watch(daemon, (one, two), 10)
            case.check("CPU shown ÷ the cgroup's own, both at full rate", all(0.85 <= r <= 1.15 for r in ratios),
                       ", ".join(f"{r:.3f}" for r in ratios))
    case.finish()


if __name__ == "__main__":
    main()
