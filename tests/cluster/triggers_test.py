#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""triggers_test.py: policies in mode Trigger, and one over its budget, as a user of a whole cluster sees them.

Agents and hub are pods of our manifests. A container over its CPU limit, throttled, and killed for memory by its own
limit: an Event, a capture under the pod's names that holds the time before, and a count in the policy's status.
"""

import json
import pathlib
import sys
import time

SUPPORT = pathlib.Path(__file__).resolve().parents[1] / "support"
sys.path += [str(SUPPORT / "real"), str(SUPPORT / "kubernetes")]

import pprof
from case import Case, run
from daemonset_test import AgentPod
from pods_test import BURN, IMAGE, Truth, container, deployment, pod
from whole_cluster import Cluster, wait_for

HOG = "localhost/hog:1"
HOG_SECONDS = 3
EATER = BURN.replace("while (argc > 2) pause();",
                     "for (;;) { volatile char* p = malloc(1 << 20); for (int i = 0; i < 1 << 20; i += 4096) p[i] = 1; }")
BEFORE, AFTER, FOR = 15, 5, 5


def trigger(name, label, rule):
    return {"apiVersion": "firetower.dev/v1alpha1", "kind": "ProfilingPolicy", "metadata": {"name": name, "namespace": "shop"},
            "spec": {"mode": "Trigger", "targets": {"podSelector": {"matchLabels": {"app": label}}},
                     "trigger": {"rules": [{"name": name, **rule}], "armedFrequencyHertz": 49, "cooldownSeconds": 600,
                                 "capture": {"preTriggerSeconds": BEFORE, "durationSeconds": AFTER,
                                             "frequencyHertz": 97, "scope": "Container"}}}}


def utilization(metric, percent):
    return {"metric": metric, "operator": "GreaterThan", "forSeconds": FOR,
            "target": {"type": "Utilization", "utilizationPercent": percent}}


def limited(made, **limits):
    spec = made["spec"].get("template", made)["spec"]
    spec["containers"][0]["resources"] = {"limits": limits}
    return made


def events(cluster, name):
    items = json.loads(cluster.kubectl("-n", "shop", "get", "events.events.k8s.io", "-o", "json"))["items"]
    return [one for one in items if one["reason"] == "TriggerFired" and one["regarding"]["name"] == name]


def captures(agent, name):
    found = [(path, pprof.parse(path.read_bytes())) for path in sorted(agent.store.rglob("capture/**/*.pb.gz"))]
    return [(path, profile) for path, profile in found if f"policy=shop/{name}" in profile.comments]


def status(cluster, name):
    return json.loads(cluster.kubectl("-n", "shop", "get", "pfp", name, "-o", "json")).get("status", {})


def condition(cluster, name, kind):
    for one in status(cluster, name).get("conditions", []):
        if one["type"] == kind:
            return f"{one['status']}/{one['reason']}", one.get("message", "")
    return "", ""


def judge_fired(case, cluster, agent, name, who, metric):
    case.check(f"{name}: it fires, and an Event says so", wait_for(lambda: events(cluster, name), 40))
    one = events(cluster, name)[0]
    case.figure(f"{name}: the Event", one["note"])
    case.check(f"{name}: with the metric, and the pod it is about",
               metric in one["note"] and one["related"]["name"] == who, one.get("related"))
    case.check(f"{name}: kubectl describe shows it",
               metric in cluster.kubectl("-n", "shop", "describe", "pfp", name).split("Events:")[-1])
    found = wait_for(lambda: captures(agent, name), AFTER + 25)
    case.check(f"{name}: one capture, under the pod's names", len(found) == 1 and
               f"namespace=shop pod={who} container=" in found[0][1].comments[0], [str(path) for path, _ in found])
    return found[0][1]


def judge_cpu(case, cluster, agent, truth):
    cluster.apply(limited(deployment("checkout", 1, "3600"), cpu="300m"))
    (who, one), = wait_for(lambda: truth.running("app=checkout")).items()
    time.sleep(BEFORE)
    cluster.apply(trigger("hot", "checkout", utilization("ContainerCPU", 80)),
                  trigger("throttled", "checkout", utilization("ContainerCPUThrottled", 30)))
    applied, spent = time.monotonic(), truth.cpu_seconds(one)
    wait_for(lambda: events(cluster, "hot"), 40)
    took, spent = time.monotonic() - applied, truth.cpu_seconds(one) - spent
    profile = judge_fired(case, cluster, agent, "hot", who, "ContainerCPU")
    case.figure("hot: s from apply to its Event", f"{took:.1f}")
    case.at_least(f"hot: CPU in the capture, of {spent:.2f} s from apply to its Event", profile.total("cpu") / 1e9, 0.8 * spent)
    judge_fired(case, cluster, agent, "throttled", who, "ContainerCPUThrottled")


def judge_oom(case, cluster, agent):
    cluster.apply(trigger("killed", "hog", {"metric": "OOMKill"}))
    time.sleep(2)
    spec = {"restartPolicy": "Never", "containers": [{**container("hog", str(HOG_SECONDS)), "image": HOG}]}
    cluster.apply(limited(pod("hog", spec, labels={"app": "hog"}), memory="64Mi"))

    def reason():
        states = [one.get("state", {}) for one in cluster.pods("shop", "-l", "app=hog")[0]["status"].get("containerStatuses", [])]
        return [one["terminated"]["reason"] for one in states if "terminated" in one]

    case.check("the kernel kills it, says kubelet", wait_for(reason, 40) == ["OOMKilled"], reason())
    profile = judge_fired(case, cluster, agent, "killed", "hog", "OOMKill")
    case.at_least(f"killed: CPU in the capture, of {HOG_SECONDS} s before", profile.total("cpu") / 1e9, 0.7 * HOG_SECONDS)


def judge_budget(case, cluster):
    """A policy whose limits.cpu does not pay for what it asks."""
    cluster.apply({"apiVersion": "firetower.dev/v1alpha1", "kind": "ProfilingPolicy",
                   "metadata": {"name": "dear", "namespace": "shop"},
                   "spec": {"mode": "General", "general": {"schedule": "Continuous"}, "limits": {"cpu": "0.0005"},
                            "profiles": [{"type": "CPU", "frequencyHertz": 999}],
                            "targets": {"podSelector": {"matchLabels": {"app": "checkout"}}}}})
    case.check("a policy over its budget is Degraded", wait_for(
        lambda: condition(cluster, "dear", "Degraded")[0] == "True/BudgetExceeded", 120))
    case.figure("it says", condition(cluster, "dear", "Degraded")[1] or status(cluster, "dear").get("failures"))


def judge_counts(case, cluster):
    began = time.monotonic()
    names = ("hot", "throttled", "killed")

    def counted():
        return all(status(cluster, name).get("captures", {}).get("total") == 1 for name in names)

    case.check("each status counts its capture, in six minutes", wait_for(counted, 360, every=2),
               {name: status(cluster, name).get("captures") for name in names})
    case.figure("s until the last did", f"{time.monotonic() - began:.0f}")
    for name in names:
        case.check(f"{name}: it fired once", len(events(cluster, name)) == 1)


def main():
    case = Case("cluster.triggers")
    with Cluster(case) as cluster:
        for name, image, text in (("burn", IMAGE, BURN), ("hog", HOG, EATER)):
            run("cc", "-O1", "-static", "-fno-omit-frame-pointer", "-x", "c", "-o", cluster.folder / name, "-", input=text)
            cluster.image(image, cluster.folder / name)
        one = cluster.install("--window-seconds=10", "--slice-milliseconds=500")
        agent = AgentPod(one, cluster.folder / "firetower")
        for name in ("hub-rbac.yaml", "hub.yaml"):
            cluster.apply(*cluster.manifest(name))
        cluster.namespace("shop")
        hubs = cluster.kubectl("-n", "firetower", "rollout", "status", "deployment/firetower-hub", "--timeout=60s", check=False)
        case.check("two hubs run as pods", "successfully rolled out" in hubs, hubs)
        try:
            truth = Truth(cluster)
            judge_cpu(case, cluster, agent, truth)
            judge_oom(case, cluster, agent)
            judge_counts(case, cluster)
            judge_budget(case, cluster)
        except TimeoutError as error:
            case.check("all came in time", False, error)
            print(cluster.kubectl("-n", "firetower", "logs", agent.name, "--tail=60", check=False))
    case.finish()


if __name__ == "__main__":
    main()
