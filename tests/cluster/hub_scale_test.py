#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hub_scale_test.py: the reports of 5,000 agents, spread as agents spread them, and a real hub on a real API server.

Agents are played: each applies its ProfilingNode at its own moment of the span after an edit. Some watch the policies,
as all agents do; what the others' watches would cost is computed from the time that a status write takes.
"""

import concurrent.futures
import http.client
import json
import os
import random
import ssl
import sys
import tempfile
import threading
import time

import hub_parts as parts
import kube as api
from case import Case

AGENTS = int(os.environ.get("FIRETOWER_SCALE_AGENTS", "5000"))
WATCHERS = int(os.environ.get("FIRETOWER_SCALE_WATCHERS", "100"))
OTHER_ROWS = 9  # of other policies, so that a report is as large as usual
WRITERS = 8
# Bound that hub and agents keep (k8s/status/aggregate.h): at most 50 reports a second, as a span.
SPAN = max(1.0, AGENTS / 50)


def rows_of(meta):
    other = [{**parts.row(meta, generation=1), "name": f"other-{i}", "uid": f"{i:036d}"} for i in range(OTHER_ROWS)]
    return [parts.row(meta), *other]


class Agents:
    """Writes the reports of all, each at its own moment."""

    def __init__(self):
        self.local = threading.local()
        self.pool = concurrent.futures.ThreadPoolExecutor(WRITERS)
        self.seconds = []
        self.failed = 0

    def write(self, index, rows, due):
        if not hasattr(self.local, "kube"):
            self.local.kube = api.from_environment()
        time.sleep(max(0.0, due - time.monotonic()))
        began = time.monotonic()
        answer = self.local.kube.apply(f"{parts.NODES}/node-{index}", parts.report(f"node-{index}", *rows), "firetower-agent")
        self.seconds.append(time.monotonic() - began)
        self.failed += answer.status not in (200, 201)

    def report(self, meta, span):
        """All of them, over so many seconds; how long it took."""
        began = time.monotonic()
        rows = rows_of(meta)
        moments = sorted((began + random.uniform(0, span), index) for index in range(AGENTS))
        for done in [self.pool.submit(self.write, index, rows, due) for due, index in moments]:
            done.result()
        return time.monotonic() - began


class Watchers:
    """Connections that watch the policies; how many events came."""

    def __init__(self, kube):
        self.events = 0
        for _ in range(WATCHERS):
            threading.Thread(target=self.watch, args=(kube,), daemon=True).start()

    def watch(self, kube):
        connection = http.client.HTTPSConnection(kube.server.hostname, kube.server.port, timeout=600,
                                                 context=ssl.create_default_context(cafile=kube.authority))
        connection.request("GET", f"{api.GROUP}/profilingpolicies?watch=true", headers={"Authorization": f"Bearer {kube.token}"})
        answer = connection.getresponse()
        while answer.readline():
            self.events += 1


class StatusWrites(threading.Thread):
    """When the status of the policy was written, by the API server's own account."""

    def __init__(self, kube):
        super().__init__(daemon=True)
        self.kube = kube
        self.moments = []
        self.ready = []  # nodes that run the generation observed, as each of these writes counts them
        self.start()

    def run(self):
        known = None
        connection = http.client.HTTPSConnection(self.kube.server.hostname, self.kube.server.port, timeout=600,
                                                 context=ssl.create_default_context(cafile=self.kube.authority))
        connection.request("GET", f"{api.GROUP}/profilingpolicies?watch=true", headers={"Authorization": f"Bearer {self.kube.token}"})
        answer = connection.getresponse()
        while line := answer.readline():
            found = json.loads(line)["object"].get("status")
            if found and found != known:
                known = found
                self.moments.append(time.monotonic())
                self.ready.append(found.get("nodes", {}).get("ready", 0))

    def counted_after(self, first, began):
        """For each node the seconds until a write counted it."""
        seconds = []
        for moment, ready in zip(self.moments[first:], self.ready[first:]):
            seconds += [moment - began] * (ready - len(seconds))
        return seconds


