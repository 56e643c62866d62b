#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""symbols_bench.py PROGRAM names|dwarf: naming addresses beside llvm-symbolizer; pairs in one run, medians.

names: node, 20,000 addresses, functions only. dwarf: a C++ program with debug information, 20,000
addresses, lines and inlined calls. CPU time of the whole process, start and reading included, on both
sides. Lines: `metric value limit verdict`.
"""

import os
import pathlib
import random
import shutil
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import short

PEER = "llvm-symbolizer-14"
# A machine may have its node elsewhere; libstdc++ comes with the compiler.
NAMED = pathlib.Path(short.pick("/usr/bin/node", "/usr/lib/x86_64-linux-gnu/libstdc++.so.6"))
ADDRESSES = short.pick(20_000, 500)
PAIRS = short.pick(7, 1)
MIN_INFO_BYTES = 15 << 20
# A few addresses do not say it as closely as many: the short form fails where the answers are plainly wrong.
LEAST_EQUAL = short.pick(0.995, 0.95)
_failed = []


def line(metric, value, limit, holds, note="", verdict=short.verdict):
    word = verdict(holds)
    print(f"{metric} {value:.4g} {limit} {word}{note}", flush=True)
    if word == "FAIL":
        _failed.append(metric)


def answer(holds):
    """Returns the verdict on an answer, which is to be right in the short form too."""
    return "ok" if holds else "FAIL"


def measured(command, stdin, stdout):
    """CPU in ms and peak memory in KiB of one run."""
    with open(stdin, encoding="ascii") as addresses:
        child = subprocess.Popen(command, stdin=addresses, stdout=stdout, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit(f"{command[0]} ended with {child.returncode}")
    return (usage.ru_utime + usage.ru_stime) * 1e3, usage.ru_maxrss


def sections(path):
    """Name to (address, size), from readelf."""
    listing = subprocess.run(["readelf", "-SW", path], check=True, capture_output=True, text=True).stdout
    found = {}
    for row in listing.splitlines():
        fields = row[row.find("]") + 1 :].split()
        if len(fields) > 5 and fields[0].startswith("."):
            found[fields[0]] = (int(fields[2], 16), int(fields[4], 16))
    return found


def write_addresses(path, binary):
    """Distinct addresses spread over the code."""
    begin, size = sections(binary)[".text"]
    chosen = random.Random(20240229).sample(range(begin, begin + size), ADDRESSES)
    path.write_text("".join(f"{address:#x}\n" for address in chosen), encoding="ascii")


def blocks(text):
    """The frames of each address."""
    return [block.split("\n") for block in text.rstrip("\n").split("\n\n")]


def cold(program, what, binary, addresses, peer_flags, cpu_limit):
    ours, theirs, our_kib, their_kib = [], [], [], []
    peer = [PEER, f"--obj={binary}", *peer_flags]
    for _ in range(PAIRS):
        cpu, _ = measured([program, what, str(binary), str(addresses), "cold"], addresses, subprocess.DEVNULL)
        ours.append(cpu)
        cpu, kib = measured(peer, addresses, subprocess.DEVNULL)
        theirs.append(cpu)
        their_kib.append(kib)
        # Ours tells itself: what wait4 says begins with the memory of who started it.
        own = subprocess.run(
            [program, what, str(binary), str(addresses), "cold"], check=True, capture_output=True, text=True
        ).stdout
        our_kib.append(int(own))
    ratios = [a / b for a, b in zip(ours, theirs)]
    ratio = statistics.median(ratios)
    line(
        f"symbols_{what}_cold_cpu_ratio",
        ratio,
        f"<={cpu_limit}",
        ratio <= cpu_limit,
        f"  (min {min(ratios):.3f} max {max(ratios):.3f}; ours {statistics.median(ours):.0f} ms,"
        f" {PEER} {statistics.median(theirs):.0f} ms)",
    )
    return statistics.median(our_kib), statistics.median(their_kib), statistics.median(theirs)


def warm(program, what, binary, addresses):
    runs = [
        [
            float(word)
            for word in subprocess.run(
                [program, what, str(binary), str(addresses), "warm"], check=True, capture_output=True, text=True
            ).stdout.split()
        ]
        for _ in range(PAIRS)
    ]
    return statistics.median(run[0] for run in runs), statistics.median(run[1] for run in runs)


def names(program, folder):
    if not NAMED.exists():
        print(f"SKIP bench.symbols_names: {NAMED} is not installed")
        return 77
    addresses = folder / "addresses"
    write_addresses(addresses, NAMED)
    kib, _, _ = cold(program, "names", NAMED, addresses, ["--no-inlines"], 0.35)
    line("symbols_names_cold_mib", kib / 1024, "<=25", kib <= 25 * 1024)
    ours, floor = warm(program, "names", NAMED, addresses)
    line("symbols_names_warm_floor_ratio", floor / ours, ">=0.5", floor / ours >= 0.5, f"  ({ours:.0f} ns, a search {floor:.0f} ns)")
    return 0


def large_program(program):
    """The largest of the programs beside us by its .debug_info: C++ of many units, optimized, inlined."""
    found = []
    build = pathlib.Path(program).parents[1]
    for path in (*build.glob("tests/*"), *build.glob("bin/*")):
        if path.is_file() and os.access(path, os.X_OK) and "." not in path.name:
            size = sections(path).get(".debug_info", (0, 0))[1]
            if size >= MIN_INFO_BYTES:
                found.append((size, path))
    return max(found)[1] if found else None


def dwarf(program, folder):
    named = os.environ.get("FIRETOWER_BENCH_DWARF")
    binary = named or large_program(program)
    # The programs of a dev build have lines and inlined calls alone (-g1), of which both read nearly all: 0.40. A program
    # with types (-g), named by FIRETOWER_BENCH_DWARF, has more to pass over: 0.31.
    limit = 0.35 if named else 0.45
    if binary is None:
        print(f"SKIP bench.symbols_dwarf: no program of this build has {MIN_INFO_BYTES >> 20} MiB of .debug_info")
        return 77
    info = sections(binary)[".debug_info"][1]
    print(f"# {binary}: {info / (1 << 20):.1f} MiB of .debug_info")
    addresses = folder / "addresses"
    write_addresses(addresses, binary)
    kib, their_kib, their_ms = cold(program, "lines", binary, addresses, [], limit)
    ratio = kib / their_kib
    line("symbols_lines_cold_rss_ratio", ratio, "<=0.4", ratio <= 0.4, f"  ({kib / 1024:.0f} MiB, {their_kib / 1024:.0f} MiB)")
    ours, _ = warm(program, "lines", binary, addresses)
    ratio = ours * ADDRESSES / 1e6 / their_ms
    line("symbols_lines_warm_cpu_ratio", ratio, "<=0.03", ratio <= 0.03, f"  ({ours:.0f} ns an address)")
    with open(addresses, encoding="ascii") as stdin:
        theirs = subprocess.run(
            [PEER, f"--obj={binary}", "--no-demangle"], stdin=stdin, check=True, capture_output=True, text=True
        ).stdout
    own = subprocess.run(
        [program, "lines", str(binary), str(addresses), "print"], check=True, capture_output=True, text=True
    ).stdout
    share = compare(own, theirs)
    line("symbols_lines_equal_share", share, f">={LEAST_EQUAL}", share >= LEAST_EQUAL, verdict=answer)
    return 0


def demangled(text):
    """c++filt's names, so that aliases of one constructor are equal."""
    return subprocess.run(["c++filt"], input=text, check=True, capture_output=True, text=True).stdout


def compare(own, theirs):
    ours, peers = blocks(demangled(own)), blocks(demangled(theirs))
    if len(ours) != len(peers):
        sys.exit(f"{len(ours)} and {len(peers)} answers")
    judged, same, shown = 0, 0, 0
    for mine, other in zip(ours, peers):
        # If neither finds a line, llvm shows the symbol's file, which we do not read. Between functions there is
        # nothing to name.
        if other[0] == "??" or other[-1].endswith(":0:0"):
            continue
        judged += 1
        same += mine == other
        if mine != other and shown < 5:
            shown += 1
            print(f"# {mine} and {other}")
    print(f"# {same} of {judged} equal")
    return same / max(judged, 1)


def main(program, what):
    for tool in (PEER, "readelf", "c++filt"):
        if shutil.which(tool) is None:
            print(f"SKIP bench.symbols_{what}: no {tool} on PATH")
            return 77
    with tempfile.TemporaryDirectory() as folder:
        run = {"names": names, "dwarf": dwarf}[what]
        return run(program, pathlib.Path(folder)) or (1 if _failed else 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
