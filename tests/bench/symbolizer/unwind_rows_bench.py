#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""unwind_rows_bench.py PROGRAM: unwind rows beside readelf's interpretation; pairs in one run, medians.

CPU time of the whole process, start and reading included, on both sides.
Lines: `metric value limit verdict`.
"""

import os
import pathlib
import shutil
import statistics
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import short

FILES = short.pick({
    "libLLVM": "/usr/lib/x86_64-linux-gnu/libLLVM-14.so.1",
    "cc1plus": "/usr/lib/gcc/x86_64-linux-gnu/12/cc1plus",
    "node": "/usr/bin/node",
}, {"libstdc++": "/usr/lib/x86_64-linux-gnu/libstdc++.so.6"})
JUDGED = short.pick("libLLVM", "libstdc++")  # The others are shown: they are half as long, and noise as large.
PAIRS = short.pick(7, 1)
READELF = ["readelf", "--debug-dump=frames-interp"]
LIMIT = 0.05


def cpu_ms(command, output):
    """CPU of one run, in ms, of which the kernel counts nanoseconds."""
    child = subprocess.Popen(command, stdout=output, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit(f"{command[0]} ended with {child.returncode}")
    return (usage.ru_utime + usage.ru_stime) * 1e3


def words(command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()


def fdes_of_readelf(path):
    with subprocess.Popen([*READELF, path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as child:
        return sum(b" FDE " in row for row in child.stdout)


def measure(program, name, path):
    ours, theirs = [], []
    for _ in range(PAIRS):
        ours.append(cpu_ms([program, path], subprocess.DEVNULL))
        theirs.append(cpu_ms([*READELF, path], subprocess.DEVNULL))
    ratios = [a / b for a, b in zip(ours, theirs)]
    ratio = statistics.median(ratios)
    verdict = short.verdict(ratio <= LIMIT) if name == JUDGED else "shown"
    print(
        f"unwind_rows_cpu_ratio_{name} {ratio:.4f} <={LIMIT} {verdict}"
        f"  (min {min(ratios):.4f} max {max(ratios):.4f};"
        f" ours {statistics.median(ours):.1f} ms, readelf {statistics.median(theirs):.0f} ms)"
    )
    fdes, raw_rows, rows, kib = words([program, path])
    (rules,) = words([program, path, "rules"])
    print(f"# {name}: {fdes} FDEs, {raw_rows} rows, {rows} merged, {rules} rules, peak {kib} KiB")
    same = int(fdes) == fdes_of_readelf(path)
    print(f"unwind_rows_fdes_agree_{name} {int(same)} >=1 {'ok' if same else 'FAIL'}")
    return same and verdict != "FAIL"


def main(program):
    if shutil.which("readelf") is None:
        print("SKIP bench.unwind_rows: no readelf on PATH")
        return 77
    if not pathlib.Path(FILES[JUDGED]).exists():
        print(f"SKIP bench.unwind_rows: {FILES[JUDGED]} is not installed")
        return 77
    present = {name: path for name, path in FILES.items() if pathlib.Path(path).exists()}
    return 0 if all([measure(program, name, path) for name, path in present.items()]) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
