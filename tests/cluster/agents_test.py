#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""agents_test.py: what a policy's status says when agents are gone or crash, and what outlives one that is killed.

Agents and hub are pods of our manifests. A DaemonSet that leaves the node, one whose pod cannot start, and both mended
again; a trigger whose hour is used up, over a SIGKILL and over its own deletion.
"""

import json
import os
import pathlib
import signal
import sys
import time

SUPPORT = pathlib.Path(__file__).resolve().parents[1] / "support"
sys.path += [str(SUPPORT / "real"), str(SUPPORT / "kubernetes")]

from case import Case, run
from daemonset_test import AgentPod
from pods_test import BURN, IMAGE, Truth, deployment
from policies_test import CHECKOUT, policy
from triggers_test import captures, condition, limited, status, trigger, utilization
from whole_cluster import Cluster, wait_for

CAPABILITIES = "/spec/template/spec/containers/0/securityContext/capabilities/add"


def change_agents(cluster, *operations):
    """JSON patches of the DaemonSet."""
    cluster.kubectl("-n", "firetower", "patch", "daemonset", "firetower-agent", "--type=json", "-p", json.dumps(
        [{"op": op, "path": path, **({"value": value} if value is not None else {})} for op, path, value in operations]))


def until_programmed(cluster, name, said, seconds=90):
    """How long until its condition Programmed says so; None when it did not."""
    began = time.monotonic()
    try:
        wait_for(lambda: condition(cluster, name, "Programmed")[0] == said, seconds)
    except TimeoutError:
        return None
    return time.monotonic() - began


def judge_told(case, cluster, what):
    """From now on nobody profiles."""
    took = until_programmed(cluster, "checkout", "False/AgentNotReady")
    case.check(f"{what}: its policies are not Programmed, AgentNotReady", took is not None, condition(cluster, "checkout", "Programmed"))
    case.at_most(f"{what}: s until then", took if took is not None else 999, 60)
    found = status(cluster, "checkout")
    case.check(f"{what}: nor Ready", condition(cluster, "checkout", "Ready")[0] == "False/AgentNotReady")
    case.check(f"{what}: the node counts as stale, and no pod as profiled",
               found["nodes"]["stale"] == 1 and found["pods"] == {"matched": 2, "profiled": 0},
               (found["nodes"], found["pods"]))


def judge_back(case, cluster, what):
    cluster.agent_pod()
    took = until_programmed(cluster, "checkout", "True/Programmed")
    case.check(f"{what}: Programmed again", took is not None, condition(cluster, "checkout", "Programmed"))
    case.at_most(f"{what}: s from its agent's readiness", took if took is not None else 999, 15)
    case.check(f"{what}: Ready again", wait_for(lambda: condition(cluster, "checkout", "Ready")[0] == "True/Ready", 30))


def judge_gone(case, cluster):
    change_agents(cluster, ("add", "/spec/template/spec/nodeSelector/nobody", "here"))
    judge_told(case, cluster, "no agent on the node")
    cluster.apply(policy("late", CHECKOUT))
    took = until_programmed(cluster, "late", "False/AgentNotReady", 60)
    case.check("a policy that comes now does not say that nobody runs its pods", took is not None,
               condition(cluster, "late", "Programmed"))
    change_agents(cluster, ("remove", "/spec/template/spec/nodeSelector/nobody", None))
    judge_back(case, cluster, "an agent on the node")


def judge_crashing(case, cluster):
    """Without CAP_BPF it ends at once, again and again."""
    whole = json.loads(cluster.kubectl("-n", "firetower", "get", "daemonset", "firetower-agent", "-o", "json"))
    held = whole["spec"]["template"]["spec"]["containers"][0]["securityContext"]["capabilities"]["add"]
    change_agents(cluster, ("replace", CAPABILITIES, [one for one in held if one != "BPF"]))
    judge_told(case, cluster, "an agent that crashes")
    states = [one["state"] for pod in cluster.pods("firetower", "-l", "app.kubernetes.io/component=agent")
              for one in pod["status"].get("containerStatuses", [])]
    case.check("which it does", states and all("running" not in one for one in states), states)
    change_agents(cluster, ("replace", CAPABILITIES, held))
    judge_back(case, cluster, "an agent that runs")


def suppressed(agent):
    try:
        return agent.metrics().sum("firetower_trigger_suppressed_total", policy="capped", reason="HourlyCap")
    except OSError:
        return 0  # it starts


def judge_cap(case, cluster):
    """One capture an hour stays one, whatever becomes of the agent and the policy."""
    agent = AgentPod(cluster.agent_pod(), cluster.folder / "firetower")
    capped = trigger("capped", "checkout", utilization("ContainerCPU", 80))
    capped["spec"]["trigger"].update(cooldownSeconds=1, maxCapturesPerHour=1)
    cluster.apply(capped)
    case.check("it fires", len(wait_for(lambda: captures(agent, "capped"), 90)) == 1)
    os.kill(int(agent.process().name), signal.SIGKILL)
    wait_for(lambda: suppressed(agent) == 0, 30)
    case.check("after a SIGKILL it would fire again, and its hour is used up", wait_for(lambda: suppressed(agent) >= 1, 90))
    cluster.kubectl("-n", "shop", "delete", "pfp", "capped")
    time.sleep(3)
    before = suppressed(agent)
    cluster.apply(capped)
    case.check("so it is when it is deleted and applied again", wait_for(lambda: suppressed(agent) > before, 60))
    time.sleep(10)  # a capture ends 5 s after it fires
    found = captures(agent, "capped")
    case.check("one capture in all", len(found) == 1, [str(path) for path, _ in found])


def main():
    case = Case("cluster.agents")
    with Cluster(case) as cluster:
        run("cc", "-O1", "-static", "-fno-omit-frame-pointer", "-x", "c", "-o", cluster.folder / "burn", "-", input=BURN)
        cluster.image(IMAGE, cluster.folder / "burn")
        cluster.install("--window-seconds=10", "--slice-milliseconds=500")
        for name in ("hub-rbac.yaml", "hub.yaml"):
            cluster.apply(*cluster.manifest(name))
        cluster.namespace("shop")
        cluster.kubectl("-n", "firetower", "rollout", "status", "deployment/firetower-hub", "--timeout=60s")
        cluster.apply(limited(deployment("checkout", 2, "3600"), cpu="200m"), policy("checkout", CHECKOUT))
        wait_for(lambda: len(Truth(cluster).running("app=checkout")) == 2)
        try:
            judge_back(case, cluster, "at first")
            judge_gone(case, cluster)
            judge_crashing(case, cluster)
            judge_cap(case, cluster)
        except TimeoutError as error:
            case.check("all came in time", False, error)
            print(cluster.kubectl("-n", "firetower", "logs", "-l", "app.kubernetes.io/name=firetower", "--tail=40", check=False))
    case.finish()


if __name__ == "__main__":
    main()
