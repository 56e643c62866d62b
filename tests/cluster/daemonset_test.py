#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""daemonset_test.py: the daemon as the DaemonSet of k8s/manifests, on a real kubelet.

What the kernel says of its rights; a policy on a Deployment beside an innocent one; a static pod; doctor in the pod;
a pod that is replaced, with its store on the node.
"""

import json
import pathlib
import re
import sys
import time

SUPPORT = pathlib.Path(__file__).resolve().parents[1] / "support"
sys.path += [str(SUPPORT / "real"), str(SUPPORT / "kubernetes")]

import pprof
from case import Case, run
from containers import cgroup_root
from daemon import Daemon
from pods_test import BURN, IMAGE, Truth, container, deployment, pod, shown_pods
from policies_test import policy
from whole_cluster import Cluster, Proxy, wait_for

# <linux/capability.h>: DAC_READ_SEARCH, SYS_PTRACE, SYSLOG, PERFMON, BPF, CHECKPOINT_RESTORE.
CAPABILITIES = sum(1 << bit for bit in (2, 19, 34, 38, 39, 40))
# Checks that fail because of this machine and not of the pod: nobody may change these settings from within one.
OF_THE_MACHINE = {"clock", "perf-mlock"}
HERTZ = 49


class AgentPod(Daemon):
    """The daemon in its pod, asked as one of this machine is."""

    def __init__(self, one, store):
        self.pod = one
        self.url = f"http://127.0.0.1:{Proxy((one['status']['podIP'], 7070)).port}"
        self.store = store
        self.token = "admin-token"

    @property
    def name(self):
        return self.pod["metadata"]["name"]

    def process(self):
        """Its /proc folder here."""
        uid = self.pod["metadata"]["uid"]
        for folder in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if uid in (folder / "cgroup").read_text() and (folder / "comm").read_text() in ("firetowerd\n", "control\n"):
                    return folder
            except OSError:
                pass
        raise RuntimeError("the pod has no firetowerd")


def judge_rights(case, agent):
    """Read from the kernel, not from the manifest."""
    folder = agent.process()
    status = dict(re.findall(r"^(\w+):\s*(.*)$", (folder / "status").read_text(), re.MULTILINE))
    for which in ("CapEff", "CapPrm", "CapBnd"):
        case.check(f"{which} is the six capabilities", int(status[which], 16) == CAPABILITIES, status[which])
    case.check("it gains no more by a program with file capabilities", status["NoNewPrivs"] == "1")
    case.check("a seccomp filter is on", status["Seccomp"] == "2")
    mounts = {}
    for line in (folder / "mountinfo").read_text().splitlines():
        fields = line.split()
        mounts[fields[4]] = fields[5].split(",")
    case.check("its root is read-only", "ro" in mounts["/"])
    case.check("so is /host/cgroup", "ro" in mounts["/host/cgroup"])
    case.check("and the store can be written", "rw" in mounts["/var/lib/firetower"])
    case.figure("writable mounts below /host/cgroup", sum(
        "rw" in options for path, options in mounts.items() if path.startswith("/host/cgroup/")))


def judge_doctor(case, cluster, agent):
    said = json.loads(cluster.kubectl("-n", "firetower", "exec", agent.name, "--", "firetower", "doctor", "-o", "json",
                                      check=False))
    wrong = {one["name"]: one["message"] for one in said["checks"] if one["status"] != "ok"}
    none = wrong.pop("policies", "")
    case.check("doctor in the pod says that there is no policy yet", "nothing is profiled (accepted 0" in none, none)
    case.check("doctor in the pod finds nothing else that is the pod's", set(wrong) <= OF_THE_MACHINE, wrong)
    names = {one["name"] for one in said["checks"]}
    kinds = ("pods", "namespaces", "nodes", "profilingpolicies", "clusterprofilingpolicies")
    case.check("and has looked at every kind it reads", names >= {f"kube-{kind}" for kind in kinds}, sorted(names))


def static_pod(cluster):
    """A file in kubelet's folder; it makes a mirror pod of it, named after the node."""
    spec = pod("static", {"containers": [container("static", "3600")]}, labels={"watched": "yes"})
    path = cluster.folder / "manifests/static.yaml"
    path.write_text(json.dumps(spec))
    return path


