#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""types_test.py: each type of profile end to end on one cluster, over one Deployment with a function for each
(tests/programs/types/every_type.c): the policy's status, the agent's metrics, the object store, kubectl firetower get,
top and diagnose, and the ids that Grafana's client gets.
"""

import contextlib
import json
import os
import pathlib
import secrets
import subprocess
import sys
import time

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path += [str(TESTS / folder) for folder in (
    "support/real", "support/kubernetes", "support/stores", "support/dashboards", "chart")]

import object_store
import pprof
import secrets_seen
import servers
from case import Case, run
from cluster_test import AGENT, SPACE, ready
from daemon import BUILD
from hub_questions_test import FORWARD, LIST, PROFILES, account
from metrics import Metrics
from object_store_test import HUB, Person
from pods_test import IMAGE, Truth, deployment
from policies_test import CHECKOUT, policy
from triggers_test import condition
from whole_cluster import NETWORK, SERVER, Cluster, Proxy, wait_for
from whole_way_test import Way, judge_install

GRAFANA = TESTS / "support" / "grafana" / "build-client"
PROFILES_OF_ALL = [{"type": "CPU", "frequencyHertz": 99}, {"type": "OffCPU"}, {"type": "Lock"},
                   {"type": "Memory", "sampleBytes": 65536},
                   {"type": "Event", "events": [{"name": "context-switches", "frequencyHertz": 49}]}]
# By the type's name: the value that is read by default, its function here, and the least part of it that it has.
TYPES = {"cpu": ("cpu", "burns", 0.3),
         "offcpu": ("off_cpu", "waits_here", 0.1),
         # The rest waits for the lock of its own address space, which it changes all the time.
         "lock": ("delay", "takes_lock", 0.9),
         "memory": ("alloc_space", "allocates_here", 0.99),
         "event:page-faults": ("events", "touches_here", 0.9),
         "event:context-switches": ("events", "waits_here", 0.1)}
# Families of totals and of hotspots, and the function that is the hottest.
FAMILIES = {"cpu_seconds": None, "offcpu_seconds": None, "lock_wait_seconds": "takes_lock",
            "allocated_bytes": "allocates_here", "page_faults": "touches_here"}
IDS = {"process_cpu:cpu:nanoseconds:cpu:nanoseconds", "off_cpu:off_cpu:nanoseconds::",
       "mutex:delay:nanoseconds:contentions:count", "memory:alloc_space:bytes:space:bytes",
       "event:page-faults:events:count:event:count", "event:context-switches:events:count:event:count"}
ARRIVAL_SECONDS = 120


def start(way):
    cluster = way.cluster
    cluster.namespace("shop")
    cluster.apply(deployment("checkout", 1))
    way.reader = Person(cluster, Proxy(), "reader", account(cluster, "reader", {SPACE: [LIST, FORWARD], "shop": [PROFILES]}),
                        secrets_seen.Watch({}))
    way.one = next(iter(wait_for(lambda: Truth(cluster).running("app=checkout")).values()))
    asked = policy("checkout", CHECKOUT)
    cluster.apply({**asked, "spec": {**asked["spec"], "profiles": PROFILES_OF_ALL}})
    way.began = time.time()


def judge_status(way):
    for kind in ("Accepted", "Programmed", "Ready"):
        wait_for(lambda kind=kind: condition(way.cluster, "checkout", kind)[0].startswith("True"), 60)
    found = condition(way.cluster, "checkout", "Degraded")
    way.case.check("the policy's status: all of its types are had here", found[0] == "False/AsExpected", found)


def judge_metrics(way):
    agent, = way.cluster.pods(SPACE, "-l", AGENT)
    url = f"http://127.0.0.1:{Proxy((agent['status']['podIP'], 7070)).port}"

    def read():
        status, body = way.admin.fetch(url, "/metrics")
        return Metrics(body.decode()) if status == 200 else Metrics("")
    of_pod = {"namespace": "shop", "pod": way.name}
    with contextlib.suppress(TimeoutError):
        wait_for(lambda: all(read().sum(f"firetower_{family}_total", **of_pod) > 0 for family in FAMILIES), 60, 1)
    metrics = read()
    for family, function in FAMILIES.items():
        total = metrics.sum(f"firetower_{family}_total", **of_pod)
        way.case.check(f"firetower_{family}_total has the pod", total > 0, total)
        if function is None:
            continue
        rows = metrics.find(f"firetower_hotspot_{family}_total", **of_pod)
        hottest = max(rows, key=lambda row: row[1], default=({}, 0))
        way.case.check(f"its hottest function is {function}", hottest[0].get("function") == function, hottest)


def judge_type(way, name, value, function, part):
    case, reader = way.case, way.reader
    rows = []

    def stored():
        rows[:] = [row for row in way.listed('{workload="checkout"}', "-t", name) if row["start_ms"] / 1000 > way.began]
        return len(rows) >= 2
    with contextlib.suppress(TimeoutError):
        wait_for(stored, ARRIVAL_SECONDS, 1)
    case.check(f"{name}: its windows are in the store", len(rows) >= 2, len(rows))
    path = way.cluster.folder / f"{name}.pb.gz"
    done = reader.ask("get", "deploy/checkout", "-n", "shop", "-t", name, "--since", "5m", "-f", path)
    if not case.check(f"{name}: kubectl firetower get answers", done.returncode == 0, done.stderr):
        return
    profile = pprof.parse(path.read_bytes())
    case.check(f"{name}: the last value is {value}", profile.types[-1][0] == value, profile.types)
    index = profile.value_index(value)
    total = sum(one.values[index] for one in profile.samples)
    its = sum(one.values[index] for one in profile.samples if function in one.names)
    case.at_least(f"{name}: the part of {function}", its / max(total, 1), part)
    told = run("go", "tool", "pprof", "-symbolize=none", "-top", "-cum", path, check=False, timeout=120)
    case.check(f"{name}: go tool pprof reads it", function in told.stdout, told.stderr or told.stdout[:300])
    top = reader.ask("top", "functions", "-n", "shop", "-t", name, "-o", "json", "-k", "50")
    functions = [row.get("function", row.get("name")) for row in json.loads(top.stdout)["rows"]] if top.returncode == 0 else []
    case.check(f"{name}: kubectl firetower top has it", function in functions, top.stderr or functions[:5])


def judge_grafana(way):
    client = run(GRAFANA, timeout=600, check=False).stdout.strip().splitlines()[-1:]
    if not way.case.check("Grafana's client is there", client):
        return
    hub = way.cluster.pods(SPACE, "-l", HUB)[0]["status"]["podIP"]

    def ids(person):
        done = subprocess.run([client[0], "-url", f"http://127.0.0.1:{Proxy((hub, 7080)).port}", "-token", person.token,
                               "ProfileTypes", json.dumps({"start": str(int(way.began * 1000)),
                                                           "end": str(int(time.time() * 1000))})],
                              capture_output=True, text=True, timeout=60, check=False)
        return {one["ID"] for one in json.loads(done.stdout or "{}").get("profileTypes", [])}
    found = ids(way.admin)
    way.case.check("Grafana's client gets the id of each type", IDS <= found, sorted(IDS - found))
    # Which events there are is told to nobody who may not read all: the question names no namespace.
    found, wanted = ids(way.reader), {one for one in IDS if not one.startswith("event:")}
    way.case.check("and with rights for one namespace those that all have", wanted <= found, sorted(wanted - found))


def judge_diagnosis(way):
    done = way.reader.ask("diagnose", "deploy/checkout", "-n", "shop", "--since", "5m", "-o", "json")
    if not way.case.check("kubectl firetower diagnose answers", done.returncode == 0, done.stderr):
        return
    report = json.loads(done.stdout)
    way.case.check("with a verdict on the hottest function", report["verdict"]["hottest"]["function"] == "burns",
                   report["verdict"])


def main():
    case = Case("cluster.types")
    case.need("go", "curl")
    folder = object_store.built_server(case)
    with contextlib.ExitStack() as stack:
        cluster = stack.enter_context(Cluster(case, cgroup_root="/firetower-types"))
        server = stack.enter_context(servers.started(
            "versitygw", folder, address=SERVER[0], network=NETWORK, secret_key=secrets.token_urlsafe(30)))
        way = Way(case, cluster, server)
        program = cluster.folder / "every_type"
        run("cc", "-O1", "-g1", "-static", "-pthread", "-fno-optimize-sibling-calls", "-o", program,
            TESTS / "programs" / "types" / "every_type.c")
        cluster.image(IMAGE, program)
        cluster.agent_image(os.environ.get("FIRETOWER_BUILD", BUILD))
        for what, judge in (("helm install", judge_install), ("the load and its policy", start),
                            ("its status", judge_status), ("metrics", judge_metrics)):
            with case.step(what):
                judge(way)
        for name, (value, function, part) in TYPES.items():
            with case.step(name):
                judge_type(way, name, value, function, part)
        with case.step("Grafana"):
            judge_grafana(way)
        with case.step("diagnosis"):
            judge_diagnosis(way)
    case.finish()


if __name__ == "__main__":
    main()
