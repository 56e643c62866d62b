#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""full_disk_test.py: the store is away and the spool's disk is full; then both are well again.

The disk is a tmpfs of its own with room for a few windows. Sampling and /metrics go on, what went to make room is
counted, and what is left arrives.
"""

import os
import pathlib
import subprocess
import sys
import time

SUPPORT = pathlib.Path(__file__).resolve().parents[1] / "support"
sys.path[:0] = [str(SUPPORT / "real"), str(SUPPORT / "stores")]

import object_store
import pprof
import servers
from case import Case, run
from daemon import TOYS, Daemon
from object_store import watch

DISK_KIB = 2048
# The part left for windows: a quiet machine's window takes one or two blocks of the file system.
LEFT_KIB = 64
WINDOW_SECONDS = 2
BEFORE_SECONDS = 6
FULL_SECONDS = 50
ARRIVAL_SECONDS = 90
# They are as old as that at most.
METRICS_SECONDS = 6
DROPPED = "firetower_spool_dropped_profiles_total"


class FullDisk:
    """A file system with little room; in a `with` it is mounted."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.filler = self.folder / "filler"

    def __enter__(self):
        self.folder.mkdir()
        run("mount", "-t", "tmpfs", "-o", f"size={DISK_KIB}k", "none", self.folder)
        return self

    def fill(self):
        now = os.statvfs(self.folder)
        self.filler.write_bytes(bytes(now.f_bavail * now.f_frsize - LEFT_KIB * 1024))

    def __exit__(self, *_):
        run("umount", "-l", self.folder)


def judge_full(case, daemon, rate):
    during, longest, last = watch(daemon, FULL_SECONDS)
    case.at_least("samples per CPU second, of those before", during / rate, 0.9)
    case.at_most("longest answer of /metrics, s", longest, 2)
    case.at_least("profiles that went to make room are counted", last.sum(DROPPED), 1)
    case.check("no sample was lost on the way to the spool", not last.lost(), last.lost() or "none")


def judge_after(case, daemon, server, spool):
    left = object_store.waiting(spool).keys()
    case.at_least("objects that the full disk had room for", len(left), 1)
    arrived = object_store.await_gone(spool, left, ARRIVAL_SECONDS)
    case.check("what was left has arrived", arrived is not None, f"after {arrived or 0:.1f} s")
    time.sleep(METRICS_SECONDS)
    dropped = daemon.metrics().sum(DROPPED)
    time.sleep(2 * METRICS_SECONDS)
    more = daemon.metrics().sum(DROPPED) - dropped
    case.check("and the disk, full as it is, loses nothing more", more == 0, more)
    profiles = sum(1 for _ in pprof.read_store(object_store.folder_of(server)))
    case.at_least("profiles in the store, each of which opens", profiles, 3)


def main():
    case = Case("e2e.full-disk")
    case.need("go", "curl", "mount")
    folder = object_store.built_server(case)
    load = subprocess.Popen([str(TOYS / "toy_stack"), "36000"], stdout=subprocess.DEVNULL)
    try:
        with servers.started("versitygw", folder) as server, FullDisk(server.work / "disk") as disk:
            server.stop()
            spool = disk.folder / "spool"
            daemon = Daemon("--spool", spool, window_seconds=WINDOW_SECONDS,
                            store_url=object_store.url(server.endpoint))
            with daemon:
                rate, _, _ = watch(daemon, BEFORE_SECONDS)
                disk.fill()
                judge_full(case, daemon, rate)
                # The disk stays full until what it holds is gone.
                server.start()
                judge_after(case, daemon, server, spool)
                status, _ = daemon.stop()
            case.check("the daemon left with 0", status == 0, status)
    finally:
        load.kill()
        load.wait()
    case.finish()


if __name__ == "__main__":
    main()
