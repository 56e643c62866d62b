#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hub_questions_test.py: `firetower` asks the hub of a real cluster through its API server, by people of several rights."""

import os
import pathlib
import sys

SUPPORT = pathlib.Path(__file__).resolve().parents[1] / "support"
sys.path += [str(SUPPORT / "real"), str(SUPPORT / "kubernetes")]

from case import Case, run
from daemon import BIN, ROOT
from whole_cluster import Cluster, Proxy, wait_for

GROUP = "rbac.authorization.k8s.io"
LIST = {"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]}
FORWARD = {"apiGroups": [""], "resources": ["pods/portforward"], "verbs": ["get", "create"]}
PROFILES = {"apiGroups": ["firetower.dev"], "resources": ["profilingpolicies/profiles"], "verbs": ["get"]}


def account(cluster, name, rules):
    """Makes an account in namespace shop, with rules by namespace, and returns its token."""
    subject = {"kind": "ServiceAccount", "name": name, "namespace": "shop"}
    objects = [{"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name, "namespace": "shop"}}]
    for namespace, granted in rules.items():
        about = {"name": name, "namespace": namespace}
        objects += [{"apiVersion": f"{GROUP}/v1", "kind": "Role", "metadata": about, "rules": granted},
                    {"apiVersion": f"{GROUP}/v1", "kind": "RoleBinding", "metadata": about,
                     "roleRef": {"apiGroup": GROUP, "kind": "Role", "name": name}, "subjects": [subject]}]
    cluster.apply(*objects)
    return cluster.kubectl("-n", "shop", "create", "token", name).strip()


def with_a_store(objects):
    """An empty one for each hub."""
    for one in objects:
        if one["kind"] == "Deployment":
            spec = one["spec"]["template"]["spec"]
            spec["volumes"] = [{"name": "store", "emptyDir": {}}]
            spec["securityContext"]["fsGroup"] = spec["securityContext"]["runAsUser"]
            spec["containers"][0]["volumeMounts"] = [{"name": "store", "mountPath": "/store"}]
    return objects


def install(cluster):
    cluster.agent_image(os.environ.get("FIRETOWER_BUILD", ROOT / "build/dev"))
    for definition in sorted((ROOT / "crd").glob("firetower.dev_*.yaml")):
        cluster.kubectl("apply", "-f", definition)
    cluster.kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=30s")
    for name in ("00-namespace.yaml", "hub-rbac.yaml"):
        cluster.apply(*cluster.manifest(name))
    cluster.apply(*with_a_store(cluster.manifest("hub.yaml", "--store=file:///store")))
    cluster.kubectl("-n", "firetower", "rollout", "status", "deployment/firetower-hub", "--timeout=90s")


def judge_people(case, configs):
    def ask(name, *arguments):
        return run(BIN / "firetower", "types", "--kubeconfig", configs[name], *arguments, check=False, timeout=60)

    def judge(what, done, statuses, *says):
        case.check(what, done.returncode in statuses and all(text in done.stderr for text in says),
                   f"{done.returncode}: {done.stdout}{done.stderr}")

    # Nothing is recorded here: 4 is an answer.
    judge("who may read a namespace is answered", ask("reader", "-n", "shop"), (0, 4))
    judge("and not about all", ask("reader", "-A"), (5,), "may not read the profiles of all namespaces")
    judge("nor about another", ask("reader", "-n", "default"), (5,), 'may not read profiles of namespace "default"')
    judge("who may only reach the hub is refused by it", ask("visitor", "-n", "shop"), (5,), "refuses",
          "kubectl auth can-i get profilingpolicies.firetower.dev/profiles -n shop")
    judge("who may not forward ports is told", ask("looker", "-n", "shop"), (5,), "forbidden: the port of hub firetower/",
          "kubectl auth can-i create pods/portforward -n firetower")
    judge("who may not list pods is told", ask("stranger", "-n", "shop"), (5,),
          "forbidden: list pods in namespace firetower")
    judge("a namespace without a hub is told", ask("admin", "--hub-namespace", "shop"), (5,),
          "no hub runs in namespace shop")


def judge_plugin(case, cluster, config):
    environment = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}", "KUBECONFIG": str(config)}
    done = run(f"{cluster.binaries}/kubectl", "firetower", "types", "-n", "shop", env=environment, check=False,
               timeout=60)
    case.check("kubectl firetower asks the hub", done.returncode in (0, 4), f"{done.returncode}: {done.stderr}")
    wrong = run(f"{cluster.binaries}/kubectl", "firetower", "tpyes", env=environment, check=False, timeout=60)
    case.check("and calls itself so", wrong.stderr.startswith("kubectl firetower: "), wrong.stderr)


def judge_hub_that_goes(case, cluster, config):
    def names():
        return {one["metadata"]["name"] for one in cluster.pods("firetower")
                if one["status"]["phase"] == "Running" and "deletionTimestamp" not in one["metadata"]}

    for name in sorted(names()):
        cluster.kubectl("-n", "firetower", "delete", "pod", name, "--wait=false")
        done = run(BIN / "firetower", "types", "-n", "shop", "--kubeconfig", config, check=False, timeout=60)
        case.check("with one hub on its way out another answers", done.returncode in (0, 4),
                   f"{done.returncode}: {done.stderr}")
        wait_for(lambda: len(names()) == 2, 60)
        cluster.kubectl("-n", "firetower", "rollout", "status", "deployment/firetower-hub", "--timeout=90s")


def main():
    case = Case("cluster.hub-questions")
    with Cluster(case) as cluster:
        cluster.namespace("shop")
        install(cluster)
        proxy = Proxy()
        tokens = {"admin": "admin-token",
                  "reader": account(cluster, "reader", {"firetower": [LIST, FORWARD], "shop": [PROFILES]}),
                  "visitor": account(cluster, "visitor", {"firetower": [LIST, FORWARD]}),
                  "looker": account(cluster, "looker", {"firetower": [LIST], "shop": [PROFILES]}),
                  "stranger": account(cluster, "stranger", {})}
        configs = {name: proxy.kubeconfig(cluster.folder, name, token) for name, token in tokens.items()}
        judge_people(case, configs)
        judge_plugin(case, cluster, configs["reader"])
        judge_hub_that_goes(case, cluster, configs["reader"])
        proxy.close()
        away = run(BIN / "firetower", "types", "--kubeconfig", configs["reader"], check=False, timeout=60)
        case.check("with the API server away it says so", away.returncode == 5 and "cannot reach https://" in away.stderr,
                   away.stderr)
    case.finish()


if __name__ == "__main__":
    main()