def main():
    case = Case("hub.scale")
    kube = api.from_environment()
    parts.install(kube)
    meta = kube.create(parts.SHOP, parts.policy("checkout")).body["metadata"]
    folder = tempfile.mkdtemp(prefix="firetower-hub-test-")
    config = parts.kubeconfig(kube, folder, "hub", parts.account_token(kube, "firetower-hub"))
    agents = Agents()
    took = agents.report(meta, 0)
    case.figure(f"{AGENTS} reports are made, as fast as {WRITERS} connections write, a second", f"{AGENTS / took:.0f}")
    with parts.Hub(config, "hub-1") as hub:
        case.check("the hub knows them all", api.until(lambda: hub.metric("firetower_hub_nodes") == AGENTS, 60))
        settled = lambda generation: lambda: (
            parts.status(kube, "checkout").get("observedGeneration") == generation
            and parts.conditions(kube, "checkout").get("Programmed") == "True/Programmed")
        case.check("the status settles at first", parts.wait(settled(meta["generation"]), SPAN + 30) is not None)
        found = parts.status(kube, "checkout")
        case.check("and counts them", found["nodes"]["ready"] == AGENTS and found["pods"]["matched"] == 2 * AGENTS, found["nodes"])

        watchers = Watchers(kube)
        writes = StatusWrites(kube)
        time.sleep(3)
        first = len(writes.moments)
        agents.seconds.clear()
        cpu, began = hub.cpu_seconds(), time.monotonic()
        meta = kube.merge(f"{parts.SHOP}/checkout", {"spec": {"priority": 5}}).body["metadata"]
        spent = agents.report(meta, SPAN)
        last = parts.wait(settled(meta["generation"]), 60)
        whole = time.monotonic() - began
        case.check("after an edit the status settles", last is not None, parts.conditions(kube, "checkout"))
        case.figure("from the edit to the last report, s", f"{spent:.1f}")
        # Server, agents and hub share two cores here: what the last reports wait for is their turn.
        case.at_most("from the edit to the settled status, s", whole, max(spent, SPAN) + 15)
        case.check("every report was taken", agents.failed == 0, agents.failed)
        case.at_most("reports a second", AGENTS / spent, 55)
        ordered = sorted(agents.seconds)
        case.figure("a report's apply, median and 99th percentile, ms",
                    f"{ordered[len(ordered) // 2] * 1e3:.1f}, {ordered[int(len(ordered) * 0.99)] * 1e3:.1f}")
        counted = writes.counted_after(first, began)
        case.check("its writes count every node in the end", len(counted) == AGENTS, len(counted))
        case.figure("from the edit until the status counts a node, p50, p95, max, s",
                    ", ".join(f"{counted[int((AGENTS - 1) * part)]:.1f}" for part in (0.5, 0.95, 1)) if counted else "none")
        moments = writes.moments[first:]
        case.figure("status writes after the edit, s", ", ".join(f"{one - began:.1f}" for one in moments))
        case.at_most("status writes a second", len(moments) / whole, 2)
        gaps = [b - a for a, b in zip(moments, moments[1:])]
        # The first two are the generation's first and what changed since; the last is its settling.
        case.at_least("between those that are neither first nor settling, s", min(gaps[:-1] or [99]), 4.8)
        case.figure("the hub's CPU meanwhile, percent of a core", f"{100 * (hub.cpu_seconds() - cpu) / whole:.1f}")
        case.at_most("the hub's resident memory, MiB", hub.resident_mib(), 256)
        case.figure(f"events that {WATCHERS} watchers got of it", watchers.events)
        # 27 us a watcher and write: kubernetes' cost of sending an object of 1.8 KB, as measured on two cores.
        case.figure(f"with {AGENTS} watchers, of the API server's core, percent",
                    f"{100 * len(moments) * AGENTS * 27e-6 / whole:.1f}")
        case.check("no write failed", hub.writes(result="failed") + hub.writes(result="refused") == 0)
    case.finish()


if __name__ == "__main__":
    sys.exit(main())
