#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""pods_test.py v1:<controller>|v2: real pods of a real kubelet have their names from the first sample on.

A Deployment of two replicas beside another; a container that lives 300 ms; a pod whose object comes 20 s late; the
last window of a deleted pod; a pod that opted out; and no API server at all.
"""

import pathlib
import re
import sys
import time

SUPPORT = pathlib.Path(__file__).resolve().parents[1] / "support"
sys.path += [str(SUPPORT / "real"), str(SUPPORT / "kubernetes")]

import pprof
from case import Case, run
from containers import cgroup_root, cgroup_usage_seconds
from daemon import Daemon
from whole_cluster import Cluster, Proxy, wait_for

IMAGE = "firetower.test/burn:1"
HERTZ = 97
UID = re.compile(r"^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}$")
# Burns so many seconds of CPU, then ends, or with a second argument waits to be ended.
BURN = r"""
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
static volatile unsigned long sink;
static double spent(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}
__attribute__((noinline)) static void burn(double until) {
  do
    for (int i = 0; i < 20000; i++) sink += (unsigned long)i;
  while (spent() < until);
}
int main(int argc, char** argv) {
  burn(atof(argv[1]));
  while (argc > 2) pause();
  return 0;
}
"""


def container(name, *arguments):
    return {"name": name, "image": IMAGE, "imagePullPolicy": "Never", "args": list(arguments)}


def pod(name, spec, **metadata):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "shop", **metadata},
            "spec": {"terminationGracePeriodSeconds": 1, **spec}}


def deployment(name, replicas, *arguments):
    labels = {"app": name}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name, "namespace": "shop"},
            "spec": {"replicas": replicas, "selector": {"matchLabels": labels},
                     "template": {"metadata": {"labels": labels},
                                  "spec": {"terminationGracePeriodSeconds": 1,
                                           "containers": [container("cart", *arguments)]}}}}


class Truth:
    """Truth about pods from Kubernetes and the kernel; nothing of it comes from the daemon."""

    def __init__(self, cluster):
        self.cluster = cluster
        self.root = (cgroup_root("v1:cpuacct") or cgroup_root("v2")) / cluster.cgroup_root[1:]

    def uid(self, name):
        return self.cluster.kubectl("-n", "shop", "get", "pod", name, "-o", "jsonpath={.metadata.uid}")

    def running(self, label):
        found = [one for one in self.cluster.pods("shop", "-l", label) if one["status"]["phase"] == "Running"]
        return {one["metadata"]["name"]: one for one in found}

    def cpu_seconds(self, one):
        """CPU of the pod's first container since it began."""
        identity = one["status"]["containerStatuses"][0]["containerID"].split("//")[1]
        found = next(self.root.glob(f"kubepods/*/pod{one['metadata']['uid']}/{identity}"), None)
        return cgroup_usage_seconds(found) if found else 0.0


def shown_pods(daemon):
    return {(labels["namespace"], labels["pod"]) for labels, _ in daemon.metrics().find("firetower_cpu_seconds_total")}


def stored_cpu_seconds(daemon, name):
    return sum(profile.total("cpu") for space, who, what, profile in pprof.read_store(daemon.store)
               if (space, who) == ("shop", name) and len(what) < 12) / 1e9


def judge_deployment(case, daemon, truth):
    truth.cluster.apply(deployment("checkout", 2, "3600"), deployment("innocent", 1, "0.05", "stay"))
    pods = wait_for(lambda: len(truth.running("app=checkout")) == 2 and truth.running("app=checkout"))
    time.sleep(8)
    spent = {name: truth.cpu_seconds(one) for name, one in pods.items()}
    metrics = daemon.metrics()
    for name in pods:
        seen = metrics.sum("firetower_cpu_seconds_total", namespace="shop", pod=name, container="cart")
        case.check(f"{name}: its CPU since its first moment is under its names", seen >= 0.75 * spent[name],
                   f"{seen:.2f} of {spent[name]:.2f} s")
        case.check(f"{name}: its workload is the Deployment", metrics.find(
            "firetower_workload_info", namespace="shop", pod=name, workload_kind="Deployment", workload="checkout"))
        profile = daemon.profile(f'{{namespace="shop",pod="{name}",container="cart"}}')
        burning = sum(sample.values[0] for sample in profile.samples if "burn" in sample.names)
        case.at_least(f"{name}: samples in burn()", burning, 0.75 * spent[name] * HERTZ)
    both = daemon.profile('{workload="checkout"}').total("cpu") / 1e9
    case.at_least("the selector workload=\"checkout\" finds both, s", both, 0.75 * sum(spent.values()))
    case.at_most("and not the other Deployment, s", both, 1.1 * (sum(spent.values()) + 2))


def judge_brief(case, daemon, truth):
    truth.cluster.apply(pod("brief", {"restartPolicy": "Never", "containers": [container("brief", "0.3")]}))
    wait_for(lambda: truth.cluster.pods("shop", "--field-selector=metadata.name=brief,status.phase=Succeeded"))
    truth.cluster.kubectl("-n", "shop", "delete", "pod", "brief")
    # Its window ends, and waits for nothing that is still to come.
    seen = wait_for(lambda: daemon.profile('{namespace="shop",pod="brief",container="brief"}').samples, 75)
    # By its task: nobody may have been in time to read the symbols of a program that is gone.
    count = sum(sample.values[0] for sample in seen if sample.labels.get("comm") == "program")
    case.check("a container of 300 ms that was deleted at once has its 29 samples", 23 <= count <= 35, count)


