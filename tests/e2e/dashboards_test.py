#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""dashboards_test.py: every query of the dashboards has data at a Prometheus that scrapes a daemon with a load, and the hub's
show 0 without one; what is known of the load is what they show; every link is answered; the rules are evaluated.
"""

import pathlib
import sys
import time

SUPPORT = pathlib.Path(__file__).resolve().parents[1] / "support"
sys.path[:0] = [str(SUPPORT / "real"), str(SUPPORT / "dashboards")]

import families
import panels
from case import Case
from containers import CONTAINERS_ONLY, Engine
from daemon import Daemon
from prometheus import Prometheus
from shown import Shown
from triggers import policy, utilization, wait_for

POD = "Firetower / Pod"
CLUSTER = "Firetower / Cluster"
AGENTS = "Firetower / Agent health"
LOAD_SECONDS = 20
# Of toy_shares: what its functions are made to use.
LEAVES = {"leaf_50": 0.5, "leaf_30": 0.3, "leaf_20": 0.2}
REFUSED = "apiVersion: firetower.dev/v1alpha1\nkind: ClusterProfilingPolicy\nmetadata: {name: bad}\nspec: {colour: red}\n"


def judge_functions(case, shown, name):
    """The share of a container's functions by its pod's table: column B is of the container."""
    rows = {
        labels["function"]: value
        for labels, value in shown.answer(POD, "Hottest functions", "B")
        if labels["container"] == name
    }
    for function, share in LEAVES.items():
        seen = rows.get(function, 0)
        case.check(
            f"{function} is {share:.0%} of its container", abs(seen - share) < 0.08, f"{seen:.1%}"
        )


def judge_sums(case, shown):
    kinds = [shown.answer(POD, "Kernel and user", letter)[0][1] for letter in "ABC"]
    case.check("kernel, user and the rest add up to the pod", abs(sum(kinds) - 1) < 0.02, kinds)
    # Of two containers on two CPUs one does nothing but system calls.
    case.check(
        "the kernel's part of the pod is between a fifth and four fifths",
        0.2 < kinds[0] < 0.8,
        kinds[0],
    )
    namespaces = sum(value for _, value in shown.answer(CLUSTER, "CPU by namespace"))
    case.check("the namespaces' parts add up to all", abs(namespaces - 1) < 0.02, namespaces)
    captures = shown.answer(CLUSTER, "Captures in the range")[0][1]
    case.check("the captures are counted", captures > 0, captures)
    refused = shown.answer(CLUSTER, "Policies refused")[0][1]
    # A complaint each: an unknown field, and what it lacks.
    case.check("what is refused is counted", refused >= 1, refused)
    for panel in ("Samples lost", "Profiles dropped"):
        case.figure(panel, shown.answer(AGENTS, panel)[0][1])


def judge_values(case, prometheus, exprs):
    """A misspelt value would never be found, and look like what never happens: those that are asked for are there, at 0."""
    # The host is in no profile here.
    absent = {("firetower_cpu_seconds_total", "pod", "-")}
    asked = {one for expr in exprs for one in families.values_asked(expr)} - absent
    wrong = []
    for name, label, value in sorted(asked):
        if prometheus.label_values(name, "__name__") and value not in prometheus.label_values(
            name, label
        ):
            wrong.append(f'{name}{{{label}="{value}"}}')
    case.at_least("values that matchers have", len(asked), 10)
    case.check("each is one that the daemon has", not wrong, wrong)


def judge_rules(case, prometheus):
    """Their expressions."""
    rules = [rule for group in prometheus.ask("rules")["groups"] for rule in group["rules"]]
    case.at_least("rules", len(rules), 30)
    wrong = [
        f"{rule['name']}: {rule['health']} {rule.get('lastError', '')}"
        for rule in rules
        if rule["health"] != "ok"
    ]
    case.check("each is evaluated", not wrong, wrong)
    # What else the machine does may cost samples, or the daemon time.
    raised = {rule["name"] for rule in rules if rule["type"] == "alerting" and rule["state"] != "inactive"}
    raised -= {"FiretowerSamplesLost", "FiretowerCostsTooMuch"}
    # Half of the load is in the kernel, more where the other half gets less of the machine.
    raised -= {"FiretowerKernelHeavy"}
    case.check(
        "of a daemon that is well, and without a hub, that and the refused policy are all that is told",
        raised == {"FiretowerPolicyRefused", "FiretowerHubAbsent"},
        raised,
    )
    return [rule["query"] for rule in rules]


def main():
    case = Case("e2e.dashboards")
    case.need("prometheus", "runc", "busybox")
    with Engine() as engine:
        folder = engine.work / "policies"
        folder.mkdir()
        one = engine.container("/bin/toy_shares", 3600).start()
        other = engine.container("/bin/toy_syscall", 3600, pod=one.uid).start()
        (folder / "all.yaml").write_text(CONTAINERS_ONLY)
        (folder / "bad.yaml").write_text(REFUSED)
        with Daemon("--policy", folder, window_seconds=5) as daemon:
            rules = sorted((panels.CHART / "rules").glob("*.yaml"))
            with Prometheus({"agents": daemon.port}, rules) as prometheus:
                time.sleep(LOAD_SECONDS)
                # Shortly before the dashboards are looked at: a load that goes on has one capture.
                (folder / "hot.yaml").write_text(
                    policy(
                        "hot",
                        other,
                        utilization("hot", "ContainerCPU", 5, 1),
                        2,
                        5,
                        cooldown=0,
                        most=60,
                    )
                )
                case.check(
                    "the trigger fires",
                    wait_for(lambda: daemon.metrics().sum("firetower_trigger_captures_total"), 15),
                )
                time.sleep(2)
                labels = daemon.metrics().find("firetower_cpu_seconds_total", container=one.name)[
                    0
                ][0]
                wanted = {name: labels[name] for name in ("namespace", "pod")}
                shown = Shown(prometheus, wanted, daemon.url)
                shown.judge(case, panels.queries(), 30, elsewhere=lambda query: query.is_hubs)
                judge_functions(case, shown, one.name)
                judge_sums(case, shown)
                broken = [
                    f"{link}: {why}" for link in panels.links() if (why := shown.follow(link))
                ]
                case.check("every link is answered", not broken, broken)
                rules = judge_rules(case, prometheus)
                judge_values(case, prometheus, [query.expr for query in panels.queries()] + rules)
    case.finish()


if __name__ == "__main__":
    main()
