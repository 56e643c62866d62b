#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`firetower doctor` of a cluster: what it says of the namespace's label and of the agents, with the DaemonSet that is
shipped, Pod Security of a real API server and the real controller's events; and that what it says to do is enough."""

import json
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support" / "real"))
sys.dont_write_bytecode = True

import kube as api
from case import Case, run
from daemon import BIN

SPACE = "/api/v1/namespaces/firetower"
SET = "/apis/apps/v1/namespaces/firetower/daemonsets/firetower-agent"
LABEL = "pod-security.kubernetes.io/enforce"


class Controller:
    """kube-controller-manager with the DaemonSets' controller alone."""

    def __init__(self, program, kubeconfig):
        self.process = subprocess.Popen(
            [program, f"--kubeconfig={kubeconfig}", "--controllers=daemonset-controller", "--leader-elect=false",
             "--secure-port=0"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(timeout=20)


def doctor(context="admin"):
    said = run(BIN / "firetower", "doctor", "-o", "json", "--kubeconfig", os.environ["FIRETOWER_TEST_KUBECONFIG"],
               "--context", context, check=False)
    return {one["name"]: one for one in json.loads(said.stdout)["checks"] if one["name"] != "hub"}


def install(kube):
    """The DaemonSet of k8s/manifests; its account is not asked for by this server."""
    document = next(one for one in api.documents("k8s/manifests/agent.yaml") if one["kind"] == "DaemonSet")
    made = kube.create(api.folder_of(document), document)
    if made.status != 201:
        raise RuntimeError(made.message)


def status_of(kube):
    return kube.get(SET).body.get("status", {})


def pods_of(kube):
    return kube.get(f"{SPACE}/pods").body["items"]


def without_label(case, kube):
    found = doctor()["pod-security"]
    case.check("before there is a namespace it says how to make one",
               found["status"] == "warn" and "kubectl create namespace firetower" in found["fix"], found)
    kube.create("/api/v1/namespaces", {"metadata": {"name": "firetower"}})
    found = doctor()
    case.check("without a DaemonSet the missing label is a warning",
               [one["status"] for one in found.values()] == ["warn", "warn"], found)
    install(kube)
    made = api.until(lambda: len(pods_of(kube)) == 2 and status_of(kube).get("currentNumberScheduled") == 2)
    case.check("the server's default, privileged, lets both agents in", made, status_of(kube))
    found = doctor()
    case.check("then the missing label is no fault", found["pod-security"]["status"] == "ok", found["pod-security"])
    case.check("and pods that no kubelet starts are",
               found["agents"]["status"] == "fail" and found["agents"]["message"].startswith("0 of 2 agents are ready"),
               found["agents"])


def refused(case, kube):
    kube.call("DELETE", f"{SET}?propagationPolicy=Background")
    for pod in pods_of(kube):
        kube.call("DELETE", f"{SPACE}/pods/{pod['metadata']['name']}?gracePeriodSeconds=0")
    kube.merge(SPACE, {"metadata": {"labels": {LABEL: "baseline"}}})
    api.until(lambda: not pods_of(kube) and kube.get(SET).status == 404)
    install(kube)

    def told():
        return "violates PodSecurity" in doctor()["agents"]["message"]

    case.check("what Pod Security says of the pods is told", api.until(told), doctor()["agents"])
    found = doctor()
    case.check("it is a failure, of label and agents",
               [one["status"] for one in found.values()] == ["fail", "fail"], found)
    case.check("the standard is named", '"baseline"' in found["pod-security"]["message"], found["pod-security"])
    case.check("both say the same to do", found["pod-security"]["fix"] == found["agents"]["fix"])
    return found["pod-security"]["fix"]


def mended(case, kube, fix, kubectl):
    words = fix.split()
    run(kubectl, "--kubeconfig", os.environ["FIRETOWER_TEST_KUBECONFIG"], *words[1:])
    found = doctor()["pod-security"]
    case.check("what it said to do sets the label", (words[0], found["status"]) == ("kubectl", "ok"), found)
    case.check("the agents' pods are made then", api.until(lambda: len(pods_of(kube)) == 2, 90), status_of(kube))
    for pod in pods_of(kube):
        path = f"{SPACE}/pods/{pod['metadata']['name']}/status"
        kube.merge(path, {"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}})
    ready = api.until(lambda: doctor()["agents"]["status"] == "ok")
    case.check("and once they are ready nothing is left to say", ready, doctor()["agents"])


def without_rights(case):
    found = doctor("nobody")
    case.check("who may read neither has both skipped by name",
               {name: one["status"] for name, one in found.items()} == {"pod-security": "skip", "agents": "skip"}, found)


def main():
    case = Case("cluster.doctor")
    binaries = pathlib.Path(os.environ["FIRETOWER_TEST_BINARIES"])
    for program in ("kube-controller-manager", "kubectl"):
        if not os.access(binaries / program, os.X_OK):
            case.skip(f"no {program} in {binaries}")
    kube = api.from_environment()
    for name in ("one", "two"):
        kube.create("/api/v1/nodes", {"metadata": {"name": name, "labels": {"kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64"}}})
    with Controller(binaries / "kube-controller-manager", os.environ["FIRETOWER_TEST_KUBECONFIG"]):
        without_label(case, kube)
        fix = refused(case, kube)
        mended(case, kube, fix, binaries / "kubectl")
    without_rights(case)
    case.finish()


if __name__ == "__main__":
    main()
