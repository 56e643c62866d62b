#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""cli_test.py: `firetower policies` and `firetower record` on a real cluster, by people of several rights.

What each policy does about a pod, and why; a recording from its policy to its profile, one that is interrupted, and
what is said where something is missing.
"""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time

SUPPORT = pathlib.Path(__file__).resolve().parents[1] / "support"
sys.path += [str(SUPPORT / "real"), str(SUPPORT / "kubernetes")]

import pprof
from case import Case, run
from daemon import BIN, Daemon, ROOT
from pods_test import BURN, IMAGE, Truth, container, deployment, pod
from policies_test import policy
from whole_cluster import Cluster, Proxy, wait_for

CHECKOUT = {"workloadRefs": [{"kind": "Deployment", "name": "checkout"}]}
# Rights of a person of a team: no more than the namespace.
DEVELOPER = [
    {"apiGroups": ["firetower.dev"], "resources": ["profilingpolicies"], "verbs": ["get", "list", "create", "delete"]},
    {"apiGroups": ["firetower.dev"], "resources": ["profilingpolicies/profiles"], "verbs": ["get"]},
    {"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list"]},
]


class Person:
    """Runs `firetower` with a kubeconfig of its own."""

    def __init__(self, kubeconfig, server, token=""):
        self.words = ["--kubeconfig", str(kubeconfig), "--namespace", "shop"]
        self.server = server
        self.environment = {**os.environ, "FIRETOWER_TOKEN": token}

    def command(self, *arguments):
        return [str(BIN / "firetower"), *map(str, arguments[:1]), *self.words, "--server", self.server,
                *map(str, arguments[1:])]

    def run(self, *arguments, timeout=150):
        return run(*self.command(*arguments), timeout=timeout, check=False, env=self.environment)

    def verdicts(self, name):
        said = self.run("policies", "--pod", name, "-o", "json")
        return {one["name"]: one for one in json.loads(said.stdout)["policies"]}


def account(cluster, name, rules):
    """Makes an account in namespace shop and returns its token."""
    about = {"name": name, "namespace": "shop"}
    group = "rbac.authorization.k8s.io"
    cluster.apply({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": about},
                  {"apiVersion": f"{group}/v1", "kind": "Role", "metadata": about, "rules": rules},
                  {"apiVersion": f"{group}/v1", "kind": "RoleBinding", "metadata": about,
                   "roleRef": {"apiGroup": group, "kind": "Role", "name": name},
                   "subjects": [{"kind": "ServiceAccount", **about}]})
    return cluster.kubectl("-n", "shop", "create", "token", name).strip()


def install(cluster):
    for definition in sorted((ROOT / "crd").glob("firetower.dev_*.yaml")):
        cluster.kubectl("apply", "-f", definition)
    cluster.kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=30s")


def with_spec(one, **spec):
    return {**one, "spec": {**one["spec"], **spec}}


def apply_policies(cluster):
    everything = policy("platform", {"podSelector": {"matchLabels": {}},
                                     "namespaceSelector": {"matchLabels": {"team": "front"}}})
    everything["kind"] = "ClusterProfilingPolicy"
    del everything["metadata"]["namespace"]
    checkout = policy("checkout", CHECKOUT)
    cluster.apply(
        checkout, everything, with_spec(policy("paused", CHECKOUT), suspend=True),
        with_spec(policy("elsewhere", CHECKOUT), nodeSelector={"matchLabels": {"disk": "none"}}),
        policy("others", {"workloadRefs": [{"kind": "Deployment", "name": "innocent"}]}),
        policy("sidecars", {**CHECKOUT, "containers": {"include": ["proxy"]}}))


def judge_list(case, admin, developer):
    done = admin.run("policies", "-o", "json")
    found = {(one["kind"], one["namespace"], one["name"]) for one in json.loads(done.stdout)["policies"]}
    wanted = {("ProfilingPolicy", "shop", name) for name in ("checkout", "paused", "elsewhere", "others", "sidecars")}
    case.check("policies: those of the namespace and of the cluster",
               found == wanted | {("ClusterProfilingPolicy", "", "platform")}, sorted(found))
    table = admin.run("policies")
    case.check("as a table with the status's columns",
               table.stdout.split("\n")[0].split() == ["NAMESPACE", "NAME", "MODE", "PODS", "NODES", "DESIRED",
                                                       "PROGRAMMED", "REASON", "AGE"], table.stdout + table.stderr)
    some = developer.run("policies", "-o", "name")
    case.check("who may not read the cluster kind sees the rest, and is told", some.returncode == 0 and
               len(some.stdout.split()) == 5 and "forbidden: list clusterprofilingpolicies.firetower.dev" in some.stderr,
               some.stdout + some.stderr)


def judge_pod(case, cluster, admin, truth):
    """Each policy's reason is one that the pod, the policy or the node was given here."""
    name = next(iter(truth.running("app=checkout")))
    wanted = {"checkout": ("no", "no agent reports from node node-1"), "paused": ("no", "it is suspended"),
              "elsewhere": ("no", "nodeSelector does not match this node"),
              "others": ("no", "neither podSelector nor workloadRefs matches the pod"),
              "sidecars": ("no", "containers.include does not name the container"),
              "platform": ("no", "namespaceSelector does not match the pod's namespace")}

    def judge(which, name, wanted):
        seen = admin.verdicts(name)
        for policy_name, (answer, why) in wanted.items():
            one = seen[policy_name]
            case.check(f"policies --pod, {which}: {policy_name}", one["profiled"] == answer and why in one["why"],
                       f"{one['profiled']}: {one['why']}")
        return seen

    judge("no agent", name, wanted)
    uid = {one["metadata"]["name"]: one["metadata"]["uid"]
           for one in json.loads(cluster.kubectl("-n", "shop", "get", "pfp", "-o", "json"))["items"]}
    row = {"kind": "ProfilingPolicy", "namespace": "shop", "generation": 1, "pods": 2, "profiledPods": 2}
    node = {"apiVersion": "firetower.dev/v1alpha1", "kind": "ProfilingNode", "metadata": {"name": "node-1"},
            "agent": {"version": "1"},
            "policies": [{**row, "name": "checkout", "uid": uid["checkout"], "state": "Running"},
                         {**row, "name": "others", "uid": uid["others"], "state": "Failed",
                          "reason": "BudgetExceeded", "message": "the node has no room"}]}
    cluster.apply(node)
    seen = judge("with an agent", name, {"checkout": ("yes", "the targets include the pod")})
    case.check("its containers are named", seen["checkout"]["containers"] == ["cart"], seen["checkout"]["containers"])
    innocent = next(iter(truth.running("app=innocent")))
    judge("what the agent says", innocent, {"others": ("no", "BudgetExceeded: the node has no room")})
    judge("an opted-out pod", "private", {"checkout": ("no", "the pod opts out: label firetower.dev/profile")})
    cluster.kubectl("label", "namespace", "shop", "firetower.dev/profile=false")
    judge("an opted-out namespace", name, {"checkout": ("no", "the namespace opts out")})
    cluster.kubectl("label", "namespace", "shop", "firetower.dev/profile-")
    cluster.kubectl("delete", "profilingnode", "node-1")
    missing = admin.run("policies", "--pod", "nobody")
    case.check("a pod that is not there is said to be missing",
               missing.returncode == 1 and "no pods called 'nobody' in namespace shop" in missing.stderr, missing.stderr)
    cluster.kubectl("-n", "shop", "delete", "pfp", "--all")
    cluster.kubectl("delete", "cpfp", "--all")


