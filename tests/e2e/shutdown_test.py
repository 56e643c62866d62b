#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""shutdown_test.py: SIGTERM flushes the open window in time; a restart inside a window keeps both halves; SIGKILL
loses no window that was closed."""

import pathlib
import signal
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support" / "real"))

import pprof
from case import Case
from containers import Engine
from daemon import Daemon

WINDOW = 30
HALF = 7


def samples_of(store, container):
    return sum(profile.total("samples") for _, pod, name, profile in pprof.read_store(store)
               if (pod, name) == (container.uid, container.name))


def wait_for_window():
    """Until a window has just begun: they are aligned to the wall clock."""
    time.sleep(WINDOW - time.time() % WINDOW + 0.5)


def judge_halves(case, container):
    with Daemon(window_seconds=WINDOW) as first:
        time.sleep(HALF)
        status, took = first.stop()
        case.check("SIGTERM ends the daemon with 0", status == 0, status)
        case.at_most("seconds from SIGTERM to the end", took, 10)
        half = samples_of(first.store, container)
        case.at_least("samples of the open window in the store", half, 0.8 * HALF * 97)
        with Daemon(window_seconds=WINDOW, work=first.work) as second:
            time.sleep(HALF)
            case.check("both halves fell into one window", time.time() % WINDOW > 2 * HALF)
            merged = second.profile(f'{{container="{container.name}"}}')
            case.at_least("samples of both halves, one stored, one open", merged.total("samples") if merged.types else 0,
                          half + 0.8 * HALF * 97)
            second.stop()
            case.at_least("bundles of that window", len(pprof.bundles(second.store)), 2)
            case.at_least("samples of both halves in the store", samples_of(second.store, container),
                          half + 0.8 * HALF * 97)


def judge_kill(case, container):
    with Daemon(window_seconds=2) as daemon:
        time.sleep(9)
        daemon.stop(signal.SIGKILL)
        case.at_least("seconds in the store of 9, killed in windows of 2", samples_of(daemon.store, container) / 97, 6)


def main():
    case = Case("e2e.shutdown")
    case.need("runc", "busybox")
    with Engine() as engine:
        container = engine.container("/bin/toy_stack", 3600).start()
        wait_for_window()
        judge_halves(case, container)
        judge_kill(case, container)
    case.finish()


if __name__ == "__main__":
    main()
