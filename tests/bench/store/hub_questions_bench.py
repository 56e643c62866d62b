#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hub_questions_bench.py PROGRAM [HOURS]: what answering costs firetower-hub itself, of a bucket of versitygw's.

The hub asks a real API server for the rights of who asks. PROGRAM is catalog_bench, which makes the profiles and catalogs of
HOURS (3) of 20 nodes with 600 containers. CPU is the hub's own process, over that of merging the same entries from local
files; memory its resident peak.
"""

import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

TESTS = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TESTS / "cluster"), str(TESTS / "support" / "real"), str(TESTS / "support" / "stores"), str(TESTS / "bench")]

import hub_parts as parts
import hub_profiles_test as rights
import kube as api
import object_store
import pprof
import servers
import short
from case import Case

BEGIN = 1763701200  # catalog_bench's
NODES, WORKLOADS, ASKED = short.pick((20, 200, 17), (2, 2, 1))
ROUNDS, ASKS = short.pick((7, 10), (1, 1))
MAX_CPU, MAX_MIB = 1.5, 200
QUESTION = f'{{namespace="team-{ASKED:03}",workload="checkout-service-{ASKED:05}"}}'


def run(program, *words):
    done = subprocess.run([program, *map(str, words)], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def cpu_ms(pid):
    """User and system, in the ticks of proc(5)."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) * 1000 / os.sysconf("SC_CLK_TCK")


def peak_mib(pid):
    lines = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM:"))


def at_most(case, what, value, limit):
    """Judges a figure, or only shows it in the short form."""
    if short.SHORT:
        case.figure(what, f"{value:.6g} <={limit:g} {short.verdict(value <= limit)}")
    else:
        case.at_most(what, value, limit)


def said(profile):
    return sorted(repr((one.stack, one.values)) for one in pprof.parse(profile).samples)


def judge(case, name, hub, token, program, files, scratch, minutes):
    def answer():
        first, last = (BEGIN + 60 * minute for minute in minutes)
        reply = rights.ask(hub, "/api/v1/profile", token, q=QUESTION, **{"from": first, "to": last})
        if reply.status != 200:
            raise RuntimeError(reply.message)
        return reply.body

    merged = scratch / "merged.pb.gz"
    run(program, "merge", merged, *files)
    case.check(f"{name}: the answer is the sum of its {len(files)} entries", said(answer()) == said(merged.read_bytes()))
    ratios = []
    for _ in range(ROUNDS):
        # One after the other: /proc counts in ticks, too coarse for one, and cores run at two speeds.
        before, local = cpu_ms(hub.process.pid), 0
        for _ in range(ASKS):
            answer()
            local += run(program, "merge", merged, *files)["cpu_ms"]
        ours = cpu_ms(hub.process.pid) - before
        ratios.append(ours / local)
    case.figure(f"{name}: CPU of each {ROUNDS} rounds", " ".join(f"{one:.2f}" for one in ratios))
    at_most(case, f"{name}: CPU of the hub, of merging the same files", statistics.median(ratios), MAX_CPU)


def main():
    program, hours = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 3
    case = Case("bench.hub-questions")
    folder = object_store.built_server(case)
    kube = api.from_environment()
    parts.install(kube)
    api.install_manifest(kube, "k8s/manifests/profile-readers.yaml")
    short.keep_files_in_memory()
    token = rights.account(kube, "reader")
    rights.bind(kube, "firetower-profile-reader", "reader")
    with tempfile.TemporaryDirectory() as work, servers.running("versitygw", folder) as endpoint:
        scratch, url = pathlib.Path(work), object_store.url(endpoint)
        run(program, "generate", url, hours, NODES, WORKLOADS)
        run(program, "rebuild", url, hours)
        config = parts.kubeconfig(kube, work, "hub", parts.account_token(kube, "firetower-hub"))
        end = hours * 60
        asked = {"an hour": (end - 120, end - 60), "an odd hour": (end - 143, end - 83), "a quarter": (end - 15, end)}
        # The generated profiles are of another year, so retention is off.
        with parts.Hub(config, "one", "--store", url, "--cluster=bench", "--retention-standard=0") as hub:
            granted = lambda: rights.ask(hub, "/api/v1/types", token, q=QUESTION).status == 200
            case.check("who asks may", api.until(granted, 30))
            for name, minutes in asked.items():
                entries = scratch / name.replace(" ", "-")
                entries.mkdir()
                run(program, "ask", url, ASKED, *minutes, "-", entries)
                judge(case, name, hub, token, program, sorted(entries.iterdir()), scratch, minutes)
            at_most(case, "MiB of the hub at its largest", peak_mib(hub.process.pid), MAX_MIB)
        shutil.rmtree(hub.folder)  # its log
    case.finish()


if __name__ == "__main__":
    main()