def recordings(cluster):
    return [one for one in json.loads(cluster.kubectl("-n", "shop", "get", "pfp", "-o", "json"))["items"]
            if one["metadata"]["name"].startswith("record-")]


def burning(path):
    """Samples in burn()."""
    return sum(sample.values[0] for sample in pprof.parse(path.read_bytes()).samples if "burn" in sample.names)


def judge_refusals(case, cluster, folder, people):
    admin, developer, stranger = people
    file = folder / "refused.pb.gz"

    def refused(what, person, arguments, status, *says):
        done = person.run("record", "--for", "60s", "-f", file, *arguments)
        case.check(f"record, {what}: says what, why and what to do, and makes nothing",
                   done.returncode == status and all(text in done.stderr for text in says) and not recordings(cluster)
                   and not file.exists(), f"{done.returncode}: {done.stderr}")

    refused("no right", stranger, ["deployment/checkout"], 5,
            "forbidden: create profilingpolicies.firetower.dev in namespace shop", "why: profilingpolicies",
            "kubectl auth can-i create profilingpolicies.firetower.dev -n shop")
    refused("no such workload", developer, ["deployment/nothing"], 4, "selects no pod of namespace shop",
            "no pod has this name or label", "nothing was created")
    refused("an opted-out pod", admin, ["pod/private"], 4, "the pod opts out: label firetower.dev/profile")
    refused("a server that is away", Person(folder / "admin.kubeconfig", "http://127.0.0.1:1"),
            ["deployment/checkout"], 5, "cannot reach http://127.0.0.1:1", "connection refused")
    alone = run("env", "-u", "KUBECONFIG", "HOME=/nonexistent", BIN / "firetower", "record", "pod/x", "-f", file,
                check=False)
    case.check("record, no kubeconfig", alone.returncode == 1 and "no cluster is configured" in alone.stderr
               and "--kubeconfig" in alone.stderr, alone.stderr)


