# SPDX-License-Identifier: Apache-2.0
"""What the system benches share: lines `metric value limit verdict`, and a process's own CPU to the nanosecond."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support" / "real"))

_failed = []


def line(metric, value, limit="-", holds=None):
    verdict = "-" if holds is None else "ok" if holds else "FAIL"
    print(f"{metric} {value:.6g} {limit} {verdict}", flush=True)
    if holds is False:
        _failed.append(metric)


def at_most(metric, value, limit):
    line(metric, value, f"<={limit:g}", value <= limit)


def at_least(metric, value, limit):
    line(metric, value, f">={limit:g}", value >= limit)


def finish():
    sys.exit(1 if _failed else 0)


def cpu_seconds(pid):
    """CPU of all living threads. The daemon keeps its threads, so none is missed."""
    total = 0
    for schedstat in pathlib.Path(f"/proc/{pid}/task").glob("*/schedstat"):
        total += int(schedstat.read_text().split()[0])
    return total / 1e9


def rss_bytes(pid):
    for row in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if row.startswith("VmRSS:"):
            return int(row.split()[1]) * 1024
    return 0
