#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""outage_churn_test.py: the API server killed between a thousand pods and a thousand more, twenty a second.

It is away for a minute, and comes back with a compacted history. Meanwhile some pods go on, one has a new container
whose id nobody can tell, the record of another one goes, and those that were just about to end wait for it as a
kubelet does. Nothing may be lost, nothing named wrongly, nothing spin, nothing grow.
FIRETOWER_OUTAGE_SECONDS makes it longer.
"""

import collections
import concurrent.futures
import os
import pathlib
import re
import secrets
import subprocess
import sys
import tempfile
import time

SUPPORT = pathlib.Path(__file__).resolve().parents[1] / "support"
sys.path += [str(SUPPORT / "real"), str(SUPPORT / "kubernetes")]
sys.dont_write_bytecode = True

import kube as api
import pprof
from api_server import ApiServer, find_binaries
from case import Case, run
from containers import cgroup_root
from daemon import Daemon
from outage_test import synced, watching_seconds
from pod_churn_test import BURN, HERTZ, MARK, PODS, PODS_ALONE, Played, churn, judge_profiles, requests, resident
from whole_cluster import wait_for

SECONDS = int(os.environ.get("FIRETOWER_OUTAGE_SECONDS", "60"))
NAMES = ("stays", "renewed", "gone")
ID = re.compile(r"^[0-9a-f]{12}$")

class SteadyPod:
    """A pod that burns a tenth of a CPU all the while, in one container after the other."""

    def __init__(self, played, name):
        self.played, self.name = played, MARK + name
        self.kube = api.from_environment()
        self.outer = played.create(self.kube, self.name)
        self.before = 0.0
        self.begin()
        played.tell(self.kube, self.name, self.identity)

    def begin(self):
        self.identity = secrets.token_hex(32)
        self.inner = self.outer / self.identity
        self.inner.mkdir(parents=True)
        self.process = subprocess.Popen([self.played.burner, self.inner / "cgroup.procs", self.name, "36000", "45000"])

    def end(self):
        self.before = self.cpu_seconds()
        self.process.kill()
        self.process.wait()
        wait_for(lambda: not (self.inner / "cgroup.procs").read_text(), 10)
        self.inner.rmdir()

    def remove(self):
        if self.process.poll() is None:
            self.end()
        self.outer.rmdir()

    def cpu_seconds(self):
        """Returns the CPU time of all its containers, as the kernel counted it."""
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return self.before + (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def counted(daemon, pod):
    return daemon.metrics().sum("firetower_cpu_seconds_total", namespace="default", pod=pod.name)


def judge_outage(case, server, daemon, pods):
    server.crash()
    case.check("a pod's record is gone meanwhile", server.remove_behind(f"pods/default/{pods['gone'].name}") == 1)
    server.forget()
    wait_for(lambda: not synced(daemon), 30)
    began, asked, spent = time.monotonic(), requests(daemon), watching_seconds(daemon)
    time.sleep(5)
    pods["renewed"].end()
    pods["renewed"].begin()
    time.sleep(SECONDS - 5)
    seconds = time.monotonic() - began
    case.at_most(f"{SECONDS} s without a server: requests a second", (requests(daemon) - asked) / seconds, 1.5)
    case.at_least("but it goes on asking, requests", requests(daemon) - asked, SECONDS / 60)
    case.at_most("CPUs of the watching threads", (watching_seconds(daemon) - spent) / seconds, 0.01)
    case.check("it stays ready", daemon.answers("/readyz"))
    pods["gone"].end()
    server.again()
    began = time.monotonic()
    wait_for(lambda: daemon.metrics().sum("firetower_kube_synced", resource="pods"), 120)
    case.figure("pods are whole again, s after the server was ready", f"{time.monotonic() - began:.0f}")
    wait_for(lambda: synced(daemon), 120)
    case.at_most("every kind is whole again, s after the server was ready", time.monotonic() - began, 90)
    pods["renewed"].played.tell(pods["renewed"].kube, pods["renewed"].name, pods["renewed"].identity)


def judge_steady(case, daemon, pods):
    """The stored profiles of steady pods equal the kernel's counts, to their end and under their
    names. /metrics cannot be used: there the series of a container end two minutes after it."""
    stored, comms, containers = collections.Counter(), {}, {}
    for space, who, what, profile in pprof.read_store(daemon.store):
        if who in {one.name for one in pods.values()}:
            stored[who] += profile.total("cpu") / 1e9
            containers.setdefault(who, set()).add(what)
            comms.setdefault(who, set()).update(sample.labels.get("comm", "") for sample in profile.samples)
    for one in pods.values():
        spent, seen = one.before, stored[one.name]
        case.check(f"{one.name}: CPU from its first moment to its last", abs(seen - spent) <= 0.1 * spent + 0.5,
                   f"{seen:.1f} of {spent:.1f} s")
        case.check(f"{one.name} has its own samples, and no other's", comms.get(one.name) == {one.name}, comms.get(one.name))
        wrong = {what for what in containers.get(one.name, ()) if what != "main" and not ID.match(what)}
        case.check(f"{one.name} has its own containers", not wrong, sorted(containers.get(one.name, ())))


def run_all(case, server, daemon, played, pods):
    """Returns the names of those pods whose container's id could be told only after the outage."""
    with concurrent.futures.ThreadPoolExecutor(64) as pool:
        for name in NAMES:
            pods[name] = SteadyPod(played, name)
        wait_for(lambda: all(counted(daemon, one) > 0 for one in pods.values()), 60)
        young = resident(daemon)
        lives = churn(played, pool)
        grown = resident(daemon)
        cut = {f"{MARK}{number}" for number, life in enumerate(lives) if not life.done()}
        case.figure("lives that the server's end cuts", len(cut))
        judge_outage(case, server, daemon, pods)
        began, asked = time.monotonic(), requests(daemon)
        lives += churn(played, pool, first=PODS)
        for life in lives:
            life.result()
        case.at_most("requests a second in the churn after it", (requests(daemon) - asked) / (time.monotonic() - began), 1)
    time.sleep(12)  # the last window
    # Of pods alone, so what else the machine runs has no part in it.
    end = resident(daemon)
    case.figure("MiB of the daemon at first, before the outage, at the end", f"{young:.1f}, {grown:.1f}, {end:.1f}")
    case.at_most("MiB that the daemon grew by", end - young, 40)
    case.at_most("of them since before the outage", end - grown, 15)
    return cut


