#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hub_dashboards_test.py: what Grafana would show of a real hub over a store and of a real agent, on a real API server: every
query of the dashboards that is about the hub or about policies and the API server has data, from these two.
"""

import pathlib
import subprocess
import sys
import tempfile
import time

SUPPORT = pathlib.Path(__file__).resolve().parents[1] / "support"
sys.path[:0] = [str(SUPPORT / "dashboards"), str(SUPPORT / "real")]

import hub_parts as parts
import kube as api
import panels
from case import Case
from daemon import BUILD, Daemon
from hub_profiles_test import account, ask, bind
from prometheus import Prometheus
from shown import Shown

AGENTS = "Firetower / Agent health"
# Of what is asked of the hub's and the agent's dealings with the API server, what happens in a test that goes well.
SEEN = {
    "Leaders",
    "Nodes that report",
    "Policies of the hub",
    "Not in a catalog yet",
    "Requests",
    "Writes to the API server",
    "Looks at the store",
    "Catalogs and bundles",
    "Deleted as too old",
    "Freed",
    "Lease",
    "Policies",
    "Requests to the API server",
    "Last word of the API server",
}


def concerned(query):
    return query.is_hubs or "firetower_kube_" in query.expr or "firetower_policies" in query.expr


def judge(case, shown):
    queries = [query for query in panels.queries() if concerned(query)]
    case.at_least("queries about hub, policies and the API server", len(queries), 20)
    by_fallback = {query.panel for query in shown.judge(case, queries, 30)}
    case.check(
        "what goes on is shown by figures, and not by the 0 of what is not there",
        not by_fallback & SEEN,
        sorted(by_fallback & SEEN),
    )
    value = lambda panel, letter="A": shown.answer(AGENTS, panel, letter)[0][1]
    case.check("one leads", value("Leaders") == 1, value("Leaders"))
    case.check("one node reports", value("Nodes that report") == 1, value("Nodes that report"))
    case.check(
        "the hub knows one policy", value("Policies of the hub") == 1, value("Policies of the hub")
    )
    case.check(
        "no right is missing",
        value("Rights that are missing") == 0,
        value("Rights that are missing"),
    )
    kinds = {
        (labels.get("kind"), labels.get("state")): count
        for labels, count in shown.answer(AGENTS, "Policies")
    }
    case.check("the agent takes it", kinds.get(("ProfilingPolicy", "accepted")) == 1, kinds)
    codes = {labels.get("code") for labels, _ in shown.answer(AGENTS, "Requests to the API server")}
    case.check("requests are shown by their answer", "200" in codes, codes)


def judge_links(case, hub, shown, token):
    """What panels lead to is what the hub answers, to who may read all; e2e.dashboards follows every link."""
    of_all = [
        link
        for link in panels.links()
        if "/api/v1/top" in link.url and link.dashboard == "Firetower / Cluster"
    ]
    path = panels.filled(of_all[0].url, shown.values[of_all[0].dashboard]).removeprefix(
        f"http://127.0.0.1:{hub.port}"
    )
    reply = ask(hub, path, token)
    case.check(
        f"{of_all[0]}: the hub answers", reply.status == 200, f"{reply.status} {reply.message}"
    )


def main():
    case = Case("hub.dashboards")
    case.need("prometheus")
    kube = api.from_environment()
    parts.install(kube)
    api.install_manifest(kube, "k8s/manifests/profile-readers.yaml")
    folder = pathlib.Path(tempfile.mkdtemp(prefix="firetower-hub-test-"))
    store = folder / "store"
    start = int(time.time()) // 60 * 60 - 20 * 60
    subprocess.run([BUILD / "tests/stored_bundles", store, str(start)], check=True)
    kube.create("/api/v1/nodes", {"metadata": {"name": "node-1"}})
    kube.create(f"{parts.SHOP}", parts.policy("checkout"))
    token = account(kube, "hosts")
    bind(kube, "firetower-profile-reader", "hosts")
    bind(kube, "firetower-host-profile-reader", "hosts")
    of_hub = parts.kubeconfig(kube, folder, "hub", parts.account_token(kube, "firetower-hub"))
    of_agent = parts.kubeconfig(kube, folder, "agent", parts.agent_token(kube, "node-1"))
    rules = sorted((panels.CHART / "rules").glob("*.yaml"))
    with parts.Hub(of_hub, "one", "--store", f"file://{store}", "--cluster", "home") as hub:
        with Daemon(
            "--standalone=false", "--kubeconfig", of_agent, "--node-name", "node-1"
        ) as daemon:
            with Prometheus({"agents": daemon.port, "hub": hub.port}, rules) as prometheus:
                api.until(lambda: ask(hub, "/api/v1/top", token, q="{}").status == 200, 30)
                time.sleep(20)
                shown = Shown(prometheus, {}, f"http://127.0.0.1:{hub.port}")
                judge(case, shown)
                judge_links(case, hub, shown, token)
                ended = [
                    alert["labels"]["alertname"]
                    for alert in prometheus.ask("alerts")["alerts"]
                    if "Hub" in alert["labels"]["alertname"]
                ]
                case.check("no alert is about a hub that is well", not ended, ended)
    case.finish()


if __name__ == "__main__":
    sys.exit(main())
