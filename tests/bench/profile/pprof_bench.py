#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""pprof_bench.py PROGRAM PROTOBUF_BENCH: encoding, merging and comparing beside Go's pprof library; decoding and
encoding beside the C++ code that protoc generates, on an arena. Pairs in one run, medians.

Lines: `metric value limit verdict`. CPU time, not wall.
"""

import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import short

FETCH = HERE.parent.parent / "support/real/fetch-corpora"
PAIRS = short.pick(5, 1)
PPROF = "src/github.com/google/pprof"
# The limits hold that a Profile is read in no more time than by way of protobuf's objects, and in a quarter of the memory.
# Ours orders samples for gzip, which makes the encoding of small profiles longer.
PROTOBUF_LIMITS = [("decode_cpu", 1.1), ("encode_cpu", 1.7), ("held_bytes", 0.25), ("objects_alone_cpu", 3.0)]
# A profile of a real Go program, 1.2 MB.
REAL = f"{PPROF}/internal/proftest/testdata/large.cpu"


def skip(reason):
    print(f"SKIP bench.pprof: {reason}")
    sys.exit(77)


def fetch_gopath():
    corpora = subprocess.run([FETCH], check=True, capture_output=True, text=True).stdout.strip()
    gopath = pathlib.Path(corpora, "gopath")
    if not (gopath / PPROF).is_dir():
        skip("pprof's Go library could not be fetched")
    return gopath


def build_peer(folder, gopath):
    env = {**os.environ, "GO111MODULE": "off", "GOPATH": str(gopath)}
    peer = folder / "peer"
    try:
        subprocess.run(["go", "build", "-o", peer, HERE / "go_peer/main.go"], env=env, check=True)
    except FileNotFoundError:
        skip("no go on PATH")
    return peer


def measure(program, *arguments):
    out = subprocess.run([program, *arguments], check=True, capture_output=True, text=True).stdout
    return [float(word) for word in out.split()]


def top(path):
    """Runs go tool pprof and drops the header, which has the file's own times."""
    command = ["go", "tool", "pprof", "-top", "-nodecount=200", path]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return re.sub(r"(?s)^.*?Showing nodes", "", text)


def compare(name, ours, theirs, limits, peer="go"):
    """Medians of the pairwise ratios, each against its limit."""
    good = True
    for part, (what, limit) in enumerate(limits):
        ratios = [a[part] / b[part] for a, b in zip(ours, theirs)]
        ratio = statistics.median(ratios)
        holds = ratio <= limit
        good = good and short.passes(holds)
        print(
            f"{name}_{what}_ratio {ratio:.4f} <={limit} {short.verdict(holds)}"
            f"  (min {min(ratios):.4f} max {max(ratios):.4f};"
            f" ours {statistics.median(a[part] for a in ours):.0f},"
            f" {peer} {statistics.median(b[part] for b in theirs):.0f})"
        )
    return good


def beside_protobuf(program, files):
    """Decoding into a Profile and encoding it, by our codec and by way of generated code's objects."""
    good = True
    for name, path in files.items():
        pairs = [(measure(program, "ours", path), measure(program, "protobuf", path)) for _ in range(PAIRS)]
        good &= compare(f"protobuf_{name}", *zip(*pairs), PROTOBUF_LIMITS, "protobuf")
    return good


def main(program, protobuf_bench):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        gopath = fetch_gopath()
        peer = build_peer(folder, gopath)
        subprocess.run([program, "generate", folder], check=True)
        parts = sorted(folder.glob("part*.pb.gz"))
        encoded, merged, compared = ([], []), ([], []), ([], [])
        for _ in range(PAIRS):
            for side, tool in enumerate((program, peer)):
                encoded[side].append(measure(tool, "encode", folder / "big.folded", folder / f"e{side}.gz"))
                merged[side].append(measure(tool, "merge", folder / f"m{side}.gz", *parts))
                compared[side].append(measure(tool, "diff", folder / f"d{side}.gz", *parts[:2]))
        # The aims, or what holds where that is less; the limits may only fall. The memory of an encoding is that of the
        # process.
        good = compare("pprof_encode", *encoded, [("cpu", 0.25), ("bytes", 1.0), ("rss", 0.15)])
        good &= compare("pprof_merge", *merged, [("cpu", 0.10), ("bytes", 0.90), ("rss", 0.05)])
        good &= compare("pprof_diff", *compared, [("cpu", 0.15)])
        good &= beside_protobuf(protobuf_bench, {"real": gopath / REAL, "big": folder / "e0.gz"})
        for name in "emd":
            same = top(folder / f"{name}0.gz") == top(folder / f"{name}1.gz")
            print(f"pprof_top_agrees_{name} {int(same)} >=1 {'ok' if same else 'FAIL'}")
            good &= same
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
