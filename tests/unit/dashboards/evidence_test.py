#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""evidence_test.py: what e2e.dashboards and hub.dashboards judge panels by fails where it is to fail.
Of queries that all have data, for they show 0 where there is nothing, those that misspell something or
have no series are told from the others, by a real Prometheus that scrapes an exposition written here.
"""

import contextlib
import http.server
import pathlib
import shutil
import sys
import threading

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tests/support" / name) for name in ("dashboards", "real")]
sys.dont_write_bytecode = True

import evidence
from case import Case
from panels import Query
from prometheus import Prometheus
from shown import Shown
from triggers import wait_for

# The family of pushes exists, but has no series, because nothing was pushed.
EXPOSITION = b"""# TYPE firetower_samples_total counter
firetower_samples_total 7
# TYPE firetower_policies gauge
firetower_policies{kind="ProfilingPolicy",state="accepted"} 3
firetower_policies{kind="ProfilingPolicy",state="refused"} 0
# TYPE firetower_push_profiles_total counter
"""
OR_ZERO = " or on() vector(0)"
OR_ROW = ' or on() label_replace(vector(1), "server", "none", "", "")'
POLICIES = 'firetower_policies{job=~"$job", state="accepted"}'
MISSPELT = 'firetower_policys{job=~"$job"}'
PUSHED = 'firetower_push_profiles_total{job=~"$job"}'
GOOD = [
    f"sum({POLICIES})",
    f"sum({POLICIES}){OR_ZERO}",
    f"sum({POLICIES}){OR_ROW}",
    f"count({POLICIES} == 3){OR_ZERO}",
    f"(sum({POLICIES}){OR_ZERO}) / sum(firetower_samples_total)",
]
BAD = [
    f"sum({MISSPELT}){OR_ZERO}",
    f"sum({POLICIES.replace('accepted', 'acepted')}){OR_ZERO}",
    f"sum({POLICIES.replace('state', 'stat')}){OR_ZERO}",
    # An exclusion that would exclude nothing.
    f"sum({POLICIES.replace('state=', 'state!=').replace('accepted', 'acepted')}){OR_ZERO}",
    # One name of two, of which the other has an answer; a part of a fraction.
    f"sum({POLICIES}) or sum({MISSPELT}){OR_ZERO}",
    f"(sum({MISSPELT}){OR_ZERO}) / sum(firetower_samples_total)",
    # Well spelt, and nothing there.
    f"sum({PUSHED}){OR_ZERO}",
    f"sum({PUSHED}){OR_ROW}",
    f"count({POLICIES} == 4){OR_ZERO}",
]


class Listener(http.server.BaseHTTPRequestHandler):
    def do_GET(self):  # noqa: N802, the base class's name
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; version=0.0.4")
        self.end_headers()
        self.wfile.write(EXPOSITION)

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def exposed():
    """The port where it is answered."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Listener) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


class Told:
    """A case that fails in silence."""

    def __init__(self):
        self.failed = []

    def check(self, what, holds, seen=""):
        if not holds:
            self.failed.append(f"{what} ({seen})")
        return holds


def judge(case, shown, expr, good, legend=""):
    query = Query("Firetower / Agent health", "One", "A", expr, True, legend)
    told = Told()
    evidence.judge(told, shown, [query], 0)
    case.check(f"{expr}: has data", bool(shown.answers[query]))
    case.check(f"and is {'taken' if good else 'refused'}", good == (not told.failed), told.failed)


def main():
    case = Case("charts.evidence")
    if shutil.which("prometheus") is None:
        case.skip("prometheus is not installed: it is in Debian's package prometheus")
    with exposed() as port, Prometheus({"agents": [port]}, []) as prometheus:
        wait_for(lambda: prometheus.label_values("firetower_samples_total", "job"), 30)
        shown = Shown(prometheus, {}, "")
        for expr in GOOD + BAD:
            judge(case, shown, expr, expr in GOOD)
        judge(case, shown, f"sum by (state) ({POLICIES})", True, "{{state}}")
        judge(case, shown, f"sum by (state) ({POLICIES})", False, "{{stat}}")
    case.finish()


if __name__ == "__main__":
    main()
