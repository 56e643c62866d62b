#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hub_grafana_test.py: a hub over a directory store answers the generated client of Grafana's Pyroscope data source, in
protobuf and JSON, compressed and in chunks, with the values that stored_bundles made; to each what they may read."""

import json
import pathlib
import subprocess
import sys
import tempfile
import time

import hub_parts as parts
import kube as api
import pprof
from case import Case
from daemon import BUILD
from hub_profiles_test import DB, HOST, MINUTES, SHOP, WEB, account, ask, bind

CLIENT = pathlib.Path(__file__).resolve().parents[1] / "support" / "grafana" / "build-client"
CPU = "process_cpu:cpu:nanoseconds:cpu:nanoseconds"
SAMPLES = "process_cpu:samples:count:cpu:nanoseconds"
SAMPLE_NS = 10_000_000
FORMS = ((), ("-json",), ("-gzip",), ("-json", "-gzip"), ("-chunked",))


class Client:
    def __init__(self, program, hub, start):
        self.program = program
        self.url = f"http://127.0.0.1:{hub.port}"
        self.range = {"start": str(start * 1000), "end": str((start + MINUTES * 60) * 1000)}

    def call(self, token, method, request, flags=()):
        """The reply, or {"code", "message"}."""
        done = subprocess.run([self.program, "-url", self.url, "-token", token, *flags, method, json.dumps(request)],
                              capture_output=True, text=True, timeout=60, check=False)
        if done.returncode not in (0, 3):
            raise RuntimeError(f"{method} {request}: {done.stderr}")
        return json.loads(done.stdout)

    def select(self, selector=SHOP, **more):
        return {"profileTypeID": CPU, "labelSelector": selector, **self.range, **more}


def pairs(labels):
    return [(one["name"], one["value"]) for one in labels]


def judge_labels(case, client, token, flags):
    form = " ".join(flags) or "protobuf"
    names = client.call(token, "LabelNames", {"matchers": [SHOP], **client.range}, flags)
    case.check(f"label names, {form}", names.get("names") == [
        "container", "container_id", "namespace", "node", "pod", "pod_uid", "service_name", "workload"], names)
    values = client.call(token, "LabelValues", {"name": "service_name", "matchers": [SHOP], **client.range}, flags)
    case.check(f"label values, {form}", values == {"names": ["web-1-workload"]}, values)
    sets = client.call(token, "Series", {"labelNames": ["service_name", "__profile_type__"], "matchers": [SHOP]}, flags)
    case.check(f"series without a time, {form}", [pairs(one["labels"]) for one in sets.get("labelsSet", [])] == [
        [("service_name", "web-1-workload"), ("__profile_type__", CPU)]], sets)


def judge_values(case, client, token, flags):
    form = " ".join(flags) or "protobuf"
    series = client.call(token, "SelectSeries", client.select(step=60, groupBy=["pod"]), flags).get("series", [])
    first = int(client.range["start"]) + 60_000
    points = [{"value": WEB * SAMPLE_NS, "timestamp": str(first + minute * 60_000)} for minute in range(MINUTES)]
    case.check(f"series, {form}", [(pairs(one["labels"]), one["points"]) for one in series] ==
               [([("pod", "web-1")], points)], series)
    graph = client.call(token, "SelectMergeStacktraces", client.select(maxNodes="100"), flags).get("flamegraph", {})
    total = str(MINUTES * WEB * SAMPLE_NS)
    names = graph.get("names", [""])
    levels = [[*one["values"][:3], names[int(one["values"][3])]] for one in graph.get("levels", [])]
    case.check(f"flame graph, {form}", (levels, graph.get("total"), graph.get("maxSelf"), names[0]) == (
        [["0", total, "0", "total"], ["0", total, "0", "main"], ["0", total, total, "web"]], total, total, "total"),
        graph)
    merged = client.call(token, "SelectMergeProfile", client.select(), flags)
    texts = merged["stringTable"]
    found = [(texts[int(one["type"])], texts[int(one["unit"])]) for one in merged["sampleType"]]
    case.check(f"pprof of one value, {form}", found == [("cpu", "nanoseconds")], found)
    case.check(f"pprof's sum, {form}", [one["value"] for one in merged["sample"]] == [[total]], merged["sample"])


def judge_team(case, client, hub, token):
    case.check("who may read a namespace's profiles gets them", api.until(
        lambda: "names" in client.call(token, "LabelNames", {"matchers": [SHOP], **client.range}), 30))
    for flags in FORMS:
        judge_labels(case, client, token, flags)
        judge_values(case, client, token, flags)
    profile = pprof.parse(ask(hub, "/api/v1/profile", token, q=SHOP).body)
    case.check("which is what /api/v1/profile has", profile.total("cpu") == MINUTES * WEB * SAMPLE_NS)
    samples = client.call(token, "SelectMergeStacktraces", client.select(profileTypeID=SAMPLES))["flamegraph"]["total"]
    case.check("samples", samples == str(MINUTES * WEB), samples)
    counts = client.call(token, "SelectSeries", client.select(profileTypeID=SAMPLES, step=30))["series"]
    case.check("series of samples", sum(point["value"] for point in counts[0]["points"]) == MINUTES * WEB, counts)
    none = client.call(token, "SelectMergeStacktraces", client.select('{namespace="shop",pod="nonesuch"}'))
    case.check("what nothing matches is an empty graph", none["flamegraph"]["names"] == ["total"] and
               none["flamegraph"]["levels"] == [{"values": ["0"] * 4}], none)
    types = client.call(token, "ProfileTypes", {"start": "1000", "end": "4000"})
    case.check("Grafana's health check is answered", types.get("profileTypes", [{}])[0].get("ID") == CPU, types)
    case.check("there are no settings", client.call(token, "Get", {}) == {})


def judge_errors(case, client, token):
    for flags in ((), ("-json",)):
        rows = (
            ("", "LabelNames", {}, "unauthenticated"),
            ("nobodys-token", "ProfileTypes", {}, "unauthenticated"),
            (token, "LabelNames", {}, "permission_denied"),
            (token, "Series", {"matchers": ['{namespace="infra"}']}, "permission_denied"),
            (token, "SelectSeries", client.select('{namespace="infra"}', step=15), "permission_denied"),
            (token, "SelectMergeStacktraces", client.select('{namespace="infra"}'), "permission_denied"),
            (token, "SelectMergeProfile", client.select("{}"), "permission_denied"),
            (token, "Diff", {"left": client.select(), "right": client.select("{}")}, "permission_denied"),
            (token, "SelectMergeStacktraces", client.select("{pod="), "invalid_argument"),
            (token, "SelectMergeStacktraces", client.select(format="PROFILE_FORMAT_TREE"), "unimplemented"),
            (token, "SelectHeatmap", client.select(step=15), "unimplemented"),
        )
        for who, method, request, code in rows:
            reply = client.call(who, method, request, flags)
            case.check(f"{method} of {request.get('labelSelector', request)} is {code} {' '.join(flags)}",
                       reply.get("code") == code and reply["message"], reply)


def judge_everywhere(case, client, token):
    def health():
        return client.call(token, "ProfileTypes", {"start": "1000", "end": "4000"})

    came = api.until(lambda: health() == {}, 30)
    case.check("who may read everything gets what there is: of 1970 nothing", came, health())
    types = [one["ID"] for one in client.call(token, "ProfileTypes", client.range)["profileTypes"]]
    case.check("and of today these types", types == [CPU, SAMPLES], types)
    series = client.call(token, "SelectSeries", client.select("{}", step=60, groupBy=["namespace"]))["series"]
    sums = {dict(pairs(one["labels"]))["namespace"]: sum(point["value"] for point in one["points"]) for one in series}
    wanted = {name: MINUTES * samples * SAMPLE_NS for name, samples in (("shop", WEB), ("infra", DB), ("-", HOST))}
    case.check("series by namespace", sums == wanted, sums)
    one = client.select("{}", step=60, groupBy=["namespace"], limit="1")
    largest = client.call(token, "SelectSeries", one)["series"]
    case.check("of which the largest", [pairs(one["labels"]) for one in largest] == [[("namespace", "shop")]], largest)
    sides = {"left": client.select('{pod="db-0"}'), "right": client.select('{pod="web-1"}')}
    graph = client.call(token, "Diff", sides)["flamegraph"]
    ticks = [int(graph[side]) for side in ("leftTicks", "rightTicks")]
    case.check("a difference's sides", ticks == [wanted["infra"], wanted["shop"]], ticks)
    case.check("seven numbers a bar", all(len(one["values"]) % 7 == 0 for one in graph["levels"]), graph["levels"])
    stats = client.call(token, "GetProfileStats", {})
    wanted = {"dataIngested": True, "newestProfileTime": client.range["end"]}
    case.check("there is data, up to its end", stats == wanted, stats)


def main():
    case = Case("hub.grafana")
    built = subprocess.run([CLIENT], capture_output=True, text=True, check=False)
    if built.returncode != 0:
        case.skip(f"tests/support/grafana/build-client fails: {' '.join(built.stderr.split())[-300:]}")
    kube = api.from_environment()
    parts.install(kube)
    api.install_manifest(kube, "k8s/manifests/profile-readers.yaml")
    folder = pathlib.Path(tempfile.mkdtemp(prefix="firetower-hub-test-"))
    start = int(time.time()) // 60 * 60 - 20 * 60
    subprocess.run([BUILD / "tests/stored_bundles", folder / "store", str(start)], check=True)
    config = parts.kubeconfig(kube, folder, "hub", parts.account_token(kube, "firetower-hub"))
    team, hosts = (account(kube, name) for name in ("team", "hosts"))
    bind(kube, "firetower-profile-reader", "team", "shop")
    bind(kube, "firetower-profile-reader", "hosts")
    bind(kube, "firetower-host-profile-reader", "hosts")
    with parts.Hub(config, "one", "--store", f"file://{folder}/store", "--cluster", "home") as hub:
        client = Client(built.stdout.strip(), hub, start)
        judge_team(case, client, hub, team)
        judge_errors(case, client, team)
        judge_everywhere(case, client, hosts)
        asked = hub.metric("firetower_hub_http_requests_total", route="/querier.v1.QuerierService/SelectSeries")
        case.at_least("requests counted by their route", asked, len(FORMS))
    case.finish()


if __name__ == "__main__":
    sys.exit(main())
