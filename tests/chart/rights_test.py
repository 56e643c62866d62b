#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""rights_test.py: what the chart's pods and accounts may, whatever values are set; and who reaches them."""

import re

from chart import EVERYTHING, KINDS_OF_PODS, Helm, find
from case import Case

# README.md names them; SYS_RESOURCE only where it is asked for, for Linux 5.10.
CAPABILITIES = {"BPF", "PERFMON", "SYS_PTRACE", "SYSLOG", "DAC_READ_SEARCH", "CHECKPOINT_RESTORE"}
# Roles with these endings are for people, who are bound to them or have them by Kubernetes' own.
OF_PEOPLE = ("-reader", "-editor", "-viewer")
POLICIES = ("profilingpolicies", "clusterprofilingpolicies")
# (account, API group, resource) -> verbs: of the agent and the hub nothing else may be granted.
GRANTED = {
    **{("firetower-agent", "firetower.dev", one): {"list", "watch"} for one in POLICIES},
    ("firetower-agent", "firetower.dev", "profilingnodes"): {"create", "patch"},
    **{("firetower-agent", "", one): {"list", "watch"} for one in ("pods", "nodes", "namespaces")},
    ("firetower-agent", "events.k8s.io", "events"): {"create", "patch"},
    ("firetower-agent", "authentication.k8s.io", "tokenreviews"): {"create"},
    ("firetower-agent", "authorization.k8s.io", "subjectaccessreviews"): {"create"},
    **{("firetower-hub", "firetower.dev", one): {"list", "watch", "delete"} for one in POLICIES},
    **{("firetower-hub", "firetower.dev", f"{one}/status"): {"patch"} for one in POLICIES},
    ("firetower-hub", "firetower.dev", "profilingnodes"): {"list", "watch"},
    ("firetower-hub", "events.k8s.io", "events"): {"create", "patch"},
    ("firetower-hub", "apps", "deployments"): {"get"},
    ("firetower-hub", "authentication.k8s.io", "tokenreviews"): {"create"},
    ("firetower-hub", "authorization.k8s.io", "subjectaccessreviews"): {"create"},
}
# In the release's namespace only.
GRANTED_THERE = {
    ("firetower-hub", "coordination.k8s.io", "leases"): {"get", "patch", "create"},
    ("firetower-hub", "", "pods"): {"list", "watch"},
}


def judge_container(case, container, added):
    name, context = container["name"], container["securityContext"]
    case.check(f"{name}: not privileged", context.get("privileged", False) is False)
    case.check(f"{name}: gains no rights by exec", context["allowPrivilegeEscalation"] is False)
    case.check(f"{name}: its root is read-only", context["readOnlyRootFilesystem"] is True)
    case.check(f"{name}: all capabilities are dropped", context["capabilities"]["drop"] == ["ALL"])
    case.check(f"{name}: and these added", set(context["capabilities"].get("add", [])) == added, sorted(added))
    case.check(f"{name}: no CPU limit, a memory limit", set(container["resources"]["limits"]) == {"memory"})
    for probe in ("livenessProbe", "readinessProbe"):
        path = container[probe]["httpGet"]["path"]
        case.check(f"{name}: {probe} asks the program itself", path == {"l": "/livez", "r": "/readyz"}[probe[0]], path)


