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
# At 97 Hz the samples of seven seconds scatter by a twentieth where the CPU is shared.
HERTZ = 499
FAST = ("--default-frequency-hertz", str(HERTZ))


def samples_of(store, container):
    return sum(profile.total("samples") for _, pod, name, profile in pprof.read_store(store)
               if (pod, name) == (container.uid, container.name))


def wait_for_window():
    """Until a window has just begun: they are aligned to the wall clock."""
    time.sleep(WINDOW - time.time() % WINDOW + 0.5)


class Burnt:
    """Samples that the container was good for since this was made: it may have had to share its CPU."""

    def __init__(self, container):
        self.container = container
        self.before = container.usage_seconds()

    def samples(self):
        return HERTZ * (self.container.usage_seconds() - self.before)


def judge_halves(case, container):
    with Daemon(*FAST, window_seconds=WINDOW) as first:
        burnt = Burnt(container)
        time.sleep(HALF)
        wanted = 0.9 * burnt.samples()
        status, took = first.stop()
        case.check("SIGTERM ends the daemon with 0", status == 0, status)
        case.at_most("seconds from SIGTERM to the end", took, 10)
        half = samples_of(first.store, container)
        case.at_least("samples of the open window in the store", half, wanted)
        with Daemon(*FAST, window_seconds=WINDOW, work=first.work) as second:
            burnt = Burnt(container)
            time.sleep(HALF)
            case.check("both halves fell into one window", time.time() % WINDOW > 2 * HALF)
            # The newest half second waits for its slice to end.
            wanted = half + 0.8 * burnt.samples()
            merged = second.profile(f'{{container="{container.name}"}}')
            case.at_least("samples of both halves, one stored, one open",
                          merged.total("samples") if merged.types else 0, wanted)
            second.stop()
            case.at_least("bundles of that window", len(pprof.bundles(second.store)), 2)
            case.at_least("samples of both halves in the store", samples_of(second.store, container), wanted)


def judge_kill(case, container):
    with Daemon(*FAST, window_seconds=2) as daemon:
        burnt = Burnt(container)
        time.sleep(9)
        wanted = burnt.samples()
        daemon.stop(signal.SIGKILL)
        # At most the open window and half a second for the last one to be written.
        case.at_least("samples in the store after SIGKILL at 9 s in windows of 2", samples_of(daemon.store, container),
                      wanted * (9 - 2.5) / 9 * 0.9)


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
