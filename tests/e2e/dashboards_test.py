#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""dashboards_test.py: every query of the dashboards has series of its own at a Prometheus that scrapes
a daemon with a load, but those that need a cluster, which hub.dashboards has; they show 0 without one.
What is known of the load, of an agent that is down and of what a receiver was pushed is what they show;
every link is answered; the rules are evaluated.
"""

import pathlib
import sys
import time

SUPPORT = pathlib.Path(__file__).resolve().parents[1] / "support"
sys.path[:0] = [str(SUPPORT / name) for name in ("real", "dashboards", "push")]

import evidence
import families
import panels
import receivers
from case import Case
from containers import Engine
from daemon import Daemon, free_port
from prometheus import Prometheus
from shown import Shown
from triggers import policy, utilization, wait_for

POD = "Firetower / Pod"
CLUSTER = "Firetower / Cluster"
AGENTS = "Firetower / Agent health"
LOAD_SECONDS = 20
POLICY = """apiVersion: firetower.dev/v1alpha1
kind: ClusterProfilingPolicy
metadata: {name: containers}
spec:
  mode: General
  targets: {podSelector: {matchLabels: {}}}
  profiles: [{type: CPU, frequencyHertz: 97}, {type: OffCPU}, {type: Lock}, {type: Memory}]
  general: {schedule: Continuous}
"""
# The shares of CPU that the functions of toy_shares use.
LEAVES = {"leaf_50": 0.5, "leaf_30": 0.3, "leaf_20": 0.2}
REFUSED = "apiVersion: firetower.dev/v1alpha1\nkind: ClusterProfilingPolicy\nmetadata: {name: bad}\nspec: {colour: red}\n"
# The host is in no profile here.
ABSENT = {("firetower_cpu_seconds_total", "pod", "-")}


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
    # One of the two containers, on two CPUs, does nothing but system calls.
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
    case.check("the policy that is refused is counted", refused == 1, refused)
    down = [shown.answer(board, "Agents down")[0][1] for board in (CLUSTER, AGENTS)]
    case.check("the agent that does not answer is down", down == [1, 1], down)
    for panel in ("Samples lost", "Profiles dropped"):
        case.figure(panel, shown.answer(AGENTS, panel)[0][1])


def judge_pushed(case, shown, daemon, receiver):
    """Checks that the server received what the daemon says it sent. Windows end meanwhile."""
    # Before the first profile was pushed, and where the range begins before that, there is a 0 without labels.
    pushed = panels.query(AGENTS, "Pushed profiles")

    def sent():
        return any(labels.get("result") == "sent" and rate > 0 for labels, rate in shown.ask(pushed))

    case.check("profiles are shown as sent", wait_for(sent, 30), shown.ask(pushed))
    shown.wait([panels.query(AGENTS, "Waits to be pushed")], 0)
    names = {labels["server"] for labels, _ in shown.answer(AGENTS, "Waits to be pushed") if labels}
    case.check("to this server", names == {receiver.url.split("?")[0]}, names)
    seen = wait_for(
        lambda: len(receiver.lines())
        and len(receiver.lines())
        == daemon.metrics().sum("firetower_push_profiles_total", result="sent"),
        10,
    )
    case.check("as many came as the daemon sent", seen, len(receiver.lines()))


def judge_outage(case, shown, daemon):
    """A file where the store's folder was: what is not stored is shown as failed."""
    failed = panels.query(AGENTS, "Store operations that failed")

    def operations():
        return {labels["operation"] for labels, value in shown.ask(failed) if value > 0}

    before = operations()
    away = daemon.store.with_name("away")
    daemon.store.rename(away)
    daemon.store.touch()
    told = wait_for(operations, 30)
    daemon.store.unlink()
    away.rename(daemon.store)
    case.check("a store that fails is shown", not before and told == {"put"}, (before, told))


def judge_values(case, prometheus, exprs):
    """A misspelt value would never be found, and look like what never happens: those that are asked for are there, at 0."""
    asked = {one for expr in exprs for one in families.values_asked(expr)} - ABSENT
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
    # Other work on the machine may cost samples, or the daemon's time.
    raised = {rule["name"] for rule in rules if rule["type"] == "alerting" and rule["state"] != "inactive"}
    raised -= {"FiretowerSamplesLost", "FiretowerCostsTooMuch"}
    # Half of the load is in the kernel, more where the other half gets less of the machine.
    raised -= {"FiretowerKernelHeavy"}
    case.check(
        "the daemon that is down, the policy and that there is no hub are all that is told",
        raised == {"FiretowerPolicyRefused", "FiretowerHubAbsent", "FiretowerTargetDown"},
        raised,
    )
    return [rule["query"] for rule in rules]


def judge(case, daemon, prometheus, receiver, one):
    labels = daemon.metrics().find("firetower_cpu_seconds_total", container=one.name)[0][0]
    shown = Shown(prometheus, {name: labels[name] for name in ("namespace", "pod")}, daemon.url)
    queries = panels.queries()
    here = [query for query in queries if not query.needs_cluster]
    evidence.judge(case, shown, here, 30, ABSENT)
    elsewhere = [query for query in queries if query.needs_cluster]
    empty = shown.wait(elsewhere, 0)
    case.check("without a cluster the rest shows 0", not empty, empty or len(elsewhere))
    judge_functions(case, shown, one.name)
    judge_sums(case, shown)
    judge_pushed(case, shown, daemon, receiver)
    broken = [f"{link}: {why}" for link in panels.links() if (why := shown.follow(link))]
    case.check("every link is answered", not broken, broken)
    judge_values(case, prometheus, judge_rules(case, prometheus))
    judge_outage(case, shown, daemon)


def main():
    case = Case("e2e.dashboards")
    case.need("prometheus", "runc", "busybox")
    program, why = receivers.built("pyroscope")
    if program is None:
        case.skip(f"tests/support/push/build-receivers pyroscope fails: {why}")
    rules = sorted((panels.CHART / "rules").glob("*.yaml"))
    with Engine() as engine, receivers.running("pyroscope", program) as receiver:
        folder = engine.work / "policies"
        folder.mkdir()
        one = engine.container("/bin/toy_shares", 3600).start()
        other = engine.container("/bin/toy_syscall", 3600, pod=one.uid).start()
        # It waits for locks, and touches no new memory; the other does.
        for program in ("/bin/locks", "/bin/events"):
            engine.container(program, 3600, pod=one.uid).start()
        (folder / "all.yaml").write_text(POLICY)
        (folder / "bad.yaml").write_text(REFUSED)
        with Daemon("--policy", folder, "--push", receiver.url, window_seconds=5) as daemon:
            # And one that nobody answers for: an agent that is down.
            with Prometheus({"agents": [daemon.port, free_port()]}, rules) as prometheus:
                time.sleep(LOAD_SECONDS)
                # Shortly before the dashboards are looked at: a load that goes on has one capture. But Prometheus has to
                # see the counter at 0 before: an increase is between two scrapes.
                rule = utilization("hot", "ContainerCPU", 5, 5)
                (folder / "hot.yaml").write_text(
                    policy("hot", other, rule, 2, 5, cooldown=0, most=60)
                )
                case.check(
                    "the trigger fires",
                    wait_for(lambda: daemon.metrics().sum("firetower_trigger_captures_total"), 20),
                )
                time.sleep(2)
                judge(case, daemon, prometheus, receiver, one)
    case.finish()


if __name__ == "__main__":
    main()
