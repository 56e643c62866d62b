#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""permissions_test.py: each right of the agents' account taken away costs one thing, which doctor and /metrics name.

The rights are those of k8s/manifests/agent-rbac.yaml on a real API server; what the daemon reads is what it says it
reads when it may read everything.
"""

import copy
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support" / "real"))
sys.dont_write_bytecode = True

import kube as api
from case import Case
from daemon import TOYS, Daemon

ROLE = "/apis/rbac.authorization.k8s.io/v1/clusterroles/firetower-agent"
ACCOUNTS = "/api/v1/namespaces/firetower/serviceaccounts"
# Continuous, for what the daemon goes on with whatever it may not read.
POLICY = """
apiVersion: firetower.dev/v1alpha1
kind: ClusterProfilingPolicy
metadata: {name: everything}
spec:
  mode: General
  targets: {podSelector: {matchLabels: {}}, hostProcesses: Include}
  general: {schedule: Continuous}
"""


def install(kube, folder):
    """The account, and a kubeconfig with a token of its."""
    api.install_definitions(kube)
    kube.create("/api/v1/namespaces", {"metadata": {"name": "firetower"}})
    api.install_manifest(kube, "k8s/manifests/agent-rbac.yaml")
    kube.create("/api/v1/nodes", {"metadata": {"name": "node-1"}})
    made = kube.create(f"{ACCOUNTS}/firetower-agent/token", {
        "apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 3600}})
    config = folder / "kubeconfig"
    config.write_text(f"""clusters: [{{name: c, cluster: {{server: "{kube.server.geturl()}", certificate-authority: {kube.authority}}}}}]
users: [{{name: agent, user: {{token: {made.body["status"]["token"]}}}}}]
contexts: [{{name: c, context: {{cluster: c, user: agent}}}}]
current-context: c
""")
    (folder / "policy.yaml").write_text(POLICY)
    return config


def take(kube, role, resource, verbs):
    """The role without these verbs on this resource."""
    less = copy.deepcopy(role)
    for rule in list(less["rules"]):
        if resource in rule["resources"]:
            rule["resources"].remove(resource)
            left = [verb for verb in rule["verbs"] if verb not in verbs]
            if left:
                less["rules"].append({**rule, "resources": [resource], "verbs": left})
    less["rules"] = [rule for rule in less["rules"] if rule["resources"]]
    kube.call("PUT", ROLE, {key: value for key, value in {**less, "metadata": {"name": "firetower-agent"}}.items()})


def synced(daemon):
    """By kind that is watched; ProfilingNodes are written, sooner or later."""
    return {labels["resource"]: value == 1 for labels, value in daemon.metrics().find("firetower_kube_synced")
            if labels["resource"] != "profilingnodes"}


def checks(daemon):
    said = json.loads(daemon.cli("doctor", "-o", "json", check=False).stdout)
    return {one["name"]: one for one in said["checks"]}


def judge_without(case, start, resource):
    with start() as daemon:
        api.until(lambda: sum(synced(daemon).values()) == len(synced(daemon)) - 1, 30)
        state = synced(daemon)
        case.check(f"without {resource}: it is ready, and every other kind is read",
                   [name for name, whole in state.items() if not whole] == [resource], state)
        doctor = checks(daemon)
        wrong = {name for name, one in doctor.items() if name.removeprefix("kube-") in state and one["status"] != "ok"}
        told = doctor[f"kube-{resource}"]
        case.check(f"without {resource}: doctor names it alone, and what to grant",
                   wrong == {f"kube-{resource}"} and "refuses" in told["message"]
                   and f"grant list and watch of {resource}" in told["fix"], f"{told['message']}; {told['fix']}")
        refused = daemon.metrics().sum("firetower_kube_requests_total", resource=resource, code="403")
        case.check(f"without {resource}: /metrics counts the refusals, few of them", 1 <= refused <= 6, refused)
        seconds = 0

        def sampled():
            nonlocal seconds
            seconds = daemon.metrics().sum("firetower_cpu_seconds_total", namespace="-", pod="-")
            return seconds >= 0.05
        # Slices come to the metrics a second or two later, and beside other tests later still.
        api.until(sampled, 20)
        case.at_least(f"without {resource}: it samples, s of CPU", seconds, 0.05)


def judge_events(case, kube, role, start):
    """The right is asked for when there is something to tell: a trigger that fires as soon as anything runs."""
    take(kube, role, "events", ("create", "patch"))
    made = kube.create(f"{api.GROUP}/clusterprofilingpolicies", {
        "apiVersion": "firetower.dev/v1alpha1", "kind": "ClusterProfilingPolicy", "metadata": {"name": "busy"},
        "spec": {"mode": "Trigger", "targets": {"podSelector": {"matchLabels": {}}, "hostProcesses": "Include"},
                 "trigger": {"rules": [{"name": "busy", "metric": "NodeCPUUser", "operator": "GreaterThan", "forSeconds": 1,
                                        "target": {"type": "Value", "value": "0.05"}}],
                             "capture": {"preTriggerSeconds": 0, "durationSeconds": 5, "scope": "Node"}}}})
    case.check("a policy that fires is taken", made.status == 201, made.message)
    with start() as daemon:
        api.until(lambda: "kube-events" in checks(daemon), 40)
        told = checks(daemon).get("kube-events", {"status": "", "message": "", "fix": ""})
        case.check("without events: doctor names it, and what to grant", told["status"] == "warn" and
                   "events" in told["message"] and "grant create and patch of events" in told["fix"], told)
        refused = daemon.metrics().sum("firetower_kube_requests_total", verb="create", resource="events", code="403")
        case.at_least("without events: /metrics counts the refusals", refused, 1)
        case.check("without events: every kind is read, and it is ready",
                   all(synced(daemon).values()) and daemon.answers("/readyz"), synced(daemon))
    kube.call("DELETE", f"{api.GROUP}/clusterprofilingpolicies/busy")


def judge_returns(case, kube, role, start):
    """A right that comes back is found within the minute after which the daemon asks again."""
    take(kube, role, "pods", ("list", "watch"))
    with start() as daemon:
        api.until(lambda: not synced(daemon)["pods"], 10)
        kube.call("PUT", ROLE, {**role, "metadata": {"name": "firetower-agent"}})
        began = time.monotonic()
        case.check("a right that comes back is used", api.until(lambda: all(synced(daemon).values()), 90))
        case.figure("s until then", f"{time.monotonic() - began:.0f}")


def main():
    case = Case("cluster.permissions")
    case.need("openssl")
    kube = api.from_environment()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        config = install(kube, folder)
        role = kube.get(ROLE).body

        def start():
            return Daemon("--kubeconfig", config, "--node-name", "node-1", "--policy", folder / "policy.yaml",
                          standalone=False)

        with start() as daemon:
            api.until(lambda: all(synced(daemon).values()), 30)
            kinds = sorted(synced(daemon))
            case.check("with the rights of the manifest every kind is read",
                       all(synced(daemon).values()) and len(kinds) >= 5, synced(daemon))
        # Something to be sampled; a machine may be idle.
        burner = subprocess.Popen([TOYS / "toy_stack", "600"], stdout=subprocess.DEVNULL)
        try:
            for resource in kinds:
                take(kube, role, resource, ("list", "watch"))
                judge_without(case, start, resource)
            judge_events(case, kube, role, start)
            judge_returns(case, kube, role, start)
        finally:
            burner.kill()
            burner.wait()
    case.finish()


if __name__ == "__main__":
    main()
