# SPDX-License-Identifier: Apache-2.0
"""The three CustomResourceDefinitions: the policy kinds with their status, and ProfilingNode."""

import policy
from schema import array, column, counter, crd, dns_name, enum, integer, name, obj, text, time

IDENTITY = {
    "apiVersion": {"type": "string"},
    "kind": {"type": "string"},
    "metadata": {"type": "object"},
}


def condition(type_length, message_length, observed):
    """Schema of metav1.Condition; a node's has no generation, since nobody edits that object."""
    reason = r"^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$" if observed else None
    properties = {
        "type": text(1, type_length),
        "status": enum("True", "False", "Unknown"),
        "reason": text(1, 64, reason),
        "message": text(0, message_length),
    }
    required = ["type", "status", "reason"]
    if observed:
        properties["observedGeneration"] = counter("int64")
        required.append("message")
    properties["lastTransitionTime"] = time()
    return obj(properties, required + ["lastTransitionTime"])


def counters(*names):
    return obj({key: counter() for key in names})


def policy_status():
    failure = obj({"node": dns_name(), "reason": text(0, 64), "message": text(0, 256)},
                  ["node", "reason"])
    return obj({
        "observedGeneration": counter("int64"),
        "conditions": array(condition(316, 1024, True), 8, "map", ["type"]),
        "nodes": counters("desired", "ready", "failed", "skipped", "stale"),
        "pods": counters("matched", "profiled"),
        "captures": obj({"total": counter("int64"), "last": time()}),
        "failures": array(failure, 10, desc="A sample of what failed where."),
    }, desc="What the hub saw. One writer, of constant size.")


def policy_crd(cluster):
    root = obj(
        {**IDENTITY, "spec": policy.spec(cluster), "status": policy_status()}, ["spec"],
        [("size(self.metadata.name) <= 63",
          "metadata.name must be at most 63 characters: it becomes the value of a label")],
        desc="Says which pods to profile, how and when.")
    programmed = '.status.conditions[?(@.type=="Programmed")]'
    columns = [
        column("Mode", "string", ".spec.mode"),
        column("Pods", "integer", ".status.pods.matched", "pods that match"),
        column("Nodes", "integer", ".status.nodes.ready", "nodes that run this generation"),
        column("Desired", "integer", ".status.nodes.desired"),
        column("Programmed", "string", programmed + ".status"),
        column("Reason", "string", programmed + ".reason"),
        column("Suspended", "boolean", ".spec.suspend", priority=1),
        column("Priority", "integer", ".spec.priority", priority=1),
        column("Captures", "integer", ".status.captures.total", priority=1),
        column("Age", "date", ".metadata.creationTimestamp"),
    ]
    kind, scope, short = (("ClusterProfilingPolicy", "Cluster", "cpfp") if cluster else
                          ("ProfilingPolicy", "Namespaced", "pfp"))
    return crd(kind, scope, short, root, columns, True, [{"jsonPath": ".spec.mode"}])


def node_crd():
    row = obj(
        {
            "kind": enum("ProfilingPolicy", "ClusterProfilingPolicy"),
            "namespace": {"type": "string", "maxLength": 63, "default": "",
                          "description": "Empty for the cluster kind."},
            "name": dns_name("As the API server takes a policy's."),
            "uid": text(36, 36),
            "generation": counter("int64"),
            "state": enum("Running", "Armed", "Failed", "Skipped", "Overridden", "Complete"),
            "reason": text(0, 64),
            "message": text(0, 256),
            "pods": integer(0, 4096),
            "profiledPods": integer(0, 4096),
            "captures": integer(0, 2147483647),
            "lastCapture": time(),
        },
        ["kind", "name", "uid", "generation", "state"])
    agent = obj(
        {"version": text(0, 64),
         "podNamespace": text(0, 63, desc="Of the pod that it runs in; absent where it runs in none."),
         "bootID": text(0, 36), "kernelVersion": text(0, 64),
         "cgroupMode": enum("v2", "v1", "hybrid"), "features": array(text(0, 32), 32, "set")},
        ["version"], desc="The agent and its kernel.")
    root = obj(
        {**IDENTITY, "agent": agent,
         "conditions": array(condition(63, 256, False), 8, "map", ["type"]),
         "policies": array(row, 256, desc="Those that match something here, or fail."),
         "policiesOmitted": integer(0, 1000000, desc="Rows that found no room.")},
        desc="What one node's agent runs. Written by that agent alone.")
    ready = '.conditions[?(@.type=="Ready")]'
    columns = [
        column("Version", "string", ".agent.version"),
        column("Kernel", "string", ".agent.kernelVersion"),
        column("Cgroups", "string", ".agent.cgroupMode"),
        column("Ready", "string", ready + ".status"),
        column("Reason", "string", ready + ".reason"),
        column("Age", "date", ".metadata.creationTimestamp"),
    ]
    return crd("ProfilingNode", "Cluster", "pfn", root, columns)


def all_crds():
    return [policy_crd(False), policy_crd(True), node_crd()]
