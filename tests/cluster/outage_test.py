#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""outage_test.py: the API server away, from the daemon's start and in the midst of its work.

It comes back with a compacted history, without a pod that was there, and refusing the token of before. Pods go on all
the while, one of them restarting its container. Nothing may be lost, nothing named wrongly, nothing spin.
FIRETOWER_OUTAGE_SECONDS makes it longer.
"""

import json
import os
import pathlib
import re
import sys
import time

SUPPORT = pathlib.Path(__file__).resolve().parents[1] / "support"
sys.path += [str(SUPPORT / "real"), str(SUPPORT / "kubernetes")]

import pprof
from case import Case, run
from daemon import Daemon, ROOT
from pods_test import BURN, IMAGE, Truth, container, deployment, pod
from whole_cluster import Cluster, Proxy, wait_for

SECONDS = int(os.environ.get("FIRETOWER_OUTAGE_SECONDS", "40"))
HERTZ = 97
ID = re.compile(r"^[0-9a-f]{12}$")
EVERYTHING = """
apiVersion: firetower.dev/v1alpha1
kind: ClusterProfilingPolicy
metadata: {name: everything}
spec:
  mode: General
  targets: {podSelector: {matchLabels: {}}, hostProcesses: Include}
  profiles: [{type: CPU, frequencyHertz: 97}]
  general: {schedule: Continuous}
"""


class Account:
    """The agents' account, with tokens that end with what they are bound to."""

    def __init__(self, cluster, proxy):
        self.cluster = cluster
        self.file = cluster.folder / "token"
        self.count = 0
        path = proxy.kubeconfig(cluster.folder, "agent", "none")
        path.write_text(path.read_text().replace('token: "none"', f'tokenFile: "{self.file}"'))
        self.kubeconfig = path
        self.rotate()

    def rotate(self):
        """Makes a new token as kubelet does, revokes the old one and returns the old one."""
        before = self.file.read_text() if self.file.exists() else ""
        self.count += 1
        name = f"token-{self.count}"
        self.cluster.apply({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name, "namespace": "firetower"}})
        fresh = self.cluster.kubectl("-n", "firetower", "create", "token", "firetower-agent", "--bound-object-kind=Secret",
                                     f"--bound-object-name={name}").strip()
        partial = self.file.with_suffix(".new")
        partial.write_text(fresh)
        partial.rename(self.file)
        if before:
            self.cluster.kubectl("-n", "firetower", "delete", "secret", f"token-{self.count - 1}")
        return before


def watching_seconds(daemon):
    """CPU of the threads that talk to the API server; the others have what the machine runs to do."""
    spent_ns = 0
    for task in pathlib.Path(f"/proc/{daemon.process.pid}/task").iterdir():
        if (task / "comm").read_text() == "watch\n":
            # By the scheduler's account: in ticks of 10 ms a request is nothing.
            spent_ns += int((task / "schedstat").read_text().split()[0])
    return spent_ns / 1e9


class Meter:
    """Meter of the daemon's requests to the API server over a time: it tells whether the daemon spins."""

    def __init__(self, daemon, proxy):
        self.daemon = daemon
        self.proxy = proxy
        self.began = time.monotonic()
        self.connections, self.cpu = proxy.connections, watching_seconds(daemon)

    def judge(self, case, when, most_connections):
        seconds = time.monotonic() - self.began
        case.at_most(f"{when}: connections a second", (self.proxy.connections - self.connections) / seconds,
                     most_connections)
        case.at_most(f"{when}: CPUs of the watching threads", (watching_seconds(self.daemon) - self.cpu) / seconds, 0.01)


def counted(daemon, **labels):
    return daemon.metrics().sum("firetower_cpu_seconds_total", **labels)


def judge_alone(case, daemon, proxy):
    """From the start: alive, at work by its files, and saying what it waits for."""
    meter = Meter(daemon, proxy)
    time.sleep(20)
    meter.judge(case, "never a server, 20 s", 2)
    case.check("it is alive", daemon.answers("/livez"))
    case.check("it is not ready: no pod has a name yet", not daemon.answers("/readyz"))
    doctor = {one["name"]: one for one in json.loads(daemon.cli("doctor", "-o", "json", check=False).stdout)["checks"]}
    case.check("doctor names what is not there", doctor["kube-pods"]["status"] == "warn"
               and "none was ever read" in doctor["kube-pods"]["message"], doctor["kube-pods"]["message"])
    case.check("so does /metrics", daemon.metrics().find("firetower_kube_synced", resource="pods")[0][1] == 0)
    case.at_least("it samples the machine meanwhile, s of CPU", counted(daemon, namespace="-", pod="-"), 0.5)


def judge_joins(case, daemon, proxy, truth):
    proxy.open()
    began = time.monotonic()
    wait_for(lambda: daemon.answers("/readyz"), 60)
    case.at_most("the server came: ready after s", time.monotonic() - began, 45)
    pods = wait_for(lambda: len(truth.running("app=checkout")) == 2 and truth.running("app=checkout"))
    wait_for(lambda: all(counted(daemon, pod=name) > 0 for name in pods), 60)
    return pods


def synced(daemon):
    found = daemon.metrics().find("firetower_kube_synced")
    return bool(found) and all(value == 1 for _, value in found)


