#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""session_test.py: a program begins to compute for the first 100 ms of each second, and for 40 ms from 500 ms on. On the pages of the
daemon that watches, its row appears, leads to its function, the difference to before names it, and the heat map shows its stripes,
each with its own flame graph."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

TESTS = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TESTS / "support" / "real"))

from case import Case
from daemon import Daemon
from group import Group

HERE = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(os.environ.get("FIRETOWER_BUILD", "build/dev")).resolve()
HERTZ = 199
WINDOW = 10


def session(daemon, container, idle, started):
    """Returns the findings of the browser by their names."""
    web = subprocess.run([TESTS / "support/web/fetch-web"], capture_output=True, text=True, check=True).stdout.strip()
    done = subprocess.run(
        ["node", HERE / "session_test.mjs", daemon.url, container, str(idle), str(started), str(WINDOW * 1000)],
        env={**os.environ, "FIRETOWER_WEB": web, "CHROMIUM": shutil.which("chromium")}, capture_output=True, text=True,
        timeout=240, check=False)
    found = {}
    for line in done.stdout.splitlines():
        one = json.loads(line)
        found[one["what"]] = one["value"]
    if done.returncode:
        found["failed"] = done.stderr[-2000:]
    return found


def judge(case, found, container):
    case.check("the session came to its end", "failed" not in found, found.get("failed", ""))
    case.at_most("the row is there after so many ms, two windows and a refresh", found.get("row after ms", 1e9), (2 * WINDOW + 5) * 1000)
    case.check("it leads to the container", f'container="{container}"' in found.get("row leads to", ""), found.get("row leads to"))
    case.check("whose function is the first", found.get("hottest function") == "spin", found.get("hottest function"))
    case.check("the difference to before names it first", found.get("changed most") == "spin", found.get("difference"))
    lit, counted = found.get("lit rows", [0] * 50), found.get("rows with samples", [1] * 50)
    case.at_most("rows are lit as often as they have samples, but for", max(abs(one - other) for one, other in zip(lit, counted)), 0.1)
    # A machine that others use gives the program less than it asks for.
    case.at_least("rows of the burst, of which so many cells are lit", min(lit[0:5]), 0.3)
    case.at_least("and of the tick", min(lit[25:27]), 0.3)
    case.at_most("rows between them", max(lit[8:24] + lit[30:48]), 0.1)
    functions = {name: total for name, _, total in found.get("functions of the selection", [])}
    case.at_least("a drag over the burst's stripe shows the burst, per cent", float(functions.get("burst", "0 %").split()[0]), 97)
    case.check("and nothing of the tick", "tick" not in functions, functions)
    case.check("nothing was asked of another server", found.get("strange requests") == [], found.get("strange requests"))
    case.check("the pages complain of nothing", found.get("complaints") == [], found.get("complaints"))
    for what in ("its share", "difference", "selection"):
        case.figure(what, found.get(what))


def main():
    case = Case("e2e.web-session")
    case.need()
    for program in ("node", "npm", "chromium"):
        if not shutil.which(program):
            case.skip(f"no {program} on PATH")
    with Daemon("--default-frequency-hertz", HERTZ, window_seconds=WINDOW) as daemon:
        time.sleep(WINDOW + 2)
        idle = int(time.time() - WINDOW - 1) * 1000
        group = Group()
        try:
            started = int(time.time() * 1000)
            group.run(str(BUILD / "toys" / "pulses"), str(16 * WINDOW))
            container = group.id[:12]
            judge(case, session(daemon, container, idle, started), container)
        finally:
            group.remove()
    case.finish()


if __name__ == "__main__":
    main()
