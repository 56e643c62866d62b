#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""scale_test.py: the dashboards of 5,000 nodes with 30 containers each stay within what Prometheus holds for a query by
default. A real one is asked that has an hour of a few such nodes, and may hold as small a part of it.
"""

import pathlib
import re
import shutil
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tests/support" / name) for name in ("dashboards", "real")]
sys.dont_write_bytecode = True

import families
import panels
from case import Case
from prometheus import Prometheus
from promtool import need_promtool

CLUSTER_NODES, NODES, CONTAINERS, FUNCTIONS = 5000, 4, 30, 5
MAX_SAMPLES = 50_000_000 * NODES // CLUSTER_NODES
SCRAPE, RANGE, END = 30, 3600, 1782900000
# The most series per family and node in this test. The limit on samples would allow 62, but recorded sums are as many
# as in a large cluster, beside the series of few nodes.
MOST_SERIES = 48
# Buckets of a duration.
BOUNDS = 10
PER_CONTAINER = ("firetower_cpu_", "firetower_hotspot_", "firetower_workload_")
CHOSEN = {
    "__rate_interval": "2m",
    "__range": f"{RANGE}s",
    "__from": "0",
    "__to": "0",
    "job": "agents",
    "hub_job": "hub",
    "namespace": ".*",
    "pod": "p0-0",
    "container": ".*",
    "instance": ".+",
    "node": ".*",
    "top": "10",
}


def of_container(node, at):
    """Its series, a pod's of its own, which is most."""
    own = f'namespace="ns{at % 10}",pod="p{node}-{at}"'
    yield "firetower_workload_info", f'{own},workload_kind="Deployment",workload="w{at}"'
    own += ',container="c"'
    yield "firetower_cpu_seconds_total", own
    yield "firetower_hotspot_cpu_seconds_total", f'{own},function="other",binary=""'
    for function in range(FUNCTIONS):
        # One of them is all kernel, or none is.
        binary = "[kernel.kallsyms]" if function == 0 else "app"
        yield (
            "firetower_hotspot_cpu_seconds_total",
            f'{own},function="f{function}",binary="{binary}"',
        )


def of_agent():
    """Its own, as many as the reference says, with the values that panels ask for among them."""
    asked = {}
    for query in panels.queries():
        for name, label, value in families.values_asked(query.expr):
            asked.setdefault((name, label), {})[value] = None
    text = (ROOT / "docs/reference/metrics.md").read_text(encoding="utf-8")
    for row in re.findall(r"^\| `(\w+)` \| (\w+) \| ([^|]*?) \| (\d+)([^|]*)\|", text, re.MULTILINE):
        name, kind, labels, most, _ = row
        if name.startswith(PER_CONTAINER):
            continue
        labels = [one for one in labels.strip("`").split(",") if one]
        for at in range(min(int(most), MOST_SERIES)):
            told = []
            for label in labels:
                values = list(asked.get((name, label), {}))
                told.append(f'{label}="{values[at] if at < len(values) else f"v{at}"}"')
            own = ",".join(told)
            if kind != "histogram":
                yield name, own
                continue
            for bound in [*range(BOUNDS), "+Inf"]:
                yield f"{name}_bucket", f'{own},le="{bound}"'


def past():
    """An hour and a half of the nodes, as OpenMetrics."""
    series = {}
    agent = list(of_agent())
    for node in range(NODES):
        target = f'job="agents",instance="10.0.0.{node}:7070",node="n{node}"'
        own = [("up", ""), *agent, *(one for at in range(CONTAINERS) for one in of_container(node, at))]
        for name, labels in own:
            series.setdefault(name, []).append(f"{target},{labels}".rstrip(","))
    lines = []
    for name, labels in series.items():
        lines.append(f"# TYPE {name} unknown")
        lines += [
            f"{name}{{{one}}} {1 if name == 'up' else at} {at}"
            for one in labels
            for at in range(END - RANGE * 3 // 2, END + 1, SCRAPE)
        ]
    return "\n".join([*lines, "# EOF", ""]), sum(map(len, series.values()))


def most_points(panel):
    """Grafana's step is the range by these, to a round number: over fewer days than points it may be twice as fine."""
    return 2 * panel["maxDataPoints"]


def answer(prometheus, target, expr, points):
    """Samples that it held at once; RuntimeError where it refuses."""
    if target["instant"]:
        told = prometheus.ask("query", query=expr, time=END, stats="all")
    else:
        step = RANGE / points
        told = prometheus.ask("query_range", query=expr, start=END - RANGE, end=END, step=step, stats="all")
    return told["stats"]["samples"]["peakSamples"]


def main():
    case = Case("charts.scale")
    need_promtool(case)
    if shutil.which("prometheus") is None:
        case.skip("prometheus is not installed: it is in Debian's package prometheus")
    text, series = past()
    case.figure("series", f"{series}, {series / NODES:.0f} a node")
    held = {}
    flags = (f"--query.max-samples={MAX_SAMPLES}",)
    with Prometheus({}, [], text, flags) as prometheus:
        for name, board in panels.dashboards().items():
            chosen = {**CHOSEN, "namespace": "ns0"} if name == "pod.json" else CHOSEN
            for panel in panels.panels(board):
                for target in panel.get("targets", []):
                    what = f"{board['title']} / {panel['title']} / {target['refId']}"
                    points = 0 if target["instant"] else most_points(panel)
                    try:
                        expr = panels.filled(target["expr"], chosen)
                        held[what] = answer(prometheus, target, expr, points)
                    except RuntimeError as error:
                        case.check(f"{what} is answered", False, error)
    for what, samples in sorted(held.items(), key=lambda one: -one[1])[:5]:
        case.figure(what, f"{samples * CLUSTER_NODES / NODES / 1e6:.1f} million samples")
    case.at_least("queries that are answered", len(held), len(panels.queries()))
    case.finish()


if __name__ == "__main__":
    main()
