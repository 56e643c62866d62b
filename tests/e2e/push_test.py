#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""push_test.py pyroscope|otlp: what receivers of others read of what is pushed; first a known window, then, as root,
those of a running daemon, which are to be the ones in its store."""

import collections
import os
import pathlib
import sys
import time

SUPPORT = pathlib.Path(__file__).resolve().parents[1] / "support"
sys.path[:0] = [str(SUPPORT / "real"), str(SUPPORT / "push")]

import pprof
import receivers
from case import Case, run
from daemon import Daemon
from metrics import Metrics

WINDOW = pathlib.Path(os.environ["FIRETOWER_BUILD"], "tests", "push_window")
FIRST_NS = 1_763_700_000 * 10**9  # of tests/support/stored_profiles.h
POD_STACKS = {("parse", "serve", "main"): [5, 50_000_000], ("serve", "main"): [1, 10_000_000]}
HOST_STACKS = {("do_syscall_64", "main"): [4, 40_000_000]}


def stacks_of(line):
    return {tuple(sample["stack"]): sample["values"] for sample in line["samples"]}


def judge_pyroscope(case, receiver):
    lines = {line["labels"]["service_name"]: line for line in receiver.lines()}
    case.check("two profiles came", sorted(lines) == ["nginx.service", "shop/web"], sorted(lines))
    pod, host = lines["shop/web"], lines["nginx.service"]
    case.check("labels of the pod", pod["labels"] == {
        "__name__": "process_cpu", "service_name": "shop/web", "namespace": "shop", "pod": "cart-0", "container": "web",
        "workload": "cart-0-workload", "node": "node-1", "cluster": "prod"}, pod["labels"])
    case.check("labels of the host's", host["labels"] == {
        "__name__": "process_cpu", "service_name": "nginx.service", "container": "nginx.service", "node": "node-1", "cluster": "prod"},
        host["labels"])
    case.check("types", pod["sample_types"] == ["samples/count", "cpu/nanoseconds"], pod["sample_types"])
    case.check("period", (pod["period_type"], pod["period"]) == ("cpu/nanoseconds", 10_000_000))
    case.check("time", (pod["time_nanos"], pod["duration_nanos"]) == (FIRST_NS, 60 * 10**9), pod["time_nanos"])
    case.check("stacks and values of the pod", stacks_of(pod) == POD_STACKS, stacks_of(pod))
    case.check("stacks and values of the host", stacks_of(host) == HOST_STACKS, stacks_of(host))
    case.check("no sample has labels", not any(sample["labels"] for sample in pod["samples"] + host["samples"]))


def folded(request, profile):
    sums = collections.Counter()
    for sample in profile["samples"]:
        sums[tuple(request.names(sample))] += sum(map(int, sample["values"]))
    return dict(sums)


def judge_otlp(case, receiver):
    requests = [receivers.Otlp(line) for line in receiver.lines()]
    case.check("one request came", len(requests) == 1, len(requests))
    request = requests[0]
    found = {(attributes["service.name"], request.value_type(profile["sampleType"])): (attributes, profile)
             for attributes, profile in request.profiles()}
    case.check("a profile for each type", sorted(found) == [
        ("cart-0-workload", "cpu/nanoseconds"), ("cart-0-workload", "samples/count"),
        ("nginx.service", "cpu/nanoseconds"), ("nginx.service", "samples/count")], sorted(found))
    attributes, cpu = found["cart-0-workload", "cpu/nanoseconds"]
    case.check("resource of the pod", attributes == {
        "service.name": "cart-0-workload", "service.namespace": "shop", "k8s.cluster.name": "prod",
        "k8s.node.name": "node-1", "k8s.namespace.name": "shop", "k8s.pod.name": "cart-0", "k8s.pod.uid": "uid-cart-0",
        "k8s.container.name": "web", "container.id": "cid-web", "host.name": "node-1"}, attributes)
    case.check("resource of the host's", found["nginx.service", "samples/count"][0] == {
        "service.name": "nginx.service", "host.name": "node-1"})
    case.check("time", (int(cpu["timeUnixNano"]), int(cpu["durationNano"])) == (FIRST_NS, 60 * 10**9))
    case.check("period", (request.value_type(cpu["periodType"]), int(cpu["period"])) == ("cpu/nanoseconds", 10_000_000))
    for index, kind in enumerate(("samples/count", "cpu/nanoseconds")):
        for service, stacks in (("cart-0-workload", POD_STACKS), ("nginx.service", HOST_STACKS)):
            wanted = {stack: values[index] for stack, values in stacks.items()}
            seen = folded(request, found[service, kind][1])
            case.check(f"stacks and values, {service} {kind}", seen == wanted, seen)
    threads = {request.attributes(sample.get("attributeIndices", [])).get("thread.name") for sample in cpu["samples"]}
    case.check("threads", threads == {"worker-1", "worker-2"}, threads)
    host = found["nginx.service", "cpu/nanoseconds"][1]["samples"][0]
    kinds = [request.attributes(one.get("attributeIndices", [])).get("profile.frame.type")
             for one in request.locations(host)]
    case.check("kinds of frames", kinds == ["kernel", "native"], kinds)
    leaf = request.locations(host)[1]
    mapping = request.tables["mappingTable"][leaf["mappingIndex"]]
    case.check("build id", request.attributes(mapping["attributeIndices"]) == {
        "process.executable.build_id.gnu": "0123456789abcdef"})


def pushed(name, receiver):
    """(start, nanoseconds of CPU) of each profile, as often as it came."""
    if name == "pyroscope":
        return collections.Counter((line["time_nanos"], sum(sample["values"][1] for sample in line["samples"]))
                                   for line in receiver.lines())
    found = collections.Counter()
    for request in map(receivers.Otlp, receiver.lines()):
        for _, profile in request.profiles():
            if request.value_type(profile["sampleType"]) == "cpu/nanoseconds":
                found[int(profile["timeUnixNano"]), sum(folded(request, profile).values())] += 1
    return found


def judge_daemon(case, name, program):
    with receivers.running(name, program) as receiver, Daemon("--push", receiver.url, window_seconds=4) as daemon:
        end = time.monotonic() + 13
        while time.monotonic() < end:
            pass  # This loop is the profiled load.
        status, took = daemon.stop()
        case.check("the daemon ends well", status == 0, status)
        case.at_most("seconds that it took", took, 10)
        stored = collections.Counter((profile.time_nanos, profile.total("cpu"))
                                     for *_, profile in pprof.read_store(daemon.store))
        came = pushed(name, receiver)
        case.at_least("profiles in the store", stored.total(), 3)
        case.check("what is stored came, once, and nothing else", came == stored,
                   f"{(came - stored).total()} too many, {(stored - came).total()} missing")


def main(name):
    case = Case(f"e2e.push-{name}")
    program, why = receivers.built(name)
    if program is None:
        case.skip(f"tests/support/push/build-receivers {name} fails: {why}")
    with receivers.running(name, program, unavailable=2) as receiver:
        metrics = Metrics(run(WINDOW, receiver.url).stdout)
        (judge_pyroscope if name == "pyroscope" else judge_otlp)(case, receiver)
    server = receiver.url.split("?")[0]
    requests = [metrics.sum("firetower_push_requests_total", server=server, result=result)
                for result in ("ok", "failed", "refused")]
    case.check("two requests failed, one went through", requests == [1, 2, 0], requests)
    sent = metrics.sum("firetower_push_profiles_total", server=server, result="sent")
    case.check("both profiles count as sent", sent == 2, sent)
    if os.geteuid() == 0:
        judge_daemon(case, name, program)
    case.finish()


if __name__ == "__main__":
    main(sys.argv[1])