def judge_record(case, cluster, folder, developer, truth, daemon):
    pods = truth.running("app=checkout")
    before = {name: truth.cpu_seconds(one) for name, one in pods.items()}
    file = folder / "checkout.pb.gz"
    began = time.monotonic()
    done = developer.run("record", "deployment/checkout", "--for", "60s", "-F", "49", "-f", file)
    case.check("record: it went well", done.returncode == 0, done.stderr)
    case.at_most("for 60 s it took, s", time.monotonic() - began, 80)
    due = 49 * sum(truth.cpu_seconds(one) - before[name] for name, one in pods.items())
    # A third pod burns as much and is not theirs.
    case.check("the profile has the samples of the Deployment's pods and no other's",
               0.75 * due <= burning(file) <= 1.1 * due, f"{burning(file)} of {due:.0f}")
    made = recordings(cluster)
    spec = made[0]["spec"] if made else {}
    case.check("its policy is left, to end and go by itself", len(made) == 1 and
               spec.get("activeDeadlineSeconds") == 60 and spec.get("ttlSecondsAfterFinished", 0) > 0, made)
    verdict = next(iter(developer.verdicts(next(iter(pods))).values()))
    case.check("policies --pod says that it is complete", "it is complete" in verdict["why"], verdict["why"])
    total = daemon.metrics().sum("firetower_cpu_seconds_total", namespace="shop")
    time.sleep(4)
    case.at_most("and nothing is sampled any more, s", daemon.metrics().sum(
        "firetower_cpu_seconds_total", namespace="shop") - total, 0.05)
    cluster.kubectl("-n", "shop", "delete", "pfp", "--all")


def judge_interrupted(case, cluster, folder, developer):
    file = folder / "part.pb.gz"
    with subprocess.Popen(developer.command("record", "app=checkout", "--for", "5m", "-f", file), text=True,
                          stderr=subprocess.PIPE, env=developer.environment) as recording:
        wait_for(lambda: recordings(cluster), 20)
        time.sleep(12)
        began = time.monotonic()
        recording.send_signal(signal.SIGINT)
        told = recording.communicate(timeout=60)[1]
    case.check("interrupted: it leaves with 130", recording.returncode == 130, f"{recording.returncode}: {told}")
    case.at_most("within s", time.monotonic() - began, 10)
    case.check("its policy is gone", not recordings(cluster), told)
    case.check("what there was is kept", file.exists() and burning(file) > 49, told)


def main():
    case = Case("cluster.cli")
    with Cluster(case) as cluster:
        folder = cluster.folder
        burn = folder / "burn"
        run("cc", "-O1", "-static", "-fno-omit-frame-pointer", "-x", "c", "-o", burn, "-", input=BURN)
        cluster.image(IMAGE, burn)
        cluster.namespace("shop")
        cluster.apply(deployment("checkout", 2, "3600"), deployment("innocent", 1, "3600"),
                      pod("private", {"containers": [container("private", "0.1", "stay")]},
                          labels={"firetower.dev/profile": "false", "app": "private"}))
        proxy, truth = Proxy(), Truth(cluster)
        tokens = {"admin": "admin-token", "developer": account(cluster, "developer", DEVELOPER),
                  "stranger": account(cluster, "stranger", [])}
        configs = {name: proxy.kubeconfig(folder, name, token) for name, token in tokens.items()}
        early = Person(configs["admin"], "http://127.0.0.1:1").run("policies")
        case.check("before the definitions it says what to install", early.returncode == 1
                   and "CustomResourceDefinitions" in early.stderr, early.stderr)
        install(cluster)
        none = Person(configs["admin"], "http://127.0.0.1:1").run("policies")
        case.check("without a policy there is no data", none.returncode == 4, none.stderr)
        wait_for(lambda: len(truth.running("app=checkout")) == 2 and truth.running("app=innocent")
                 and truth.running("app=private"))
        apply_policies(cluster)
        nobody = "http://127.0.0.1:1"
        judge_list(case, Person(configs["admin"], nobody), Person(configs["developer"], nobody))
        judge_pod(case, cluster, Person(configs["admin"], nobody), truth)
        with Daemon("--kubeconfig", configs["admin"], "--node-name", "node-1", standalone=False) as daemon:
            people = [Person(configs[name], daemon.url, tokens[name]) for name in ("admin", "developer", "stranger")]
            judge_refusals(case, cluster, folder, people)
            judge_record(case, cluster, folder, people[1], truth, daemon)
            judge_interrupted(case, cluster, folder, people[1])
        proxy.close()
        away = Person(configs["admin"], nobody).run("policies")
        case.check("with the API server away it says so", away.returncode == 5 and "cannot reach https://" in away.stderr,
                   away.stderr)
    case.finish()


if __name__ == "__main__":
    main()
