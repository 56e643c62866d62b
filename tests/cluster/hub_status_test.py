#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hub_status_test.py: what a policy's status says, from `kubectl apply` on: a real hub and a real agent, with the
rights of their manifests, on a real API server. Pods are objects only."""

import sys
import tempfile
import time

import hub_parts as parts
import kube as api
from case import Case
from daemon import Daemon
from permissions_test import ROLE, take

PODS = "/api/v1/namespaces/shop/pods"


def add_pod(kube, name, app):
    made = kube.create(PODS, {"metadata": {"name": name, "labels": {"app": app}},
                              "spec": {"nodeName": "node-1", "containers": [{"name": "main", "image": "none"}]}})
    if made.status != 201:
        raise RuntimeError(made.message)
    container = {"name": "main", "containerID": "containerd://" + name.encode().hex().rjust(64, "0"), "image": "none",
                 "imageID": "", "ready": True, "restartCount": 0, "started": True,
                 "state": {"running": {"startedAt": "2026-01-01T00:00:00Z"}}}
    kube.merge(f"{PODS}/{name}/status", {"status": {"phase": "Running", "containerStatuses": [container]}})


def apply_and_wait(case, what, document, seconds=5):
    """From `kubectl apply` to the end of `kubectl wait`."""
    name = document["metadata"]["name"]
    parts.apply(document)
    began = time.monotonic()
    done = parts.kubectl("-n", "shop", "wait", "--for=condition=Programmed", f"pfp/{name}", f"--timeout={seconds * 4}s",
                         check=False)
    case.check(f"{what}: kubectl wait ends well", done.returncode == 0, done.stderr.strip())
    case.at_most(f"{what}: from apply to Programmed, s", time.monotonic() - began, seconds)


def judge_good(case, kube):
    apply_and_wait(case, "a new policy", parts.policy("checkout"))
    shown = parts.kubectl("-n", "shop", "get", "pfp", "checkout").stdout
    case.figure("kubectl get pfp", "\n" + shown)
    lines = shown.splitlines()
    case.check("its columns", lines[0].split() == ["NAME", "MODE", "PODS", "NODES", "DESIRED", "PROGRAMMED", "REASON", "AGE"]
               and lines[1].split()[:-1] == ["checkout", "General", "2", "1", "1", "True", "Programmed"], lines[1])
    seen = parts.conditions(kube, "checkout")
    case.check("its conditions", seen == {
        "Accepted": "True/Accepted", "Programmed": "True/Programmed", "Degraded": "False/AsExpected",
        "Complete": "False/Active", "Ready": "True/Ready"}, seen)
    found = parts.status(kube, "checkout")
    case.check("its counts", found["nodes"] == {"desired": 1, "ready": 1, "failed": 0, "skipped": 0, "stale": 0}
               and found["pods"] == {"matched": 2, "profiled": 2}, found)
    node = kube.get(f"{parts.NODES}/node-1").body
    owner = kube.get("/api/v1/nodes/node-1").body["metadata"]["uid"]
    case.check("the ProfilingNode belongs to its Node",
               [one["uid"] for one in node["metadata"].get("ownerReferences", [])] == [owner])


def judge_edit(case, kube):
    before = kube.get(f"{parts.SHOP}/checkout").body["metadata"]["generation"]
    apply_and_wait(case, "an edit", parts.policy("checkout", priority=7))
    found = kube.get(f"{parts.SHOP}/checkout").body
    generations = {one["observedGeneration"] for one in found["status"]["conditions"]}
    case.check("after the wait every condition is of the new generation",
               found["metadata"]["generation"] == before + 1 and generations == {before + 1}, generations)
    rows = kube.get(f"{parts.NODES}/node-1").body["policies"]
    case.check("which the node runs", [one["generation"] for one in rows if one["name"] == "checkout"] == [before + 1])


def judge_bad(case, kube):
    parts.apply(parts.policy("bad", profiles=[{"type": "Event", "events": [{"name": "sched:sched_switch", "period": 1}]}]))
    took = parts.wait(lambda: parts.conditions(kube, "bad").get("Accepted", "").startswith("False"), 5)
    case.check("a policy that is valid for the schema alone is not accepted, in 5 s", took is not None)
    accepted = [one for one in parts.status(kube, "bad").get("conditions", []) if one["type"] == "Accepted"]
    case.check("and its status says why", "need a ClusterProfilingPolicy" in (accepted or [{}])[0].get("message", ""), accepted)
    events = kube.get("/apis/events.k8s.io/v1/namespaces/shop/events").body["items"]
    mine = [one for one in events if one["regarding"]["name"] == "bad"]
    case.check("one Event says it too", len(mine) == 1 and mine[0]["type"] == "Warning"
               and "need a ClusterProfilingPolicy" in mine[0]["note"], [one["note"] for one in mine])
    described = parts.kubectl("-n", "shop", "describe", "pfp", "bad").stdout
    case.check("kubectl describe shows it", "need a ClusterProfilingPolicy" in described.split("Events:")[-1])


def judge_deletion(case, kube):
    parts.kubectl("-n", "shop", "delete", "pfp", "checkout")
    took = parts.wait(lambda: "checkout" not in [
        one["name"] for one in kube.get(f"{parts.NODES}/node-1").body.get("policies") or []], 10)
    case.check("a deleted policy leaves its node", took is not None)
    case.at_most("deleted: until no node tells of it, s", took if took is not None else 99, 3)


def judge_definitions(case, kube, daemon):
    """The definitions deleted and installed again: the agent and the hub find them by themselves."""
    parts.apply(parts.policy("before"))
    case.check("a policy from before", api.until(lambda: parts.conditions(kube, "before").get("Programmed") == "True/Programmed"))
    names = [one["metadata"]["name"] for one in api.definitions()]
    for name in names:
        kube.call("DELETE", f"{api.DEFINITIONS}/{name}")
    case.check("the definitions go", api.until(
        lambda: all(kube.get(f"{api.DEFINITIONS}/{name}").status == 404 for name in names), 60))
    time.sleep(20)  # until everyone has seen that they are not there
    asked = daemon.metrics().sum("firetower_kube_requests_total", code="404")
    time.sleep(30)
    asked = (daemon.metrics().sum("firetower_kube_requests_total", code="404") - asked) / 30
    case.at_most("requests a second for what is not there", asked, 3 / 10)
    api.install_definitions(kube)
    began = time.monotonic()
    parts.apply(parts.policy("after"))
    kinds = ("profilingpolicies", "clusterprofilingpolicies", "profilingnodes")
    took = parts.wait(lambda: all(
        daemon.metrics().sum("firetower_kube_synced", resource=kind) == 1 for kind in kinds), 90)
    case.at_most("definitions again: until the agent reads and writes all, s", took if took is not None else 999, 30)
    took = parts.wait(lambda: parts.conditions(kube, "after").get("Programmed") == "True/Programmed", 90)
    case.check("definitions again: a policy is Programmed", took is not None, parts.conditions(kube, "after"))
    case.at_most("definitions again: until a policy is Programmed, s", time.monotonic() - began, 30)
    parts.kubectl("-n", "shop", "delete", "pfp", "after")


def judge_opt_outs(case, kube, start):
    """An agent that may not read namespaces does not know who opted out in them."""
    role = kube.get(ROLE).body
    take(kube, role, "namespaces", ("list", "watch"))
    with start():
        parts.apply(parts.policy("blind"))
        took = parts.wait(lambda: parts.conditions(kube, "blind").get("Ready") == "False/OptOutsUnknown", 40)
        case.check("without the right on namespaces: not Ready, OptOutsUnknown", took is not None, parts.conditions(kube, "blind"))
        case.check("and Degraded by it", parts.conditions(kube, "blind").get("Degraded") == "True/OptOutsUnknown")
        kube.call("PUT", ROLE, {**role, "metadata": {"name": "firetower-agent"}})
        took = parts.wait(lambda: parts.conditions(kube, "blind").get("Ready") == "True/Ready", 120)
        case.check("with it again: Ready", took is not None, parts.conditions(kube, "blind"))
        case.figure("s until then", f"{took or 0:.0f}")
    parts.kubectl("-n", "shop", "delete", "pfp", "blind")


def judge_end(case, kube, hub, born):
    """The policies that were made at the beginning: one without pods, one whose time is over."""
    took = parts.wait(lambda: parts.conditions(kube, "nobody").get("Programmed") == "False/NoTargets", 40)
    case.check("a policy without pods says NoTargets", took is not None, parts.conditions(kube, "nobody"))
    gone = parts.wait(lambda: kube.get(f"{parts.SHOP}/brief").status == 404, 90)
    case.check("a policy with activeDeadlineSeconds 60 and ttlSecondsAfterFinished 2 is deleted", gone is not None)
    case.at_least("after its creation, s", time.time() - born, 61)
    case.at_most("after its creation, s", time.time() - born, 70)
    before = hub.writes(resource="status")
    time.sleep(15)
    case.check("at rest nothing is written", hub.writes(resource="status") == before, hub.writes(resource="status") - before)
    for end in ("conflict", "refused", "failed"):
        case.figure(f"writes that ended as {end}", hub.writes(result=end))
    case.check("no write was refused", hub.writes(result="refused") == 0)


def judge_rights(case, kube):
    """The hub has what it needs, and no more."""
    hub = kube.as_user(parts.account_token(kube, "firetower-hub"))
    for method, path in (("GET", "/api/v1/secrets"), ("GET", "/api/v1/pods"), ("GET", "/api/v1/nodes"),
                         ("GET", "/api/v1/namespaces/shop/pods"),
                         ("GET", "/apis/coordination.k8s.io/v1/namespaces/firetower/leases/another"),
                         ("GET", "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/firetower-hub"),
                         ("DELETE", f"{parts.NODES}/node-1")):
        case.check(f"the hub may not {method} {path}", hub.call(method, path).status == 403)
    changed = hub.merge(f"{parts.SHOP}/checkout", {"spec": {"priority": 9}})
    case.check("nor change a policy", changed.status == 403)


def judge_manifest(case, kube):
    """hub.yaml is taken, and its pods also where Pod Security enforces `restricted`."""
    deployment = api.documents("k8s/manifests/hub.yaml")[0]
    made = kube.create("/apis/apps/v1/namespaces/firetower/deployments?dryRun=All&fieldValidation=Strict", deployment)
    case.check("hub.yaml is taken", made.status == 201, made.message)
    enforce = "pod-security.kubernetes.io/enforce"
    kube.create("/api/v1/namespaces", {"metadata": {"name": "restricted", "labels": {enforce: "restricted"}}})
    pods = "/api/v1/namespaces/restricted/pods?dryRun=All"
    loose = {"metadata": {"name": "loose"}, "spec": {"containers": [{"name": "main", "image": "none"}]}}
    case.check("Pod Security refuses other pods", api.until(lambda: kube.create(pods, loose).status == 403))
    pod = kube.create(pods, {"metadata": {"name": "hub"}, "spec": deployment["spec"]["template"]["spec"]})
    case.check("but not the hub's", pod.status == 201, pod.message)


def judge_life(case, kube, hub):
    """A policy from its first word to its last."""
    case.check("the agent's ProfilingNode is there", api.until(lambda: kube.get(f"{parts.NODES}/node-1").status == 200, 20))
    born = time.time()
    parts.apply(parts.policy("nobody", targets={"podSelector": {"matchLabels": {"app": "nobody"}}}),
                parts.policy("brief", activeDeadlineSeconds=60, ttlSecondsAfterFinished=2))
    judge_good(case, kube)
    judge_edit(case, kube)
    judge_bad(case, kube)
    judge_rights(case, kube)
    judge_manifest(case, kube)
    judge_deletion(case, kube)
    judge_end(case, kube, hub, born)


def main():
    case = Case("hub.status")
    case.need()
    kube = api.from_environment()
    parts.install(kube)
    kube.create("/api/v1/nodes", {"metadata": {"name": "node-1"}})
    for name in ("cart-0", "cart-1"):
        add_pod(kube, name, "cart")
    add_pod(kube, "other-0", "other")
    folder = tempfile.mkdtemp(prefix="firetower-hub-test-")
    of_hub = parts.kubeconfig(kube, folder, "hub", parts.account_token(kube, "firetower-hub"))
    of_agent = parts.kubeconfig(kube, folder, "agent", parts.agent_token(kube, "node-1"))

    def start():
        return Daemon("--kubeconfig", of_agent, "--node-name", "node-1", standalone=False)

    with parts.Hub(of_hub, "hub-1") as hub:
        case.check("it leads", api.until(hub.leads, 10))
        judge_opt_outs(case, kube, start)
        with start() as daemon:
            judge_life(case, kube, hub)
            judge_definitions(case, kube, daemon)
        case.figure("the hub's resident memory, MiB", f"{hub.resident_mib():.1f}")
        case.check("SIGTERM ends it well", hub.stop() == 0)
        holder = kube.get(parts.LEASE).body["spec"].get("holderIdentity")
        case.check("and gives the Lease up", not holder, holder)
    case.finish()


if __name__ == "__main__":
    sys.exit(main())
