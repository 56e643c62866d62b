#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""catalog_bench.py PROGRAM directory|versitygw|minio [HOURS [NODES]]: what questions by catalogs read and cost.

Six hours of 20 nodes with 600 containers (9 GB on disk), and the catalogs of an hour of NODES
(5,000) nodes with 30 containers each, in a directory or an S3 server of others. Lines: `metric value limit verdict`,
and what has no limit without one. CPU is that of answering, over that of merging the same entries from local files.
"""

import contextlib
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

TESTS = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TESTS / "support" / "real"), str(TESTS / "support" / "stores"), str(TESTS / "bench")]

import object_store
import pprof
import servers
import short
from case import Case

# The questions reach back for 143 minutes.
HOURS, NODES, MANY_NODES, WORKLOADS, ASKED = short.pick((6, 20, 5000, 200, 17), (3, 2, 4, 2, 1))
PAIRS, PAIRS_WITHOUT_LIMIT = short.pick((25, 5), (1, 1))  # cores shared with others run at two speeds, 1 to 1.4
MAX_READ, MAX_CPU, MAX_RSS_MIB = 1.3, 1.5, 200

program, kind, *numbers = sys.argv[1:]
hours = int(numbers[0]) if numbers else HOURS
many_nodes = int(numbers[1]) if len(numbers) > 1 else MANY_NODES
good = True


def run(*words):
    words = [str(word) for word in words]
    out = subprocess.run([program, *words], check=True, capture_output=True, text=True).stdout
    return json.loads(out)


def say(metric, value, limit=None):
    global good
    verdict = ""
    if limit is not None:
        holds = value <= limit
        good = good and short.passes(holds)
        verdict = f" <={limit} {short.verdict(holds)}"
    text = f"{value:.3f}" if isinstance(value, float) else value
    print(f"{metric} {text}{verdict}", flush=True)


def said(answer):
    """Returns a profile's contents, independent of the order of its samples."""
    profile = pprof.parse(answer)
    samples = sorted(repr((one.stack, one.values, sorted(one.labels.items()))) for one in profile.samples)
    return profile.types, profile.period, profile.time_nanos, profile.duration_nanos, samples


def question(name, url, scratch, first, last, limits=True):
    """One question: the entries as files, then answers and merges of these in turn; the median of the pairs' ratios."""
    entries = scratch / f"{name}-entries"
    entries.mkdir()
    copied = run("ask", url, ASKED, first, last, "-", entries)
    files = sorted(entries.iterdir())
    assert copied["profiles"] == len(files) > 0, copied
    cold, warm, answers = [], [], []
    for _ in range(PAIRS if limits else PAIRS_WITHOUT_LIMIT):
        answer = scratch / "answer.pb.gz"
        merged = scratch / "merged.pb.gz"
        first_time, second_time = run("ask", url, ASKED, first, last, answer)
        local = run("merge", merged, *files)
        assert first_time["skipped"] == 0 and first_time["profiles"] == len(files)
        answers.append((answer.read_bytes(), merged.read_bytes()))
        cold.append(first_time["cpu_ms"] / local["cpu_ms"])
        warm.append(second_time["cpu_ms"] / local["cpu_ms"])
    say(f"{name}_entries", len(files))
    say(f"{name}_entry_bytes", copied["entry_bytes"])
    say(f"{name}_requests", first_time["gets"] + first_time["lists"])
    say(f"{name}_requests_again", second_time["gets"] + second_time["lists"])
    say(f"{name}_read_bytes", first_time["read_bytes"])
    say(f"{name}_read_bytes_again", second_time["read_bytes"])
    ratio = first_time["read_bytes"] / copied["entry_bytes"]
    say(f"{name}_read_ratio", ratio, MAX_READ if limits else None)
    say(f"{name}_cpu_ratio", statistics.median(cold), MAX_CPU if limits else None)
    say(f"{name}_cpu_ratio_again", statistics.median(warm), MAX_CPU if limits else None)
    say(f"{name}_peak_mib", first_time["peak_kib"] / 1024, MAX_RSS_MIB)
    assert all(ours == theirs for ours, theirs in answers), "the answer is not the sum of its entries"
    return answers[0][0]


@contextlib.contextmanager
def store(scratch):
    """The URL of an empty store of the kind asked for."""
    if kind == "directory":
        yield f"file://{scratch}/store"
        return
    with servers.running(kind, object_store.built_server(Case(f"bench.catalogs-{kind}"), kind)) as endpoint:
        yield object_store.url(endpoint)


def cluster(url, scratch):
    made = run("generate", url, hours, NODES, WORKLOADS)
    say("store_bytes", made["bytes"])
    end = hours * 60
    asked = {"hour": (end - 120, end - 60), "odd_hour": (end - 143, end - 83), "quarter": (end - 15, end)}
    without = {name: question(f"{name}_without_catalogs", url, scratch, *times, limits=False)
               for name, times in asked.items()}
    written = run("rebuild", url, hours)
    for figure in ("gets", "lists", "puts", "read_bytes", "written_bytes", "cpu_ms"):
        say(f"rebuild_{figure}", written[figure])
    say("rebuild_peak_mib", written["peak_kib"] / 1024, MAX_RSS_MIB)
    before = {name: question(name, url, scratch, *times) for name, times in asked.items()}
    # Roll-ups of one container after the other: the samples of windows come in another order.
    for name in asked:
        assert said(before[name]) == said(without[name]), f"{name}: another answer than without catalogs"
    run("delete-catalogs", url)
    run("rebuild", url, hours)
    for name, times in asked.items():
        assert question(f"{name}_rebuilt", url, scratch, *times) == before[name], "another answer"


def many(url, scratch):
    written = run("rows", url, many_nodes)
    for figure in ("rows", "recent_bytes", "catalogs", "bytes", "cpu_ms"):
        say(f"many_{figure}", written[figure])
    question("many_before_the_hour", url, scratch, 0, 60, limits=False)
    merged = run("merge-hour", url)
    for figure in ("inputs", "catalogs", "bytes", "read_bytes", "cpu_ms"):
        say(f"many_merge_{figure}", merged[figure])
    say("many_merge_peak_mib", merged["peak_kib"] / 1024, MAX_RSS_MIB)
    question("many_hour", url, scratch, 0, 60)
    question("many_quarter", url, scratch, 45, 60)


short.keep_files_in_memory()
for part in cluster, many:
    with tempfile.TemporaryDirectory() as folder, store(folder) as url:
        part(url, pathlib.Path(folder))
sys.exit(0 if good else 1)
