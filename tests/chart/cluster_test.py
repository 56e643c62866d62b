#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""cluster_test.py: the chart on a real cluster, from a namespace that refuses its agents to its uninstallation."""

import json
import os
import re

from chart import CHART, ROOT, Helm
from case import Case, run
from pods_test import BURN, IMAGE, deployment
from whole_cluster import AGENT_IMAGE, NETWORK, Cluster, wait_for

SPACE = "firetower"
AGENT = "app.kubernetes.io/component=agent"


class ClusterHelm(Helm):
    """In the cluster's own network."""

    def __init__(self, case, cluster):
        super().__init__(case, cluster.folder / "kubeconfig")
        self.prefix = ["nsenter", f"--net={NETWORK}"]
        name, tag = AGENT_IMAGE.split(":")
        self.values = ["--namespace", SPACE, "--set-string", f"image.repository={name},image.tag={tag},image.pullPolicy=Never",
                       "--set", f"agent.spool.hostPath={cluster.folder}/firetower",
                       "--set", "agent.options.window-seconds=10,agent.options.slice-milliseconds=500"]


def ready(cluster, selector):
    return {pod["metadata"]["name"] for pod in cluster.pods(SPACE, "-l", selector) if any(
        one["type"] == "Ready" and one["status"] == "True" for one in pod["status"].get("conditions", []))
        and "deletionTimestamp" not in pod["metadata"]}


def judge_install(case, cluster, helm):
    """The notes' command is what lets the agents in."""
    cluster.namespace(SPACE)
    cluster.kubectl("label", "namespace", SPACE, "pod-security.kubernetes.io/enforce=restricted")
    told = helm.run("install", SPACE, CHART, *helm.values).stdout
    case.check("both hubs run where the namespace is restricted",
               wait_for(lambda: len(ready(cluster, "app.kubernetes.io/name=firetower-hub")) == 2, 90))
    refused = wait_for(lambda: re.search("violates PodSecurity", cluster.kubectl("-n", SPACE, "get", "events")), 30)
    case.check("and the agents are refused", refused and not cluster.pods(SPACE, "-l", AGENT))
    command = re.search(r"kubectl (label .*)$", told, re.MULTILINE).group(1)
    cluster.kubectl(*command.split())
    case.check("after what the notes say they run", wait_for(lambda: ready(cluster, AGENT), 120))
    return told


def judge_first_policy(case, cluster, told):
    cluster.namespace("shop")
    cluster.apply(deployment("checkout", 1, "3600"))
    policy = re.search(r"<<'YAML'\n(.*?)\n  YAML$", told, re.DOTALL | re.MULTILINE).group(1)
    # The namespace is changed to one where something runs.
    cluster.kubectl("apply", "-f", "-", text=policy.replace("namespace: default", "namespace: shop"))
    cluster.kubectl("-n", "shop", "wait", "--for=condition=Ready", "profilingpolicy/first", "--timeout=60s")
    case.check("the notes' policy is ready", True)
    asked = re.search(r"kubectl (-n \S+ exec \S+ -- firetower top functions)$", told, re.MULTILINE).group(1)
    case.check("the notes' question names what burns", wait_for(
        lambda: "burn" in cluster.kubectl(*asked.split(), check=False), 60))


def may(cluster, who, verb, resource, *where):
    """Asks the API server, which has asked its roles. No right is an exit status of 1 beside the word."""
    return cluster.kubectl("auth", "can-i", verb, resource, *where, "--as", who, check=False).strip() == "yes"


def makes_policy(cluster, who, name):
    policy = {"apiVersion": "firetower.dev/v1alpha1", "kind": "ProfilingPolicy", "metadata": {"name": name},
              "spec": {"mode": "General", "general": {"schedule": "Continuous"}, "profiles": [{"type": "CPU"}],
                       "targets": {"podSelector": {"matchLabels": {"app": "checkout"}}}}}
    return "created" in cluster.kubectl("-n", "shop", "create", "-f", "-", "--as", who, text=json.dumps(policy), check=False)


