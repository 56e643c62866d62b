#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""install_test.py: the chart on a real API server: its objects, Pod Security, CRDs through upgrades, and the notes.

There is no controller: what pods the server would let in is asked with the pods themselves.
"""

import base64
import os
import re
import shlex

from chart import CHART, EVERYTHING, KINDS_OF_PODS, ROOT, ChartCopy, Helm
from case import Case
import kube as api

SPACE = "firetower"
LEVEL = "pod-security.kubernetes.io/"
# Bound of Kubernetes for one object, and so of helm for a release's Secret.
SECRET_BYTES = 1 << 20
# Value that everybody sets who has built the image.
IMAGE = "image.repository=registry.example/firetower"
OPERATOR = "monitoring.coreos.com"


def operators_kinds(kube):
    """Stands in for the Prometheus operator's CRDs, whose own schemas are not asked here."""
    for kind in ("PodMonitor", "PrometheusRule"):
        plural = f"{kind.lower()}s"
        anything = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
        made = kube.create(api.DEFINITIONS, {
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": f"{plural}.{OPERATOR}"},
            "spec": {"group": OPERATOR, "scope": "Namespaced",
                     "names": {"kind": kind, "plural": plural, "singular": kind.lower(), "listKind": f"{kind}List"},
                     "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": anything}}]}})
        if made.status != 201:
            raise RuntimeError(made.message)
        api.until(lambda plural=plural: kube.get(f"/apis/{OPERATOR}/v1/{plural}").status == 200)


def judge_objects(case, kube, helm):
    """Each object by itself: no field that the server does not know, no value that it refuses, nothing it warns of."""
    tls = ("--set", "tls.agent.secret=a,tls.hub.volume.secret.secretName=b,agent.metrics.authorize=true")
    for name, arguments in (("defaults", ()), ("everything", EVERYTHING), ("TLS", tls)):
        objects = [one for one in helm.render(*arguments) if one["kind"] != "Namespace"]
        for one in objects:
            answer = kube.create(f"{api.folder_of(one)}?dryRun=All&fieldValidation=Strict", one)
            what = f"{name}: {one['kind']} {one['metadata']['name']}"
            case.check(f"the server takes {what}", answer.status == 201 and not answer.warnings,
                       answer.message if answer.status != 201 else answer.warnings or "")


def judge_pod_security(case, kube, helm):
    objects = helm.render(*EVERYTHING)
    for level, wanted in (("restricted", {"firetower-hub"}), ("baseline", {"firetower-hub"}),
                          ("privileged", {"firetower-hub", "firetower-agent"})):
        space = f"level-{level}"
        kube.create("/api/v1/namespaces", {"metadata": {"name": space, "labels": {
            f"{LEVEL}enforce": level, f"{LEVEL}warn": level}}})
        let_in = set()
        for workload in (one for one in objects if one["kind"] in KINDS_OF_PODS):
            name, template = workload["metadata"]["name"], workload["spec"]["template"]
            pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": template["metadata"]["labels"]},
                   "spec": template["spec"]}
            answer = kube.create(f"/api/v1/namespaces/{space}/pods?dryRun=All", pod)
            if answer.status == 201:
                let_in.add(name)
            made = kube.create(f"/apis/apps/v1/namespaces/{space}/{workload['kind'].lower()}s?dryRun=All",
                               {**workload, "metadata": {"name": name, "namespace": space}})
            warned = [one for one in made.warnings if "violate PodSecurity" in one]
            case.check(f"{level}: {workload['kind']} {name} {'draws no warning' if name in wanted else 'is warned of'}",
                       made.status == 201 and bool(warned) != (name in wanted), warned or "")
        case.check(f"Pod Security {level} lets in the pods of", let_in == wanted, sorted(let_in))


def notes(said):
    return said.stdout.split("NOTES:", 1)[-1]


def warned(told):
    return next((line for line in told.splitlines() if "WARNING" in line), "no warning")


def planned(helm, *arguments):
    return notes(helm.run("install", SPACE, CHART, "--namespace", SPACE, "--dry-run=server", *arguments))