def main():
    case = Case("cluster.outage-churn")
    case.need("cc")
    binaries = find_binaries()
    if binaries is None:
        case.skip("no etcd and kube-apiserver: set KUBEBUILDER_ASSETS to a folder that holds them")
    work = pathlib.Path(tempfile.mkdtemp(prefix="firetower-churn-"))
    run("cc", "-O1", "-static", "-x", "c", "-o", work / "burner", "-", input=BURN)
    policies = work / "policies.yaml"
    policies.write_text(PODS_ALONE)
    pods = {}
    with ApiServer(binaries) as server:
        os.environ["FIRETOWER_TEST_KUBECONFIG"] = str(server.kubeconfig)
        api.install_definitions(api.from_environment())
        with Daemon("--kubeconfig", server.kubeconfig, "--node-name", "node-1", "--policy", policies,
                    "--default-frequency-hertz", HERTZ, standalone=False) as daemon:
            played = Played(cgroup_root("v1:memory") or cgroup_root("v2"), work / "burner", SECONDS + 60)
            try:
                cut = run_all(case, server, daemon, played, pods)
            finally:
                for one in pods.values():
                    one.remove()
            metrics = daemon.metrics()
            case.figure("samples of pods by how their name came", {
                labels["names"]: int(value) for labels, value in metrics.find("firetower_pod_samples_total")})
            case.figure("watches that began anew, by reason", {
                f"{labels['resource']}/{labels['reason']}": int(value)
                for labels, value in metrics.find("firetower_kube_watch_restarts_total") if value})
            case.check("nothing was lost", not metrics.lost(), metrics.lost())
            daemon.stop()
            judge_steady(case, daemon, pods)
            for one in pods.values():
                del played.uids[one.name]
            judge_profiles(case, daemon, played, cut)
    case.finish()


if __name__ == "__main__":
    main()
