#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""rollout_test.py: a Deployment's roll-out that makes a function 20 % slower is told by the hub.

The old pods serve for some windows, then the Deployment gets other arguments; the Event on it, the hub's metric and
`kubectl firetower diagnose --against rollout` have to name the function, and no other.
"""

import contextlib
import json
import os
import pathlib
import secrets
import sys
import time

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path += [str(TESTS / folder) for folder in (
    "support/real", "support/kubernetes", "support/stores", "support/dashboards", "chart")]

import object_store
import secrets_seen
import servers
from case import Case, run
from cluster_test import SPACE
from daemon import BUILD
from hub_questions_test import FORWARD, LIST, PROFILES, account
from metrics import Metrics
from object_store_test import HUB, Person
from pods_test import IMAGE, Truth, deployment
from policies_test import CHECKOUT, policy
from whole_cluster import NETWORK, SERVER, Cluster, Proxy, wait_for
from whole_way_test import Way, judge_install

OLD, NEW = ("10", "10"), ("12", "10")  # units of parse and of encode
BEFORE_SECONDS = 170
# Three windows of the new pods, as the hub first looks, their upload, and its turn of a minute.
TOLD_SECONDS = 330


def start(way):
    cluster = way.cluster
    cluster.namespace("shop")
    cluster.apply(deployment("checkout", 1, *OLD))
    way.reader = Person(cluster, Proxy(), "reader", account(cluster, "reader", {SPACE: [LIST, FORWARD], "shop": [PROFILES]}),
                        secrets_seen.Watch({}))
    way.one = next(iter(wait_for(lambda: Truth(cluster).running("app=checkout")).values()))
    cluster.apply(policy("checkout", CHECKOUT))
    way.began = time.time()
    time.sleep(BEFORE_SECONDS)


def told(way):
    events = json.loads(way.cluster.kubectl("-n", "shop", "get", "events.v1.events.k8s.io", "-o", "json"))["items"]
    return [one for one in events if one["reason"] == "SlowerSinceRollout"]


def judge_event(way):
    way.cluster.apply(deployment("checkout", 1, *NEW))
    rolled = time.time()
    with contextlib.suppress(TimeoutError):
        wait_for(lambda: told(way), TOLD_SECONDS, 5)
    found = told(way)
    way.case.check("an Event tells what is slower", len(found) == 1, found)
    way.case.at_most("and it comes within, s", time.time() - rolled, TOLD_SECONDS)
    if not found:
        return
    event = found[0]
    way.case.check("it names the function, and no other", event["note"].count(" where it took ") == 1 and ": parse" in event["note"],
                   event["note"])
    about = event["regarding"]
    uid = way.cluster.kubectl("-n", "shop", "get", "deploy", "checkout", "-o", "jsonpath={.metadata.uid}")
    way.case.check("it is on the Deployment", (about["kind"], about["name"], about["uid"]) == ("Deployment", "checkout", uid), about)
    shown = way.cluster.kubectl("-n", "shop", "describe", "deploy", "checkout")
    way.case.check("kubectl describe shows it", "SlowerSinceRollout" in shown, shown[-300:])


def judge_metric(way):
    metrics = []
    for one in way.cluster.pods(SPACE, "-l", HUB):
        status, body = way.admin.fetch(f"http://127.0.0.1:{Proxy((one['status']['podIP'], 7080)).port}", "/metrics")
        metrics += Metrics(body.decode()).find("firetower_rollout_slower_function_percent") if status == 200 else []
    way.case.check("one hub's metric names it", [labels["function"] for labels, _ in metrics] == ["parse"], metrics)


def judge_questions(way):
    listed = way.reader.ask("rollouts", "-n", "shop", "-o", "json")
    rows = json.loads(listed.stdout)["rows"] if listed.returncode == 0 else []
    way.case.check("kubectl firetower rollouts has it", [row["workload"] for row in rows] == ["checkout"], listed.stderr or rows)
    done = way.reader.ask("diagnose", "deploy/checkout", "-n", "shop", "--since", "10m", "--against", "rollout", "-o", "json")
    if way.case.check("diagnose --against rollout answers", done.returncode == 0, done.stderr):
        grown = [one["function"] for one in json.loads(done.stdout)["findings"] if "function" in one]
        way.case.check("and names the function", grown == ["parse"], grown)


def main():
    case = Case("cluster.rollout")
    case.need("go", "curl")
    folder = object_store.built_server(case)
    with contextlib.ExitStack() as stack:
        cluster = stack.enter_context(Cluster(case, cgroup_root="/firetower-rollout"))
        server = stack.enter_context(servers.started(
            "versitygw", folder, address=SERVER[0], network=NETWORK, secret_key=secrets.token_urlsafe(30)))
        way = Way(case, cluster, server)
        program = cluster.folder / "steady_shop"
        run("cc", "-O1", "-g1", "-static", "-fno-optimize-sibling-calls", "-o", program,
            TESTS / "programs" / "rollout" / "steady_shop.c")
        cluster.image(IMAGE, program)
        cluster.agent_image(os.environ.get("FIRETOWER_BUILD", BUILD))
        for what, judge in (("helm install", judge_install), ("the load and its policy", start), ("the Event", judge_event),
                            ("the metric", judge_metric), ("questions", judge_questions)):
            with case.step(what):
                judge(way)
    case.finish()


if __name__ == "__main__":
    main()