def judge_branches(case, helm):
    """Checks what the notes tell of the place of profiles and of their deletion."""
    bucket = ("--set-string", "store.url=s3://profiles/prod?region=eu-central-1&path-style=true", "--set", "cluster=blue")
    stay, read, rules = "stay on each node, in /var/lib/firetower", "are read through the hub", "nothing is\never deleted"
    for told, arguments, wanted in (("defaults", (), stay), ("no hub", ("--set", "hub.enabled=false"), stay),
                                    ("a bucket", bucket, read), ("a bucket, no hub", (*bucket, "--set", "hub.enabled=false"), rules)):
        said = planned(helm, *arguments)
        seen = [one for one in (stay, read, rules) if one in said]
        case.check(f"notes: {told}: profiles {wanted}".replace("\n", " "), seen == [wanted], seen)
    # With the bucket and no hub, which is the last.
    command = re.search(r"exec daemonset/firetower-agent -- (firetower-hub .*\\\n.*)$", said, re.MULTILINE).group(1)
    words = shlex.split(command.replace("\\\n", " "))
    case.check("notes: and their command prints the rules of that part of the bucket", words == [
        "firetower-hub", "--print-lifecycle-rules", "--cluster=blue",
        "--store=s3://profiles/prod?region=eu-central-1&path-style=true"], words)


def judge_image(case, helm):
    """A name without a registry is one of docker.io's own images, and this is none. And docs/install.md's way without Helm."""
    for told, arguments, wanted in (("the default", (), True), ("a registry", ("--set", IMAGE), False),
                                    ("loaded into nodes", ("--set", "image.pullPolicy=Never"), False)):
        seen = "docker.io/library/firetower" in planned(helm, *arguments)
        case.check(f"notes: {told}: {'warned of the image' if wanted else 'no warning of the image'}", seen == wanted)
    page = (ROOT / "docs/install.md").read_text(encoding="utf-8")
    said, becomes = re.search(r"sed -i 's[|]([^|]*)[|]([^|]*)[|]' k8s/manifests", page).groups()
    images = [line.strip() for path in (ROOT / "k8s/manifests").glob("*.yaml")
              for line in path.read_text(encoding="utf-8").replace(said, becomes).splitlines() if line.strip().startswith("image:")]
    case.check("without Helm: docs name every image of k8s/manifests", images == [becomes] * 2, images)


def judge_notes(case, kube, helm):
    """From a namespace without a label to one that has it, and the policy that the notes offer."""
    kube.create("/api/v1/namespaces", {"metadata": {"name": SPACE}})
    told = notes(helm.run("install", SPACE, CHART, "--namespace", SPACE, "--set", IMAGE))
    command = f"kubectl label --overwrite namespace {SPACE} {LEVEL}enforce=privileged"
    case.check("notes: a namespace without the label is told of, with the command", "WARNING" in told and command in told, warned(told))
    policy = helm.yaml.safe_load(re.search(r"<<'YAML'\n(.*?)\n  YAML$", told, re.DOTALL | re.MULTILINE).group(1))
    path = f"{api.GROUP}/namespaces/default/profilingpolicies"
    api.until(lambda: kube.get(path).status == 200)
    made = kube.create(f"{path}?fieldValidation=Strict", policy)
    case.check("notes: the server takes their first policy", made.status == 201 and not made.warnings, made.message)
    for level in ("baseline", "privileged"):
        kube.merge(f"/api/v1/namespaces/{SPACE}", {"metadata": {"labels": {f"{LEVEL}enforce": level}}})
        told = notes(helm.run("upgrade", SPACE, CHART, "--namespace", SPACE, "--set", IMAGE))
        if level == "baseline":
            case.check("notes: one that enforces less is named", 'Standard "baseline"' in told and command in told, warned(told))
        else:
            case.check("notes: with the label there is no warning", "WARNING" not in told and command not in told, warned(told))


def definition(kube, plural="profilingpolicies"):
    return kube.get(f"{api.DEFINITIONS}/{plural}.firetower.dev")