def judge_outage(case, cluster, daemon, proxy, account):
    """The server is killed; meanwhile a record goes and history is compacted; it comes back with tokens revoked."""
    old = account.rotate()
    cluster.script("crash", "kube-apiserver")
    case.check("a pod's record is gone meanwhile", cluster.remove_behind("pods/shop/gone") == 1)
    cluster.forget()
    wait_for(lambda: not synced(daemon), 30)
    meter = Meter(daemon, proxy)
    time.sleep(SECONDS)
    meter.judge(case, f"{SECONDS} s without a server", 1.5)
    case.check("it stays ready", daemon.answers("/readyz"))
    cluster.script("again", "kube-apiserver")
    began = time.monotonic()
    wait_for(lambda: cluster.kubectl("get", "--raw", "/readyz", check=False) == "ok", 60)
    case.figure("s until the server was ready", f"{time.monotonic() - began:.1f}")
    began = time.monotonic()
    wait_for(lambda: synced(daemon), 120)
    case.at_most("it is ready: every kind is whole again after s", time.monotonic() - began, 90)
    done = cluster.kubectl("--token", old, "--kubeconfig=/dev/null", f"--server=https://{proxy.server[0]}:6443",
                           "--insecure-skip-tls-verify", "get", "pods", "-A", check=False)
    case.check("the token of before is refused", done == "", done)
    watches = {f"{labels['resource']}/{labels['reason']}": int(value)
               for labels, value in daemon.metrics().find("firetower_kube_watch_restarts_total") if value}
    case.figure("watches that began anew, by reason", watches)


def judge_sums(case, daemon, truth, pods, before):
    """The counts of the daemon since then equal those of the kernel."""
    for name, one in pods.items():
        spent = truth.cpu_seconds(one) - before[name][0]
        seen = counted(daemon, namespace="shop", pod=name, container="cart") - before[name][1]
        case.check(f"{name}: CPU since before the outage", abs(seen - spent) <= 0.1 * spent + 1,
                   f"{seen:.1f} of {spent:.1f} s")


def judge_names(case, daemon):
    """Whatever was stored or shown of the namespace: each container is itself, under its name or, for one that began
    while nobody could say its name, its id."""
    stored = {(space, who, what) for space, who, what, _ in pprof.read_store(daemon.store)}
    shown = {(labels["namespace"], labels["pod"], labels["container"])
             for labels, _ in daemon.metrics().find("firetower_cpu_seconds_total")}
    names = {"checkout": "cart", "restarts": "restarts", "gone": "gone"}
    wrong = [(space, who, what) for space, who, what in stored | shown
             if space == "shop" and what != names[who.split("-")[0]] and not ID.match(what)]
    case.check("no container is under another's name", not wrong, wrong or f"{len(stored | shown)} containers")
    case.figure("containers by their id", sorted(one for one in stored | shown if one[0] == "shop" and ID.match(one[2])))
    comms = {}
    for space, who, _, profile in pprof.read_store(daemon.store):
        for sample in profile.samples:
            if space == "shop":
                comms.setdefault(sample.labels.get("comm", ""), set()).add(who)
    # The runtime's own first steps are in the container's cgroup too, and its pause program.
    others = {comm for comm in comms if comm not in ("program", "pause") and not comm.startswith("runc")}
    case.check("and has no other program's samples", not others, sorted(comms))


def main():
    case = Case("cluster.outage")
    with Cluster(case) as cluster:
        burn = cluster.folder / "burn"
        run("cc", "-O1", "-static", "-fno-omit-frame-pointer", "-x", "c", "-o", burn, "-", input=BURN)
        cluster.image(IMAGE, burn)
        for definition in sorted((ROOT / "crd").glob("firetower.dev_*.yaml")):
            cluster.kubectl("apply", "-f", definition)
        cluster.namespace("shop")
        cluster.apply(*cluster.manifest("00-namespace.yaml"), *cluster.manifest("agent-rbac.yaml"))
        cluster.apply(deployment("checkout", 2, "3600"), pod("gone", {"containers": [container("gone", "0.2", "stay")]}))
        truth, proxy = Truth(cluster), Proxy()
        account = Account(cluster, proxy)
        policies = cluster.folder / "policies.yaml"
        policies.write_text(EVERYTHING)
        proxy.close()
        daemon = Daemon("--kubeconfig", account.kubeconfig, "--node-name", "node-1",
                        "--policy", policies, "--default-frequency-hertz", HERTZ, standalone=False, token=account.file)
        daemon.launch()
        try:
            wait_for(lambda: daemon.answers("/livez"), 20)
            judge_alone(case, daemon, proxy)
            pods = judge_joins(case, daemon, proxy, truth)
            # Two seconds of CPU and a new container, again and again.
            cluster.apply(pod("restarts", {"containers": [container("restarts", "2")]}))
            wait_for(lambda: truth.running("").get("gone"))
            before = {name: (truth.cpu_seconds(one), counted(daemon, pod=name)) for name, one in pods.items()}
            resident = daemon.metrics().sum("process_resident_memory_bytes")
            judge_outage(case, cluster, daemon, proxy, account)
            time.sleep(12)  # the last window
            judge_sums(case, daemon, truth, pods, before)
            grown = (daemon.metrics().sum("process_resident_memory_bytes") - resident) / 2**20
            # It is young: symbols of whatever the machine runs fill their budget, of 32 MiB, and windows theirs.
            case.at_most("MiB that the daemon grew by", grown, 60)
            metrics = daemon.metrics()
            case.check("nothing was lost", not metrics.lost(), metrics.lost())
            case.figure("samples of pods by how their name came", {
                labels["names"]: int(value) for labels, value in metrics.find("firetower_pod_samples_total")})
            judge_names(case, daemon)
        finally:
            daemon.__exit__(*sys.exc_info())
    case.finish()


if __name__ == "__main__":
    main()
