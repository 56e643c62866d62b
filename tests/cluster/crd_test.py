#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The CustomResourceDefinitions as a real API server takes them: cost, rules, defaults, status and columns."""

import copy
import os
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support" / "real"))
sys.dont_write_bytecode = True

import kube as api
from case import Case

POLICIES = f"{api.GROUP}/namespaces/default/profilingpolicies"
CLUSTER_POLICIES = f"{api.GROUP}/clusterprofilingpolicies"
TARGETS = {"workloadRefs": [{"kind": "Deployment", "name": "checkout"}]}
# The defaults that docs/reference/profiling-policy.md promises.
METRICS = {"mode": "TopFunctions", "topFunctions": 5}
STORE = {"mode": "Enabled", "retentionClass": "Standard", "isolation": "Node"}
SCALARS = {"stacks": "UserAndKernel", "suspend": False, "priority": 0,
           "export": {"metrics": METRICS, "objectStore": STORE}}


def policy(spec, cluster=False, name="case"):
    return {"apiVersion": "firetower.dev/v1alpha1",
            "kind": "ClusterProfilingPolicy" if cluster else "ProfilingPolicy",
            "metadata": {"name": name}, "spec": spec}


def installs(case, kube):
    for plural, created, conditions in api.install_definitions(kube):
        case.check(f"{plural} is accepted, the cost of its rules too", created.status == 201, created.message)
        case.check(f"{plural} draws no warning", not created.warnings, created.warnings or "")
        case.check(f"{plural} is established", conditions.get("Established", {}).get("status") == "True")
        case.check(f"{plural} is structural", "NonStructuralSchema" not in conditions)
    # The same rules over unbounded lists: this server does estimate, and would refuse.
    costly = copy.deepcopy(api.definitions()[-1])
    spec = costly["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
    del spec["filter"]["properties"]["processes"]["maxItems"]
    costly["metadata"]["name"] = "costlies.firetower.dev"
    costly["spec"]["names"] = {"kind": "Costly", "plural": "costlies"}
    refused = kube.create(f"{api.DEFINITIONS}?dryRun=All", costly)
    case.check("without a bound the estimated cost is refused",
               refused.status == 422 and "estimated rule cost exceeds budget" in refused.message, refused.message[:200])


def judges(case, kube):
    cases = api.documents("tests/testdata/policies/cases.yaml")[0]
    for one in cases:
        cluster = one.get("cluster", False)
        wanted = one.get("refused")
        # A rule must refuse by itself, also where a client does not ask for strict validation.
        validation = "Ignore" if wanted not in (None, "schema") else "Strict"
        answer = kube.create(
            f"{CLUSTER_POLICIES if cluster else POLICIES}?dryRun=All&fieldValidation={validation}",
            policy(one["spec"], cluster, one.get("policyName", "case")))
        if wanted is None:
            case.check(f"accepted: {one['name']}", answer.status == 201, answer.message)
        else:
            said = answer.status in (400, 422) and (wanted == "schema" or wanted in answer.message)
            case.check(f"refused: {one['name']}", said, answer.message if not said else "")
    case.at_least("cases", len(cases), 80)


def defaults(case, kube):
    def stored(spec, cluster=False):
        answer = kube.create(f"{CLUSTER_POLICIES if cluster else POLICIES}?dryRun=All", policy(spec, cluster))
        return answer.body.get("spec", answer.message)

    minimal = {"mode": "General", "targets": TARGETS}
    targets = {**TARGETS, "podPercent": 100}
    case.check("scalars come back, and nothing that means on", stored(minimal) ==
               {"mode": "General", "targets": targets, **SCALARS}, stored(minimal))
    general = stored({**minimal, "general": {}}).get("general")
    case.check("general", general == {"schedule": "Periodic", "periodSeconds": 300, "durationSeconds": 60}, general)
    rule = {"name": "oom", "metric": "OOMKill"}
    trigger = stored({"mode": "Trigger", "targets": TARGETS, "trigger": {"rules": [rule]}}).get("trigger")
    case.check("trigger", trigger == {
        "rules": [rule], "combine": "AnyOf", "armedFrequencyHertz": 19, "cooldownSeconds": 600,
        "resetPercent": 10, "maxCapturesPerHour": 6,
        "capture": {"preTriggerSeconds": 30, "durationSeconds": 60, "frequencyHertz": 97, "scope": "Pod"},
    }, trigger)
    limits = stored({**minimal, "limits": {}}).get("limits")
    case.check("limits", limits == {"cpu": "50m"}, limits)
    host = stored({"mode": "General", "targets": {"podSelector": {"matchLabels": {}}}}, cluster=True)
    case.check("host processes only when asked for", host["targets"].get("hostProcesses") == "Exclude", host["targets"])
    case.check("no rate is stored: a later default reaches old policies", "profiles" not in host)


def unknown_fields(case, kube):
    misspelt = policy({"mode": "General", "targets": TARGETS, "genral": {}})
    strict = kube.create(f"{POLICIES}?dryRun=All&fieldValidation=Strict", misspelt)
    case.check("strict validation names an unknown field", 'unknown field "spec.genral"' in strict.message, strict.message)
    warned = kube.create(f"{POLICIES}?dryRun=All", misspelt)
    case.check("else it is pruned", warned.status == 201 and "genral" not in warned.body["spec"], warned.message)
    case.check("with a warning", any("genral" in one for one in warned.warnings), warned.warnings)


def status(case, kube):
    path = f"{POLICIES}/checkout"
    made = kube.create(POLICIES, {**policy({"mode": "General", "targets": TARGETS}, name="checkout"),
                                  "status": {"nodes": {"ready": 7}}})
    case.check("status is not taken with the object", made.status == 201 and "status" not in made.body, made.message)
    condition = {"type": "Programmed", "status": "True", "reason": "Programmed", "message": "",
                 "observedGeneration": 1, "lastTransitionTime": "2026-11-21T00:00:00Z"}
    written = kube.merge(path + "/status", {"spec": {"suspend": True}, "status": {
        "observedGeneration": 1, "conditions": [condition], "nodes": {"desired": 2, "ready": 1},
        "pods": {"matched": 3, "profiled": 2}, "captures": {"total": 4}}})
    case.check("status is written by its own path", written.status == 200, written.message)
    case.check("which leaves spec and generation", written.body["spec"]["suspend"] is False
               and written.body["metadata"]["generation"] == 1)
    twice = kube.merge(path + "/status?dryRun=All", {"status": {"conditions": [condition, condition]}})
    case.check("a condition's type is there once", twice.status == 422 and "Duplicate" in twice.message, twice.message)
    edited = kube.merge(path + "?dryRun=All", {"spec": {"suspend": True}})
    case.check("an edit counts a generation", edited.body["metadata"]["generation"] == 2)
    other = kube.create(CLUSTER_POLICIES, policy({"mode": "Filter", "filter": {"cpus": "0"}, "targets": {
        "hostProcesses": "Include"}}, True, "host"))
    case.check("a cluster policy stands beside it", other.status == 201, other.message)


def columns(case, kube):
    table = kube.get(POLICIES, accept=api.TABLE).body
    names = [one["name"] for one in table["columnDefinitions"] if one["priority"] == 0]
    wide = [one["name"] for one in table["columnDefinitions"] if one["priority"] > 0]
    case.check("columns", names == ["Name", "Mode", "Pods", "Nodes", "Desired", "Programmed", "Reason", "Age"], names)
    case.check("wide columns", wide == ["Suspended", "Priority", "Captures"], wide)
    row = dict(zip((one["name"] for one in table["columnDefinitions"]), table["rows"][0]["cells"]))
    wanted = {"Name": "checkout", "Mode": "General", "Pods": 3, "Nodes": 1, "Desired": 2, "Programmed": "True",
              "Reason": "Programmed", "Suspended": False, "Priority": 0, "Captures": 4}
    case.check("a policy's row", wanted.items() <= row.items(), row)
    nodes = kube.get(f"{api.GROUP}/profilingnodes", accept=api.TABLE).body
    names = [one["name"] for one in nodes["columnDefinitions"]]
    case.check("a node's columns", names == ["Name", "Version", "Kernel", "Cgroups", "Ready", "Reason", "Age"], names)
    found = {one["name"]: one for one in kube.get(api.GROUP).body["resources"]}
    short = {name: one.get("shortNames") for name, one in found.items() if "/" not in name}
    case.check("short names", short == {"profilingpolicies": ["pfp"], "clusterprofilingpolicies": ["cpfp"],
                                        "profilingnodes": ["pfn"]}, short)
    case.check("status is a path of the policies alone", {name for name in found if "/" in name} ==
               {"profilingpolicies/status", "clusterprofilingpolicies/status"})
    chosen = [len(kube.get(f"{POLICIES}?fieldSelector=spec.mode={mode}").body["items"]) for mode in ("General", "Filter")]
    case.check("policies are selected by mode", chosen == [1, 0], chosen)


def kubectl(case):
    program = next((folder + "/kubectl" for folder in os.environ.get("FIRETOWER_TEST_BINARIES", "").split(":")
                    if os.access(folder + "/kubectl", os.X_OK)), None) or shutil.which("kubectl")
    if program is None:
        print("SKIP cluster.crd kubectl: it is not there", flush=True)
        return
    config = os.environ["FIRETOWER_TEST_KUBECONFIG"]

    def run(*arguments):
        done = subprocess.run([program, "--kubeconfig", config, "--cache-dir", config + ".cache", *arguments],
                              text=True, capture_output=True, check=False, timeout=60)
        return done.stdout + done.stderr

    shown = run("get", "pfp", "--no-headers").split()
    case.check("kubectl get pfp", shown[:7] == ["checkout", "General", "3", "1", "2", "True", "Programmed"], shown)
    waited = run("wait", "--for=condition=Programmed", "--timeout=5s", "pfp/checkout")
    case.check("kubectl wait --for=condition=Programmed", "condition met" in waited, waited.strip())
    explained = run("explain", "pfp.spec.general.periodSeconds")
    told = "Default: 300." in explained
    case.check("kubectl explain tells the default", told, "" if told else explained)


def main():
    case = Case("cluster.crd")
    kube = api.from_environment()
    installs(case, kube)
    for step in (judges, defaults, unknown_fields, status, columns):
        step(case, kube)
    kubectl(case)
    case.finish()


if __name__ == "__main__":
    main()
