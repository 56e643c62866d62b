#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""wide_test.py: programs of which almost no two samples have one stack, and every question about them.

Their flame graph would have some five million bars. Each answer comes, its total is the sum of all samples, and the
daemon stays small meanwhile. The page, Grafana's call and the command agree.
"""

import json
import pathlib
import subprocess
import sys
import time
import urllib.parse
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support" / "real"))

import pprof
from case import Case
from daemon import TOYS, Daemon

SECONDS = 8  # of CPU, of each of two programs
FRAMES = 600
MIB = 1 << 20
MOST_BYTES = 256 * MIB


def peak_bytes(process):
    status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1]) * 1024


def forget_peak(process):
    pathlib.Path(f"/proc/{process.pid}/clear_refs").write_text("5")  # proc(5): resets VmHWM


def query(**parameters):
    return "?" + urllib.parse.urlencode(parameters)


def bars_of(flame):
    """{path: (total, self)} of the bars that stand for one function; rows are depth first."""
    path, bars = [], {}
    for row in flame["rows"]:
        path[row["level"]:] = [row["label"]]
        if "other" not in path:
            bars[tuple(path)] = (row["value"], row["self"])
    return bars


def grafana(daemon, begin_ms, end_ms, max_nodes):
    body = {"profileTypeID": "process_cpu:cpu:nanoseconds:cpu:nanoseconds", "labelSelector": "{}", "start": begin_ms,
            "end": end_ms, "maxNodes": max_nodes}
    request = urllib.request.Request(daemon.url + "/querier.v1.QuerierService/SelectMergeStacktraces",
                                     json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=120) as answer:
        return json.load(answer)["flamegraph"]


def main():
    case = Case("e2e.wide")
    with Daemon("--default-frequency-hertz", 999, window_seconds=4) as daemon:
        begin = time.time()
        loads = [subprocess.Popen([TOYS / "toy_branches", str(SECONDS), str(FRAMES)]) for _ in range(2)]
        for load in loads:
            load.wait()
        end = time.time()
        time.sleep(6)  # until the window with their end is closed: it counts whole, and must not grow
        time_range = {"from": str(int((begin - 1) * 1000)), "to": str(int(end * 1000))}
        case.figure("peak while sampling, MiB", peak_bytes(daemon.process) // MIB)

        profile = pprof.parse(daemon.fetch("/api/v1/profile" + query(**time_range), timeout=120))
        samples_total = sum(sample.values[-1] for sample in profile.samples)
        case.at_least("CPU seconds sampled", samples_total / 1e9, SECONDS)
        depth = max(len(sample.stack) for sample in profile.samples)
        case.at_least("frames of the deepest stack", depth, 20)

        for name, path in (("default", "/api/v1/flame" + query(format="nested", **time_range)),
                           ("1,000 bars", "/api/v1/flame" + query(format="nested", **{"max-nodes": 1000}, **time_range)),
                           ("top functions", "/api/v1/top" + query(by="functions", **time_range)),
                           ("top containers", "/api/v1/top" + query(**time_range)),
                           ("diff", "/api/v1/diff" + query(**{"base-from": "now-1m"}, **time_range)),
                           ("profile", "/api/v1/profile" + query(**time_range))):
            forget_peak(daemon.process)
            began = time.monotonic()
            body = daemon.fetch(path, timeout=120)
            took = time.monotonic() - began
            case.at_most(f"{name}: peak memory, MiB", peak_bytes(daemon.process) / MIB, MOST_BYTES / MIB)
            case.figure(f"{name}: seconds", f"{took:.1f}")
            if name in ("default", "1,000 bars"):
                flame = json.loads(body)
                bars = bars_of(flame)
                case.check(f"{name}: the total is the sum of all samples", flame["total"] == samples_total,
                           f"{flame['total']} of {samples_total}")
                case.check(f"{name}: selfs add up to it", sum(row["self"] for row in flame["rows"]) == samples_total)
                case.at_least(f"{name}: nodes that were cut", flame["cut_nodes"], 2_000_000)
                case.at_most(f"{name}: largest bar that can be missing, % of the whole",
                             100 * flame["max_hidden"] / flame["total"], 0.1)
                way = [total for path, (total, _) in bars.items() if path[-1] == "way_0" and path[-2] == "main"]
                case.at_least(f"{name}: CPU seconds of way_0 called by main", sum(way) / 1e9, 1.6 * SECONDS)
            if name == "top functions":
                case.check("top: the total is the same", json.loads(body)["total"] == samples_total)

        graph = grafana(daemon, int((begin - 1) * 1000), int(end * 1000), 8192)
        case.check("Grafana: the total is the same", int(graph["total"]) == samples_total, graph["total"])

        flame_file = daemon.work / "flame.json"
        said = daemon.cli("flame", "--from", time_range["from"], "--to", time_range["to"], "-f", str(flame_file),
                          "--max-nodes", "8192")
        told = json.loads(flame_file.read_text())
        case.check("firetower flame: the total is the same", told["total"] == samples_total, told["total"])
        doctor = json.loads(daemon.fetch("/api/v1/doctor"))
        said_so = [check["message"] for check in doctor["checks"] if check["name"] == "answers"]
        case.check("the doctor tells of answers that were too wide", len(said_so) == 1, said_so)
        case.figure("firetower flame says", said.stderr.strip().splitlines())
    case.finish()


if __name__ == "__main__":
    main()
