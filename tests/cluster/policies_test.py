#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""policies_test.py: a ProfilingPolicy on a real cluster profiles the pods it takes, from their first sample, and no other.

One Deployment that a policy takes beside another that burns as much; a pod that comes later, and one whose object
comes late; a policy of another namespace; the policy deleted.
"""

import os
import pathlib
import sys
import time

SUPPORT = pathlib.Path(__file__).resolve().parents[1] / "support"
sys.path += [str(SUPPORT / "real"), str(SUPPORT / "kubernetes")]

from case import Case, run
from daemon import Daemon, ROOT
from pods_test import BURN, IMAGE, Truth, deployment, shown_pods, stored_cpu_seconds
from whole_cluster import Cluster, Proxy, wait_for

CHECKOUT = {"workloadRefs": [{"kind": "Deployment", "name": "checkout"}]}


def policy(name, targets, namespace="shop"):
    return {"apiVersion": "firetower.dev/v1alpha1", "kind": "ProfilingPolicy",
            "metadata": {"name": name, "namespace": namespace},
            "spec": {"mode": "General", "general": {"schedule": "Continuous"}, "targets": targets}}


def shown_seconds(daemon):
    """CPU of all pods, as sampled so far."""
    return daemon.metrics().sum("firetower_cpu_seconds_total", namespace="shop")


def judge_targets(case, daemon, truth):
    truth.cluster.apply(deployment("checkout", 2, "3600"), deployment("innocent", 1, "3600"))
    pods = wait_for(lambda: len(truth.running("app=checkout")) == 2 and truth.running("app=checkout"))
    wait_for(lambda: truth.running("app=innocent"))
    time.sleep(6)
    case.check("without a policy nothing is shown", not shown_pods(daemon), sorted(shown_pods(daemon)))
    # All pods of a namespace that has none of these.
    truth.cluster.apply(policy("all", {"podSelector": {"matchLabels": {}}}, "front"))
    began = time.monotonic()
    before = {name: truth.cpu_seconds(one) for name, one in pods.items()}
    truth.cluster.apply(policy("checkout", CHECKOUT))
    wait_for(lambda: shown_pods(daemon) >= {("shop", name) for name in pods}, 20)
    case.at_most("from kubectl apply to its pods on /metrics, s", time.monotonic() - began, 5)
    time.sleep(8)
    metrics = daemon.metrics()
    for name, one in pods.items():
        spent = truth.cpu_seconds(one) - before[name]
        seen = metrics.sum("firetower_cpu_seconds_total", namespace="shop", pod=name, container="cart")
        case.at_least(f"{name}: CPU since the policy, of {spent:.2f} s", seen, 0.7 * spent)
    case.check("its pods are shown, and nothing else", shown_pods(daemon) == {("shop", name) for name in pods},
               sorted(shown_pods(daemon)))
    return pods


def judge_newcomer(case, daemon, truth, proxy, known, delay):
    """One more replica, whose object reaches the daemon so much later."""
    proxy.delay_seconds = delay
    truth.cluster.kubectl("-n", "shop", "scale", "deployment", "checkout", f"--replicas={len(known) + 1}")
    fresh = wait_for(lambda: set(truth.running("app=checkout")) - set(known)).pop()
    one = truth.running("app=checkout")[fresh]
    wait_for(lambda: ("shop", fresh) in shown_pods(daemon), 30 + delay)
    spent = truth.cpu_seconds(one)
    time.sleep(2)
    seen = daemon.metrics().sum("firetower_cpu_seconds_total", namespace="shop", pod=fresh, container="cart")
    case.at_least(f"a pod whose object comes {delay:g} s late: its CPU since its first sample, of {spent:.2f} s",
                  seen, 0.75 * spent)
    proxy.delay_seconds = 0.0
    return {**known, fresh: one}


def judge_innocent(case, daemon, truth):
    """A pod that no policy takes was sampled while that was open; nothing of it is kept."""
    truth.cluster.kubectl("-n", "shop", "scale", "deployment", "innocent", "--replicas=2")
    names = wait_for(lambda: len(truth.running("app=innocent")) == 2 and truth.running("app=innocent"))
    time.sleep(12)
    case.check("a new pod that no policy takes is not shown", not {("shop", name) for name in names} & shown_pods(daemon))
    stored = sum(stored_cpu_seconds(daemon, name) for name in names)
    case.check("nor stored", stored == 0, f"{stored:.2f} s")


def judge_silence(case, daemon, what):
    """From 2 s after it nothing is sampled any more, though three pods burn."""
    time.sleep(2)
    before = shown_seconds(daemon)
    time.sleep(4)
    case.at_most(f"{what}: CPU sampled in 4 s, from 2 s after it", shown_seconds(daemon) - before, 0.05)
    return before


def judge_edit(case, daemon, truth):
    def patch(spec):
        truth.cluster.kubectl("-n", "shop", "patch", "pfp", "checkout", "--type=merge", "-p", spec)

    patch('{"spec":{"suspend":true}}')
    before = judge_silence(case, daemon, "suspended")
    patch('{"spec":{"suspend":false}}')
    case.check("resumed: it samples again", wait_for(lambda: shown_seconds(daemon) > before + 0.5, 20))
    # While there is another policy a pod that it takes may come at any moment, and is sampled from its first.
    truth.cluster.kubectl("-n", "front", "delete", "pfp", "all")
    time.sleep(3)
    case.at_least("perf events open before it is deleted, one a CPU at least", daemon.perf_events(), os.cpu_count())
    began = time.monotonic()
    truth.cluster.kubectl("-n", "shop", "delete", "pfp", "checkout")
    wait_for(lambda: not daemon.perf_events(), 20, every=0.02)
    case.at_most("from the start of kubectl delete until no perf event is open, s", time.monotonic() - began, 2)
    judge_silence(case, daemon, "deleted")


def main():
    case = Case("cluster.policies")
    with Cluster(case) as cluster:
        burn = cluster.folder / "burn"
        run("cc", "-O1", "-static", "-fno-omit-frame-pointer", "-x", "c", "-o", burn, "-", input=BURN)
        cluster.image(IMAGE, burn)
        for name in ("shop", "front"):
            cluster.namespace(name)
        for definition in sorted((ROOT / "crd").glob("firetower.dev_*.yaml")):
            cluster.kubectl("apply", "-f", definition)
        cluster.kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=30s")
        proxy, truth = Proxy(), Truth(cluster)
        with Daemon("--kubeconfig", proxy.kubeconfig(cluster.folder),
                    "--node-name", "node-1", standalone=False) as daemon:
            pods = judge_targets(case, daemon, truth)
            pods = judge_newcomer(case, daemon, truth, proxy, pods, 0)
            judge_newcomer(case, daemon, truth, proxy, pods, 20)
            judge_innocent(case, daemon, truth)
            judge_edit(case, daemon, truth)
    case.finish()


if __name__ == "__main__":
    main()