def judge_late(case, daemon, truth, proxy):
    proxy.delay_seconds = 20.0
    truth.cluster.apply(pod("late", {"containers": [container("late", "3600")]}))
    one = wait_for(lambda: truth.running("").get("late"))
    uid = one["metadata"]["uid"]
    began = time.monotonic()
    time.sleep(14)
    names = shown_pods(daemon)
    case.check("before its object comes nothing is shown under any name of it",
               not any(uid in who or who == "late" for _, who in names), sorted(names))
    wait_for(lambda: ("shop", "late") in shown_pods(daemon), 30)
    after = time.monotonic() - began
    case.check("the object came some 20 s late", after > 15, f"{after:.1f} s")
    spent = truth.cpu_seconds(one)
    seen = daemon.metrics().sum("firetower_cpu_seconds_total", namespace="shop", pod="late", container="late")
    case.check("then everything since its first sample is under its name", seen >= 0.75 * (spent - 2),
               f"{seen:.2f} of {spent:.2f} s")
    proxy.delay_seconds = 0.0
    return one


def judge_deleted(case, daemon, truth, one):
    name = one["metadata"]["name"]
    spent = truth.cpu_seconds(one)
    truth.cluster.kubectl("-n", "shop", "delete", "pod", name)
    wait_for(lambda: stored_cpu_seconds(daemon, name) >= 0.75 * spent, 75)
    time.sleep(12)  # one window more: what else might come
    seen, total = stored_cpu_seconds(daemon, name), daemon.metrics().sum(
        "firetower_cpu_seconds_total", namespace="shop", pod=name, container=name)
    case.check("a deleted pod's windows are stored to the last, under its name", abs(seen - total) < 0.3,
               f"{seen:.2f} s stored, {total:.2f} s counted, {spent:.2f} s spent before its deletion")


def judge_opted_out(case, daemon, truth):
    truth.cluster.apply(pod("private", {"containers": [container("private", "3600")]},
                            labels={"firetower.dev/profile": "false"}))
    wait_for(lambda: truth.running("").get("private"))
    time.sleep(10)
    case.check("a pod with the label firetower.dev/profile=false is not shown",
               not any(who == "private" for _, who in shown_pods(daemon)))
    case.at_least("its samples are counted as left out",
                  daemon.metrics().sum("firetower_pod_samples_total", names="opted_out"), HERTZ)


def judge_away(case, daemon, truth, proxy):
    proxy.close()
    wait_for(lambda: daemon.metrics().sum("firetower_kube_synced", resource="pods") == 0, 30)
    pods = truth.running("app=checkout").values()

    def both():
        seen = daemon.metrics().sum("firetower_cpu_seconds_total", namespace="shop", container="cart")
        return seen, sum(map(truth.cpu_seconds, pods))

    seen, spent = both()
    time.sleep(6)
    later_seen, later_spent = both()
    case.at_least("with the API server away known pods go on under their names, s", later_seen - seen,
                  0.7 * (later_spent - spent) - 0.5)
    case.check("the daemon stays ready", daemon.answers("/readyz"))
    case.check("doctor says what is away", "kube-pods" in daemon.cli("doctor", check=False).stdout)


def judge_names(case, daemon):
    """Whatever is stored or shown: no pod of this cluster stands under its uid."""
    stored = {(space, who) for space, who, _, _ in pprof.read_store(daemon.store)} | shown_pods(daemon)
    stray = sorted(who for space, who in stored if space == "-" and UID.match(who))
    case.check("nothing is anywhere under a pod's uid", not stray, stray or f"{len(stored)} pods")


def main():
    hierarchy = sys.argv[1]
    case = Case(f"cluster.pods-{hierarchy[:2]}")
    if cgroup_root(hierarchy) is None:
        case.skip(f"{hierarchy} is not mounted")
    with Cluster(case) as cluster:
        burn = cluster.folder / "burn"
        run("cc", "-O1", "-static", "-fno-omit-frame-pointer", "-x", "c", "-o", burn, "-", input=BURN)
        cluster.image(IMAGE, burn)
        cluster.namespace("shop")
        proxy, truth = Proxy(), Truth(cluster)
        with Daemon("--kubeconfig", proxy.kubeconfig(cluster.folder), "--node-name", "node-1",
                    "--cgroup-hierarchy", hierarchy) as daemon:
            judge_brief(case, daemon, truth)
            judge_deployment(case, daemon, truth)
            judge_deleted(case, daemon, truth, judge_late(case, daemon, truth, proxy))
            judge_opted_out(case, daemon, truth)
            judge_names(case, daemon)
            judge_away(case, daemon, truth, proxy)
            case.figure("samples of pods by how their name came", {
                labels["names"]: int(value) for labels, value in daemon.metrics().find("firetower_pod_samples_total")})
    case.finish()


if __name__ == "__main__":
    main()