def judge_agent(case, objects, node_folder, locks):
    daemons = find(objects, "DaemonSet", "firetower-agent")["spec"]
    spec = daemons["template"]["spec"]
    case.check("agent: one container, none before it", len(spec["containers"]) == 1 and "initContainers" not in spec)
    judge_container(case, spec["containers"][0], CAPABILITIES | ({"SYS_RESOURCE"} if locks else set()))
    case.check("agent: sees the node's processes, and shares neither network nor IPC",
               spec["hostPID"] is True and not spec.get("hostNetwork") and not spec.get("hostIPC"))
    case.check("agent: seccomp's filter is the runtime's", spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"})
    folders = {one["hostPath"]["path"]: one["name"] for one in spec["volumes"] if "hostPath" in one}
    case.check("agent: of the node's files it has these", set(folders) == {"/sys/fs/cgroup", node_folder}, sorted(folders))
    mounts = {one["name"]: one for one in spec["containers"][0]["volumeMounts"]}
    case.check("agent: cgroups are read-only", mounts[folders["/sys/fs/cgroup"]].get("readOnly") is True)
    case.check("agent: a tenth of the nodes at a time", daemons["updateStrategy"] == {
        "type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "10%"}}, daemons["updateStrategy"])
    case.at_least("agent: seconds to write its last window", spec["terminationGracePeriodSeconds"], 30)
    case.check("agent: goes last when a node is short", spec["priorityClassName"] == "system-node-critical")


def judge_hub(case, objects):
    spec = find(objects, "Deployment", "firetower-hub")["spec"]["template"]["spec"]
    judge_container(case, spec["containers"][0], set())
    context = spec["securityContext"]
    case.check("hub: not root", context["runAsNonRoot"] is True and context["runAsUser"] > 0)
    shares = [key for key in ("hostPID", "hostNetwork", "hostIPC") if spec.get(key)]
    on_node = [one for one in spec.get("volumes", []) if "hostPath" in one]
    case.check("hub: nothing of the node", not shares and not on_node, (shares, on_node))


def granted(objects, kind):
    rules = {}
    for role in objects:
        if role["kind"] != kind or role["metadata"]["name"].endswith(OF_PEOPLE):
            continue
        for rule in role["rules"]:
            for group in rule["apiGroups"]:
                for resource in rule["resources"]:
                    rules.setdefault((role["metadata"]["name"], group, resource), set()).update(rule["verbs"])
    return rules


def judge_accounts(case, objects):
    for kind, wanted in (("ClusterRole", GRANTED), ("Role", GRANTED_THERE)):
        seen = granted(objects, kind)
        differing = {key for key in seen.keys() | wanted.keys() if seen.get(key) != wanted.get(key)}
        case.check(f"{kind}s grant what is needed and no more", not differing, sorted(differing))
    for binding in (one for one in objects if one["kind"].endswith("Binding") and "subjects" in one):
        subjects = [(one["kind"], one["namespace"], one["name"]) for one in binding["subjects"]]
        name = binding["roleRef"]["name"]
        case.check(f"{binding['kind']} {name}: to its own account", subjects == [("ServiceAccount", "firetower", name)], subjects)


def people(objects):
    """Kubernetes' own role -> {(group, resource): verbs} that the chart adds to it."""
    added = {}
    for role in (one for one in objects if one["kind"] == "ClusterRole"):
        for label, value in role["metadata"].get("labels", {}).items():
            to = label.removeprefix("rbac.authorization.k8s.io/aggregate-to-")
            for rule in role["rules"] if to != label and value == "true" else []:
                for group, resource in ((group, one) for group in rule["apiGroups"] for one in rule["resources"]):
                    added.setdefault(to, {}).setdefault((group, resource), set()).update(rule["verbs"])
    return added


def judge_people(case, helm):
    """By default roles of others are left alone; on demand policies go with their namespace, and profiles never do."""
    case.check("nothing is added to Kubernetes' own roles", people(helm.render()) == {})
    added = people(helm.render("--set", "rbac.aggregate=true"))
    policies, reads = ("firetower.dev", "profilingpolicies"), {"get", "list", "watch"}
    writes = reads | {"create", "update", "patch", "delete"}
    wanted = {"edit": {policies: writes}, "admin": {policies: writes}, "view": {policies: reads}}
    case.check("rbac.aggregate: policies go with a namespace, profiles do not", added == wanted, added)


def judge_reach(case, objects):
    """Each pod has one policy that says who reaches it."""
    for workload in (one for one in objects if one["kind"] in KINDS_OF_PODS):
        labels, name = workload["spec"]["template"]["metadata"]["labels"], workload["metadata"]["name"]
        selector = workload["spec"]["selector"]["matchLabels"]
        case.check(f"{name}: selects its own pods", selector.items() <= labels.items(), selector)
        policies = [one["spec"] for one in objects if one["kind"] == "NetworkPolicy"
                    and one["spec"]["podSelector"]["matchLabels"].items() <= labels.items()]
        case.check(f"{name}: one NetworkPolicy holds for it", len(policies) == 1, len(policies))
        rules = policies[0]["ingress"]
        case.check(f"{name}: which lets in named peers to its one port", "Ingress" in policies[0]["policyTypes"] and all(
            rule["from"] and rule["ports"] == [{"port": "http"}] for rule in rules), rules)


def keys_of(objects, kind, name):
    """The Secret with a pod's keys of the bucket, and the files of it that its program reads."""
    spec = find(objects, kind, name)["spec"]["template"]["spec"]
    secrets = [one["secret"]["secretName"] for one in spec["volumes"] if one["name"] == "store-keys"]
    words = [*spec["containers"][0].get("command", []), *spec["containers"][0].get("args", [])]
    store = next(one for one in words if one.startswith("--store="))
    return secrets, re.findall(r"(?:access|secret)-key-file=/etc/firetower/store/([^&]*)", store)


def judge_keys(case, helm):
    """Keys that may delete stay off the nodes where the hub has keys of its own."""
    bucket = ("--set", "store.url=s3://b", "--set", "store.secret.name=both")
    hub = ("--set", "hub.storeSecret.name=deletes", "--set", "hub.storeSecret.secretKey=key")
    both = ["access-key", "secret-key"]
    for told, arguments, of_agent, of_hub in (
        ("one Secret", bucket, (["both"], both), (["both"], both)),
        ("the hub's own", (*bucket, *hub), (["both"], both), (["deletes"], ["access-key", "key"])),
        ("the hub's alone", (*bucket[:2], *hub), ([], []), (["deletes"], ["access-key", "key"])),
    ):
        objects = helm.render(*arguments)
        for kind, name, wanted in (("DaemonSet", "firetower-agent", of_agent), ("Deployment", "firetower-hub", of_hub)):
            seen = keys_of(objects, kind, name)
            case.check(f"{told}: {name} reads {wanted}", seen == wanted, seen)
        hub_reads = find(objects, "Deployment", "firetower-hub")["spec"]["template"]["spec"]["securityContext"]
        case.check(f"{told}: the hub's group reads them", hub_reads.get("fsGroup") == 65532, hub_reads)


def speaks(objects, kind, name):
    """Returns how a workload speaks: by its port, probes, arguments, files and peers."""
    workload = find(objects, kind, name)["spec"]["template"]
    container, = workload["spec"]["containers"]
    probes = [one["httpGet"] for key, one in container.items() if key.endswith("Probe")]
    policy = find(objects, "NetworkPolicy", name)["spec"]["ingress"]
    told = {
        "port": {container["ports"][0]["name"], *(one["port"] for one in probes),
                 *(port["port"] for rule in policy for port in rule["ports"])},
        "probes": {one.get("scheme", "HTTP") for one in probes},
        "files": sorted(one.split("=")[1] for one in container["args"] if one.startswith("--tls-")),
        "mounts": [one["mountPath"] for one in container.get("volumeMounts", []) if one["name"] == "tls"],
        "volumes": [one for one in workload["spec"].get("volumes", []) if one["name"] == "tls"],
        "annotation": workload["metadata"].get("annotations", {}).get("prometheus.io/scheme"),
    }
    return told


def judge_tls(case, helm):
    plain = {"port": {"http"}, "probes": {"HTTP"}, "files": [], "mounts": [], "volumes": [], "annotation": None}
    secure = {"port": {"https"}, "probes": {"HTTPS"}, "files": [f"/etc/firetower/tls/tls.{one}" for one in ("crt", "key")],
              "mounts": ["/etc/firetower/tls"], "annotation": "https"}
    of_secret = {"name": "tls", "secret": {"secretName": "own", "defaultMode": 0o400}}
    source = '{"projected":{"sources":[{"podCertificate":{"signerName":"example.com/s","keyType":"ED25519"}}]}}'
    for told, arguments, of_agent, of_hub in (
        ("without", (), plain, plain),
        ("of agents", ("--set", "tls.agent.secret=own"), {**secure, "volumes": [of_secret]}, plain),
        ("of hubs", ("--set-json", f"tls.hub.volume={source}"), plain,
         {**secure, "volumes": [{"name": "tls", **helm.yaml.safe_load(source)}]}),
    ):
        objects = helm.render(*arguments)
        for kind, name, wanted in (("DaemonSet", "firetower-agent", of_agent), ("Deployment", "firetower-hub", of_hub)):
            seen = speaks(objects, kind, name)
            case.check(f"TLS {told}: {name}", seen == wanted, seen)
        port, = find(objects, "Service", "firetower-hub")["spec"]["ports"]
        case.check(f"TLS {told}: the Service", {port["name"], port["targetPort"]} == of_hub["port"], port)
    config = "monitoring.podMonitor={\"enabled\":true,\"tlsConfig\":{\"serverName\":\"a\"},\"authorization\":{\"credentials\":{\"name\":\"t\"}}}"
    objects = helm.render("--set", "tls.agent.secret=own,agent.metrics.authorize=true", "--set-json", config)
    endpoint, = find(objects, "PodMonitor", "firetower-agent")["spec"]["podMetricsEndpoints"]
    seen = {key: endpoint.get(key) for key in ("port", "scheme", "tlsConfig", "authorization")}
    case.check("a PodMonitor asks by TLS and with a token", seen == {
        "port": "https", "scheme": "https", "tlsConfig": {"serverName": "a"}, "authorization": {"credentials": {"name": "t"}}}, seen)
    endpoint, = find(objects, "PodMonitor", "firetower-hub")["spec"]["podMetricsEndpoints"]
    case.check("and the hub's does not", (endpoint["port"], endpoint.get("scheme")) == ("http", None), endpoint)
    arguments = find(objects, "DaemonSet", "firetower-agent")["spec"]["template"]["spec"]["containers"][0]["args"]
    case.check("agent.metrics.authorize is the agents' option", "--metrics-authorize" in arguments, arguments)
    rules = find(objects, "ClusterRole", "firetower-metrics-reader")["rules"]
    case.check("and there is a role for it", rules == [{"nonResourceURLs": ["/metrics"], "verbs": ["get"]}], rules)


def main():
    case = Case("chart.rights")
    helm = Helm(case)
    for folder, locks, arguments in (("/var/lib/firetower", False, ()), ("/mnt/profiles", True, EVERYTHING)):
        objects = helm.render(*arguments)
        judge_agent(case, objects, folder, locks)
        judge_hub(case, objects)
        judge_accounts(case, objects)
        judge_reach(case, objects)
        told = helm.yaml.safe_dump_all(objects)
        case.check("no Secret is made, none is asked for by name in an environment", not any(
            one["kind"] == "Secret" for one in objects) and "secretKeyRef" not in told)
    judge_keys(case, helm)
    judge_people(case, helm)
    judge_tls(case, helm)
    case.finish()


if __name__ == "__main__":
    main()