def fields(kube):
    version = definition(kube).body["spec"]["versions"][0]
    return version["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]


def older_chart(helm, path):
    """Takes a field from a CRD of the chart that lies there."""
    path /= "files/crds/firetower.dev_profilingpolicies.yaml"
    crd = helm.yaml.safe_load(path.read_text(encoding="utf-8"))
    version = crd["spec"]["versions"][0]
    del version["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["priority"]
    path.write_text(helm.yaml.safe_dump(crd), encoding="utf-8")


def judge_definitions(case, kube, helm):
    """CRDs change with the chart, and stay with the policies when it goes; the release of judge_notes is there."""
    first = f"{api.GROUP}/namespaces/default/profilingpolicies/first"
    with ChartCopy() as older:
        older_chart(helm, older)
        helm.run("upgrade", SPACE, older, "--namespace", SPACE)
        case.check("an older chart has a field less", "priority" not in fields(kube))
        helm.run("upgrade", SPACE, CHART, "--namespace", SPACE)
        case.check("helm upgrade brings a CRD's new field", "priority" in fields(kube))
        helm.run("upgrade", SPACE, older, "--namespace", SPACE)
    helm.run("uninstall", SPACE, "--namespace", SPACE)
    case.check("uninstall leaves the CRDs", definition(kube).status == 200)
    case.check("and the policies", kube.get(first).status == 200)
    left = [f"{one['kind']} {one['metadata']['name']}" for one in helm.render()
            if one["kind"] != "CustomResourceDefinition"
            and kube.get(f"{api.folder_of(one)}/{one['metadata']['name']}").status != 404]
    case.check("and nothing else", not left, left)
    again = helm.run("install", SPACE, CHART, "--namespace", SPACE, ok=False)
    case.check("install after that takes them over", again.returncode == 0, again.stderr)
    case.check("and brings the field that they lacked", "priority" in fields(kube))
    for one in api.definitions():
        served = definition(kube, one["spec"]["names"]["plural"]).body["spec"]["versions"]
        case.check(f"{one['metadata']['name']} is that of crd/", [
            (one["name"], one["schema"]["openAPIV3Schema"]) for one in served] == [
            (one["name"], one["schema"]["openAPIV3Schema"]) for one in one["spec"]["versions"]])


def judge_release(case, kube):
    found = kube.get(f"/api/v1/namespaces/{SPACE}/secrets?labelSelector=owner=helm").body["items"]
    largest = max(len(base64.b64decode(one["data"]["release"])) for one in found)
    case.at_most("bytes of the release's Secret", largest, SECRET_BYTES / 2)


def judge_others(case, kube, helm):
    """One Firetower a cluster; and CRDs that came otherwise."""
    kube.create("/api/v1/namespaces", {"metadata": {"name": "second"}})
    second = helm.run("install", "second", CHART, "--namespace", "second", ok=False)
    case.check("a second release is refused, which names the first", second.returncode != 0 and "exists" in second.stderr
               and SPACE in second.stderr, second.stderr)
    helm.run("uninstall", SPACE, "--namespace", SPACE)
    for one in api.definitions():
        kube.call("DELETE", f"{api.DEFINITIONS}/{one['metadata']['name']}")
    case.check("the CRDs can be deleted", api.until(lambda: definition(kube).status == 404))
    api.install_definitions(kube)
    refused = helm.run("install", SPACE, CHART, "--namespace", SPACE, ok=False)
    case.check("CRDs of kubectl are not taken over unasked", refused.returncode != 0 and "take-ownership" not in refused.stdout
               and "CustomResourceDefinition" in refused.stderr, refused.stderr)
    without = helm.run("install", SPACE, CHART, "--namespace", SPACE, "--set", "crds.install=false", ok=False)
    case.check("crds.install=false leaves them alone", without.returncode == 0, without.stderr)
    taken = helm.run("upgrade", SPACE, CHART, "--namespace", SPACE, "--take-ownership", "--set", "crds.install=true", ok=False)
    annotations = definition(kube).body["metadata"].get("annotations", {})
    case.check("--take-ownership takes them over", taken.returncode == 0
               and annotations.get("meta.helm.sh/release-name") == SPACE, taken.stderr)


def main():
    case = Case("chart.install")
    helm = Helm(case, os.environ["FIRETOWER_TEST_KUBECONFIG"])
    kube = api.from_environment()
    operators_kinds(kube)
    kube.create("/api/v1/namespaces", {"metadata": {"name": "monitoring"}})
    kube.create("/api/v1/namespaces", {"metadata": {"name": SPACE}})
    judge_objects(case, kube, helm)
    judge_pod_security(case, kube, helm)
    judge_branches(case, helm)
    judge_image(case, helm)
    judge_notes(case, kube, helm)
    judge_definitions(case, kube, helm)
    judge_release(case, kube)
    judge_others(case, kube, helm)
    case.finish()


if __name__ == "__main__":
    main()