def judge_pods(case, agent, truth):
    truth.cluster.namespace("shop")
    truth.cluster.apply(deployment("checkout", 2, "3600"), deployment("innocent", 1, "3600"))
    static = static_pod(truth.cluster)
    pods = wait_for(lambda: len(truth.running("app=checkout")) == 2 and truth.running("app=checkout"))
    mirror = wait_for(lambda: truth.running("watched=yes"))
    case.check("kubelet's mirror is named after the node", set(mirror) == {"static-node-1"}, sorted(mirror))
    wait_for(lambda: truth.running("app=innocent"))
    time.sleep(6)
    case.check("without a policy nothing is shown", not shown_pods(agent), sorted(shown_pods(agent)))
    truth.cluster.apply(policy("checkout", {"workloadRefs": [{"kind": "Deployment", "name": "checkout"}],
                                            "podSelector": {"matchLabels": {"watched": "yes"}}}))
    before = {name: truth.cpu_seconds(one) for name, one in pods.items()}
    wanted = {("shop", name) for name in (*pods, "static-node-1")}
    wait_for(lambda: shown_pods(agent) >= wanted, 20)
    time.sleep(10)
    metrics = agent.metrics()
    for name, one in pods.items():
        spent = truth.cpu_seconds(one) - before[name]
        seen = metrics.sum("firetower_cpu_seconds_total", namespace="shop", pod=name, container="cart")
        case.at_least(f"{name}: CPU under its names, of {spent:.2f} s", seen, 0.7 * spent)
        case.check(f"{name}: its workload is the Deployment", metrics.find(
            "firetower_workload_info", namespace="shop", pod=name, workload_kind="Deployment", workload="checkout"))
    case.at_least("the static pod is under its mirror's name, s of CPU", metrics.sum(
        "firetower_cpu_seconds_total", namespace="shop", pod="static-node-1", container="static"), 1)
    case.check("these are shown, and nothing else", shown_pods(agent) == wanted, sorted(shown_pods(agent)))
    due = HERTZ * sum(truth.cpu_seconds(one) - before[name] for name, one in pods.items())
    profile = agent.profile('{workload="checkout"}')
    case.at_least(f"firetower --server: samples in burn() of the Deployment, of {due:.0f}", sum(
        sample.values[0] for sample in profile.samples if "burn" in sample.names), 0.6 * due)
    static.unlink()
    return pods


def judge_flow(case, cluster):
    """By what the API server counted."""
    level = 'flow_schema="firetower-agents",priority_level="firetower-agents"'
    counted = re.findall(rf"apiserver_flowcontrol_dispatched_requests_total{{{level}}} (\d+)",
                         cluster.kubectl("get", "--raw", "/metrics"))
    case.at_least("requests that the API server took as the agents'", sum(map(int, counted)), 5)


def judge_memory(case, agent):
    """Checks the memory of the pod, its BPF maps and page cache included."""
    root = cgroup_root("v1:memory") or cgroup_root("v2")
    found = next(root.glob(f"kubepods/**/pod{agent.pod['metadata']['uid']}"))
    for name in ("memory.usage_in_bytes", "memory.current"):
        if (found / name).exists():
            case.at_most("MiB of the pod, BPF maps included", int((found / name).read_text()) / 2**20, 512)
    case.figure("MiB resident", f"{agent.metrics().sum('process_resident_memory_bytes') / 2**20:.1f}")
    case.figure("CPU seconds of the daemon so far", f"{agent.metrics().sum('process_cpu_seconds_total'):.2f}")


def stored_seconds(store, names):
    return sum(profile.total("cpu") for space, who, _, profile in pprof.read_store(store)
               if space == "shop" and who in names) / 1e9


def judge_replaced(case, cluster, agent, pods):
    """A pod writes its samples before it ends, on the node; the next one goes on."""
    counted = agent.metrics().sum("firetower_cpu_seconds_total", namespace="shop", container="cart")
    began = time.monotonic()
    cluster.kubectl("-n", "firetower", "delete", "pod", agent.name)
    case.at_most("deleted: it ends in s, of 30", time.monotonic() - began, 20)
    case.at_least(f"its windows are in the store of the node, of {counted:.1f} s", stored_seconds(agent.store, pods),
                  0.95 * counted)
    fresh = AgentPod(cluster.agent_pod(but=agent.name), agent.store)
    wanted = {("shop", name) for name in pods}
    case.check("the next pod takes the policy up", wait_for(lambda: shown_pods(fresh) >= wanted, 30))
    return fresh


def main():
    case = Case("cluster.daemonset")
    with Cluster(case) as cluster:
        burn = cluster.folder / "burn"
        run("cc", "-O1", "-static", "-fno-omit-frame-pointer", "-x", "c", "-o", burn, "-", input=BURN)
        cluster.image(IMAGE, burn)
        began = time.monotonic()
        # Shorter windows, so that a test need not wait a minute for each.
        one = cluster.install("--window-seconds=10", "--slice-milliseconds=500")
        case.figure("s from an empty cluster to a ready agent, image included", f"{time.monotonic() - began:.1f}")
        agent = AgentPod(one, cluster.folder / "firetower")
        judge_rights(case, agent)
        judge_doctor(case, cluster, agent)
        pods = judge_pods(case, agent, Truth(cluster))
        judge_memory(case, agent)
        judge_flow(case, cluster)
        agent = judge_replaced(case, cluster, agent, pods)
        restarts = sum(one["restartCount"] for pod in cluster.pods("firetower")
                       for one in pod["status"]["containerStatuses"])
        case.check("no probe killed it", restarts == 0, restarts)
    case.finish()


if __name__ == "__main__":
    main()
