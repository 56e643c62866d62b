#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An agent writes the ProfilingNode of its own node and no other, with the tokens that pods get on a real server."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support" / "real"))
sys.dont_write_bytecode = True

import kube as api
from case import Case

NODES = f"{api.GROUP}/profilingnodes"
ACCOUNTS = "/api/v1/namespaces/firetower/serviceaccounts"


def report(name, version="1"):
    return {"apiVersion": "firetower.dev/v1alpha1", "kind": "ProfilingNode", "metadata": {"name": name},
            "agent": {"version": version}}


def token(kube, account, bound=None):
    """Asks for a pod's token as the kubelet does; without a pod, as `kubectl create token` does."""
    spec = {"boundObjectRef": bound} if bound else {}
    made = kube.create(f"{ACCOUNTS}/{account}/token", {
        "apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 600, **spec}})
    return made.body["status"]["token"]


def pod_token(kube, node, account="firetower-agent"):
    kube.create("/api/v1/nodes", {"metadata": {"name": node}})
    pod = kube.create("/api/v1/namespaces/firetower/pods", {
        "metadata": {"name": f"{account}-{node}"},
        "spec": {"nodeName": node, "serviceAccountName": account,
                 "containers": [{"name": "agent", "image": "none"}]}})
    if pod.status != 201:
        raise RuntimeError(pod.message)
    meta = pod.body["metadata"]
    return token(kube, account, {"apiVersion": "v1", "kind": "Pod", "name": meta["name"], "uid": meta["uid"]})


def install(case, kube):
    api.install_definitions(kube)
    kube.create("/api/v1/namespaces", {"metadata": {"name": "firetower"}})
    api.install_manifest(kube, "k8s/manifests/agent-rbac.yaml")
    api.install_manifest(kube, "k8s/manifests/own-node.yaml")
    kube.create(ACCOUNTS, {"metadata": {"name": "stranger"}})
    agent = kube.as_user(pod_token(kube, "one"))
    # The server takes up a policy some time after it was created.
    held = api.until(lambda: agent.create(f"{NODES}?dryRun=All", report("two")).status == 403)
    case.check("the policy is taken up", held)
    policy = kube.get("/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/firetower-agent-own-node")
    typed = policy.body.get("status", {}).get("typeChecking", {})
    case.check("its expressions draw no warning", not typed.get("expressionWarnings"), typed or "")
    return agent


def own(case, agent):
    made = agent.create(NODES, report("one"))
    case.check("own: created", made.status == 201, made.message)
    patched = agent.merge(f"{NODES}/one", {"agent": {"version": "3"}})
    case.check("own: patched", patched.status == 200, patched.message)
    applied = agent.apply(f"{NODES}/one", report("one", "4"))
    case.check("own: applied", applied.status == 200, applied.message)
    row = {"kind": "ProfilingPolicy", "namespace": "shop", "name": "cart", "uid": "0" * 36, "generation": 1,
           "state": "Running", "pods": 2, "profiledPods": 2}
    rows = agent.apply(f"{NODES}/one", {**report("one", "4"), "policies": [row]})
    case.check("own: rows of policies", rows.status == 200 and rows.body["policies"][0]["name"] == "cart", rows.message)
    # One row that is refused would refuse the report of all.
    dotted = agent.apply(f"{NODES}/one", {**report("one", "4"), "policies": [row, {**row, "name": "team.cart"}]})
    case.check("own: rows of policies with dots in their names", dotted.status == 200, dotted.message)


def others(case, kube, agent):
    kube.create(NODES, report("two"))
    for what, answer in (
        ("created", agent.create(NODES, report("three"))),
        ("created under a name that the server makes",
         agent.create(NODES, {**report("x"), "metadata": {"generateName": "one"}})),
        ("patched", agent.merge(f"{NODES}/two", {"agent": {"version": "9"}})),
        ("applied", agent.apply(f"{NODES}/three", report("three"))),
    ):
        said = answer.status == 403 and 'runs on node "one" and may write only that ProfilingNode' in answer.message
        case.check(f"another's: not {what}", said, f"{answer.status} {answer.message}" if not said else "")
    left = kube.get(f"{NODES}/two").body["agent"]["version"]
    case.check("another's: as it was", left == "1", left)
    neighbour = kube.as_user(pod_token(kube, "two"))
    case.check("the agent of that node writes it", neighbour.merge(f"{NODES}/two", {"agent": {"version": "2"}}).status == 200)
    case.check("a person with the right writes any", kube.merge(f"{NODES}/two", {"agent": {"version": "3"}}).status == 200)


def other_tokens(case, kube):
    unbound = kube.as_user(token(kube, "firetower-agent")).merge(f"{NODES}/one", {"agent": {"version": "9"}})
    said = unbound.status == 403 and "this token names no node" in unbound.message
    case.check("the agents' account without a pod writes none", said, unbound.message)
    stranger = kube.as_user(pod_token(kube, "one", "stranger")).merge(f"{NODES}/one", {"agent": {"version": "9"}})
    said = stranger.status == 403 and "stranger" in stranger.message
    case.check("another account on the node writes none", said, stranger.message)


def rights(case, agent):
    """An agent has the rights that it needs, and no more."""
    for resource in ("firetower.dev/v1alpha1/profilingpolicies", "firetower.dev/v1alpha1/clusterprofilingpolicies"):
        case.check(f"lists {resource}", agent.get(f"/apis/{resource}").status == 200)
    for resource in ("pods", "nodes", "namespaces"):
        case.check(f"lists {resource}", agent.get(f"/api/v1/{resource}").status == 200)
    for method, path in (("GET", "/api/v1/secrets"), ("GET", "/api/v1/configmaps"), ("DELETE", f"{NODES}/one"),
                         ("DELETE", f"{api.GROUP}/namespaces/default/profilingpolicies/x"),
                         ("GET", NODES), ("GET", f"{NODES}/one"), ("PUT", f"{NODES}/one"), ("GET", "/api/v1/nodes/one"),
                         ("GET", "/api/v1/namespaces/default"), ("GET", "/api/v1/namespaces/firetower/pods/firetower-agent-one")):
        case.check(f"may not {method} {path}", agent.call(method, path).status == 403)
    status = agent.merge(f"{api.GROUP}/namespaces/default/profilingpolicies/x/status", {"status": {}})
    case.check("may not write a policy's status", status.status == 403)


def main():
    case = Case("cluster.own-node")
    kube = api.from_environment()
    agent = install(case, kube)
    own(case, agent)
    others(case, kube, agent)
    other_tokens(case, kube)
    rights(case, agent)
    case.finish()


if __name__ == "__main__":
    main()
