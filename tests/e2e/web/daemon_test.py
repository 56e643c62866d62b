#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""daemon_test.py: a real firetowerd serves the page, and flame graphs of what this machine just did."""

import json
import pathlib
import subprocess
import sys
import time
import urllib.request

TESTS = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TESTS / "support" / "real"), str(TESTS / "bench" / "real")]

import bench
from case import Case
from daemon import Daemon

SECONDS = 6
LONGEST_SECONDS = 40
# In the interpreter for most of the time, and in the kernel for some.
LOAD = """
import os
zeros = os.open("/dev/zero", os.O_RDONLY)
while True:
    sum(range(1000))
    os.read(zeros, 1 << 15)
"""


def await_load(load):
    """Until it had most of a CPU for SECONDS, which takes longer where it has to share."""
    before, end = bench.cpu_seconds(load.pid), time.monotonic() + LONGEST_SECONDS
    time.sleep(SECONDS)
    while bench.cpu_seconds(load.pid) - before < 0.6 * SECONDS and time.monotonic() < end:
        time.sleep(0.5)


def judge_page(case, daemon):
    request = urllib.request.Request(daemon.url + "/", headers={"Accept": "text/html"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        headers, page = answer.headers, answer.read().decode()
    case.check("the page is HTML", page.startswith("<!doctype html>"), headers["Content-Type"])
    policy = headers["Content-Security-Policy"]
    case.check("its policy allows its own server alone", "default-src 'none'" in policy and "connect-src 'self'" in policy)
    case.check("nothing guesses its type", headers["X-Content-Type-Options"] == "nosniff")


def judge_flame(case, daemon):
    flame = json.loads(daemon.fetch(f"/api/v1/flame?seconds={LONGEST_SECONDS + 4 * SECONDS}"))
    bars = [level[i:i + 4] for level in flame["levels"] for i in range(0, len(level), 4)]
    case.at_least("CPU seconds in the graph", flame["total"] / 1e9, 0.5 * SECONDS)
    case.check("selfs add up to the total", sum(bar[2] for bar in bars) == flame["total"], len(bars))
    modules = [pathlib.PurePath(flame["modules"][module]).name for module in flame["name_modules"]]
    own = sum(bar[2] for bar in bars if modules[bar[3]].startswith(("python3", "libpython3")))
    case.at_least("of them in the interpreter that was busy", own / 1e9, 0.3 * SECONDS)
    case.at_least("bars of the kernel", sum(flame["kinds"][bar[3]] == "1" for bar in bars), 1)
    case.check("the observed time is near the running time", 1 <= flame["observed_seconds"] <= 60,
               flame["observed_seconds"])


def main():
    case = Case("e2e.web-daemon")
    case.need()
    load = subprocess.Popen([sys.executable, "-c", LOAD])
    try:
        with Daemon() as daemon:
            await_load(load)
            judge_page(case, daemon)
            judge_flame(case, daemon)
    finally:
        load.kill()
        load.wait()
    case.finish()


if __name__ == "__main__":
    main()