def judge_people(case, cluster, helm):
    """Kubernetes' own roles have policies while rbac.aggregate says so: a controller of its own adds the rules to them."""
    for who in ("edit", "view"):
        cluster.kubectl("-n", "shop", "create", "rolebinding", f"{who}s", f"--clusterrole={who}", f"--user={who}or")
    policies, there = "profilingpolicies.firetower.dev", ("-n", "shop")
    case.check("people have the roles of the namespace", wait_for(lambda: may(
        cluster, "editor", "create", "configmaps", *there) and may(cluster, "viewor", "list", "configmaps", *there), 30))
    case.check("rbac.aggregate off: edit makes no policy", not makes_policy(cluster, "editor", "early")
               and not may(cluster, "editor", "create", policies, *there))
    case.check("and view sees none", not may(cluster, "viewor", "list", policies, *there))

    def turn(on):
        helm.run("upgrade", SPACE, CHART, "--reset-then-reuse-values", "--namespace", SPACE, "--set", f"rbac.aggregate={on}")

    turn("true")
    case.check("rbac.aggregate on: edit makes one", wait_for(lambda: makes_policy(cluster, "editor", "own"), 60))
    case.check("and view sees it", wait_for(lambda: "own" in cluster.kubectl(
        "-n", "shop", "get", policies, "--as", "viewor", check=False), 60))
    case.check("but makes none", not makes_policy(cluster, "viewor", "seen"))
    case.check("edit reads no profiles by it, and has no policy elsewhere or of the cluster", not any((
        may(cluster, "editor", "get", policies, "--subresource=profiles", *there),
        may(cluster, "editor", "create", policies, "-n", SPACE),
        may(cluster, "editor", "create", "clusterprofilingpolicies.firetower.dev"))))
    turn("false")
    case.check("off again: edit makes none", wait_for(lambda: not may(cluster, "editor", "create", policies, *there), 60)
               and not makes_policy(cluster, "editor", "late"))


def judge_upgrade(case, cluster, helm):
    before = ready(cluster, AGENT)
    helm.run("upgrade", SPACE, CHART, "--reset-then-reuse-values", "--namespace", SPACE, "--set",
             "agent.options.log-format=json", "--wait", "--timeout", "120s")
    fresh = wait_for(lambda: ready(cluster, AGENT) - before, 60)
    log = cluster.kubectl("-n", SPACE, "logs", next(iter(fresh)), "--tail=5")
    case.check("an upgrade changes the agents, with the new option", log.startswith("{"), log[:200])
    kept = list((cluster.folder / "firetower").rglob("*.zip"))
    case.check("what the one before kept is there", kept, len(kept))


def judge_uninstall(case, cluster, helm):
    helm.run("uninstall", SPACE, "--namespace", SPACE, "--wait", "--timeout", "90s")
    case.check("uninstall leaves no pod", wait_for(lambda: not cluster.pods(SPACE), 60))
    case.check("and the policy", "first" in cluster.kubectl("-n", "shop", "get", "profilingpolicies"))


def main():
    case = Case("chart.cluster")
    with Cluster(case) as cluster:
        helm = ClusterHelm(case, cluster)
        burn = cluster.folder / "burn"
        run("cc", "-O1", "-static", "-fno-omit-frame-pointer", "-x", "c", "-o", burn, "-", input=BURN)
        cluster.image(IMAGE, burn)
        cluster.agent_image(os.environ.get("FIRETOWER_BUILD", ROOT / "build/dev"))
        told = judge_install(case, cluster, helm)
        judge_first_policy(case, cluster, told)
        judge_people(case, cluster, helm)
        judge_upgrade(case, cluster, helm)
        judge_uninstall(case, cluster, helm)
    case.finish()


if __name__ == "__main__":
    main()
