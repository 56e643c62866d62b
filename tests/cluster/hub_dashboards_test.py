#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hub_dashboards_test.py: what Grafana would show of a real hub over a store and of a real agent, on a
real API server: every query of the dashboards that needs a cluster, or is about policies, has series of
its own, from these two. A container is a pod's of that server; a second hub lacks rights, and a
definition goes, for there to be something where faults are counted.
"""

import pathlib
import subprocess
import sys
import tempfile
import time

SUPPORT = pathlib.Path(__file__).resolve().parents[1] / "support"
sys.path[:0] = [str(SUPPORT / "dashboards"), str(SUPPORT / "real")]

import evidence
import hub_parts as parts
import kube as api
import panels
from case import Case
from containers import Engine
from daemon import BUILD, Daemon
from hub_profiles_test import account, ask, bind, lesser
from prometheus import Prometheus
from shown import Shown

AGENTS = "Firetower / Agent health"
POD_BOARD = "Firetower / Pod"
PODS = "/api/v1/namespaces/shop/pods"
POD = {
    "name": "cart-0",
    "labels": {"app": "cart"},
    "ownerReferences": [
        {
            "apiVersion": "apps/v1",
            "kind": "StatefulSet",
            "name": "cart",
            "uid": "5f0b7a52-5a09-4a0c-8d5b-0d6c3f8f6a11",
            "controller": True,
        }
    ],
}
# Definition without objects here.
DEFINITION = "clusterprofilingpolicies"


def start_pod(kube, engine):
    """Makes a pod as the kubelet of node-1 and its runtime would."""
    spec = {"nodeName": "node-1", "containers": [{"name": "cart", "image": "none"}]}
    made = kube.create(PODS, {"metadata": POD, "spec": spec})
    if made.status != 201:
        raise RuntimeError(made.message)
    container = engine.container("/bin/toy_shares", 3600, pod=made.body["metadata"]["uid"]).start()
    status = {
        "name": "cart",
        "ready": True,
        "image": "",
        "imageID": "",
        "restartCount": 0,
        "containerID": f"containerd://{container.id}",
    }
    kube.call(
        "PATCH",
        f"{PODS}/cart-0/status",
        {"status": {"containerStatuses": [status]}},
        "application/strategic-merge-patch+json",
    )


def disturb(case, kube, daemon, hub, other, token):
    """Faults that are counted: watches end with their definition, and a hub that may not ask who asks refuses."""
    kube.call("DELETE", f"{api.DEFINITIONS}/{DEFINITION}.firetower.dev")

    def behind():
        told = daemon.metrics()
        return (
            told.sum("firetower_kube_watch_restarts_total", resource=DEFINITION) > 0
            and told.find("firetower_kube_synced", resource=DEFINITION)[0][1] == 0
            and hub.metric("firetower_kube_synced", resource=DEFINITION) == 0
        )

    case.check("a watch ends with its definition", api.until(behind, 30))
    reply = ask(other, "/api/v1/top", token, q="{}")
    case.check("a hub that may not ask who asks fails", reply.status == 503, reply.message)


def judge(case, shown):
    queries = [
        query
        for query in panels.queries()
        if query.needs_cluster or "firetower_policies" in query.expr
    ]
    case.at_least("queries about hub, policies and the API server", len(queries), 20)
    evidence.judge(case, shown, queries, 30)
    value = lambda panel, letter="A": shown.answer(AGENTS, panel, letter)[0][1]
    case.check("one leads", value("Leaders") == 1, value("Leaders"))
    case.check("one node reports", value("Nodes that report") == 1, value("Nodes that report"))
    case.check(
        "the hub knows one policy", value("Policies of the hub") == 1, value("Policies of the hub")
    )
    case.check(
        "the other hub's two rights are missing",
        value("Rights that are missing") == 2,
        value("Rights that are missing"),
    )
    workloads = {
        (labels.get("workload_kind"), labels.get("workload"))
        for labels, _ in shown.answer(POD_BOARD, "Workload")
    }
    case.check("the pod is its StatefulSet's", workloads == {("StatefulSet", "cart")}, workloads)
    for panel in ("Watches behind", "Hub's watches behind"):
        of = {labels.get("resource") for labels, _ in shown.answer(AGENTS, panel)}
        case.check(f"{panel}: the one whose definition went", DEFINITION in of, of)
    kinds = {
        (labels.get("kind"), labels.get("state")): count
        for labels, count in shown.answer(AGENTS, "Policies")
    }
    case.check("the agent takes it", kinds.get(("ProfilingPolicy", "accepted")) == 1, kinds)
    codes = {labels.get("code") for labels, _ in shown.answer(AGENTS, "Requests to the API server")}
    case.check("requests are shown by their answer", "200" in codes, codes)


def judge_failed(case, hub, shown, token):
    """Soon after the question that failed: what the panel counts is of its last seconds."""
    (query,) = [one for one in panels.queries() if one.panel == "Questions that failed"]
    seen = []

    def is_part():
        ask(hub, "/api/v1/top", token, q="{}")
        seen.append(shown.ask(query)[0][1])
        return 0 < seen[-1] < 1

    case.check("what failed is a part of the questions", api.until(is_part, 10), seen)


def judge_links(case, hub, shown, token):
    """The hub answers the links of panels, for a user who may read all; e2e.dashboards follows every link."""
    address = f"http://127.0.0.1:{hub.port}"
    # One dashboard gets the whole hour: the stored windows are twenty minutes old.
    hour = {"__from": str(int(time.time() * 1000) - 3600 * 1000)}
    paths = {
        panels.filled(link.url, {**shown.values[AGENTS], **hour}).removeprefix(address): link
        for link in panels.links()
        if link.dashboard == AGENTS and "${firetower}/api/" in link.url
    }
    case.at_least("questions that its panels lead to", len(paths), 5)
    of_all = [
        link
        for link in panels.links()
        if "/api/v1/top" in link.url and link.dashboard == "Firetower / Cluster"
    ]
    paths[panels.filled(of_all[0].url, shown.values[of_all[0].dashboard]).removeprefix(address)] = (
        of_all[0]
    )
    for path, link in paths.items():
        reply = ask(hub, path, token)
        why = "" if reply.status == 200 else f"{reply.status} {reply.message}"
        case.check(f"{link}: the hub answers", not why, why)


def judge_alerts(case, prometheus, other):
    """About hubs, but what the one that lacks rights is to be told for."""
    alerts = [
        (one["labels"]["alertname"], one["labels"].get("instance"))
        for one in prometheus.ask("alerts")["alerts"]
        if "Hub" in one["labels"]["alertname"]
    ]
    told = {("FiretowerHubMayNotAsk", f"127.0.0.1:{other.port}")}
    case.check("no alert is about a hub that is well", set(alerts) == told, alerts)


def main():
    case = Case("hub.dashboards")
    case.need("prometheus", "runc", "busybox")
    kube = api.from_environment()
    parts.install(kube)
    api.install_manifest(kube, "k8s/manifests/profile-readers.yaml")
    folder = pathlib.Path(tempfile.mkdtemp(prefix="firetower-hub-test-"))
    store = folder / "store"
    start = int(time.time()) // 60 * 60 - 20 * 60
    subprocess.run([BUILD / "tests/stored_bundles", store, str(start)], check=True)
    kube.create("/api/v1/nodes", {"metadata": {"name": "node-1"}})
    kube.create(f"{parts.SHOP}", parts.policy("checkout", general={"schedule": "Continuous"}))
    token = account(kube, "hosts")
    bind(kube, "firetower-profile-reader", "hosts")
    bind(kube, "firetower-host-profile-reader", "hosts")
    of_hub = parts.kubeconfig(kube, folder, "hub", parts.account_token(kube, "firetower-hub"))
    of_agent = parts.kubeconfig(kube, folder, "agent", parts.agent_token(kube, "node-1"))
    of_other = lesser(kube, folder)
    rules = sorted((panels.CHART / "rules").glob("*.yaml"))
    flags = ("--store", f"file://{store}", "--cluster", "home")
    agent = Daemon("--kubeconfig", of_agent, "--node-name", "node-1", standalone=False)
    with Engine() as engine, parts.Hub(of_hub, "one", *flags) as hub:
        api.until(hub.leads, 30)
        start_pod(kube, engine)
        with parts.Hub(of_other, "other", *flags) as other, agent as daemon:
            jobs = {"agents": [daemon.port], "hub": [hub.port, other.port]}
            with Prometheus(jobs, rules) as prometheus:
                api.until(lambda: ask(hub, "/api/v1/top", token, q="{}").status == 200, 30)
                # An increase is seen of what is there already.
                ask(other, "/api/v1/top", token, q="{}")
                time.sleep(20)
                judge_alerts(case, prometheus, other)
                disturb(case, kube, daemon, hub, other, token)
                shown = Shown(
                    prometheus,
                    {"namespace": "shop", "pod": POD["name"]},
                    f"http://127.0.0.1:{hub.port}",
                )
                judge_failed(case, hub, shown, token)
                judge(case, shown)
                judge_links(case, hub, shown, token)
    case.finish()


if __name__ == "__main__":
    sys.exit(main())
