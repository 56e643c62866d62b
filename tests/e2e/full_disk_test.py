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

DISK_KIB = 8192
BLOCK = 4096
# The part left for windows, in sizes of the largest one before: a quiet machine fills it in half of the time below, and
# beside other tests, where a window holds more profiles, some still find room.
ROOM_WINDOWS = 3
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

    def fill(self, room):
        """Leaves so many bytes."""
        now = os.statvfs(self.folder)
        self.filler.write_bytes(bytes(now.f_bavail * now.f_frsize - room))

    def __exit__(self, *_):
        run("umount", "-l", self.folder)


def room_of(spool):
    """The bytes that so many windows take there, each with its folders."""
    sizes = [path.stat().st_size for path in object_store.waiting(spool).values()]
    return ROOM_WINDOWS * (max(sizes) + 4 * BLOCK)


def judge_full(case, daemon, rate):
    during, longest, last = watch(daemon, FULL_SECONDS)
    case.at_least("samples per CPU second, of those before", during / rate, 0.9)
    case.at_most("longest answer of /metrics, s", longest, 2)
    case.at_least("profiles that went to make room are counted", last.sum(DROPPED), 1)
    case.check("no sample was lost on the way to the spool", not last.lost(), last.lost() or "none")


def await_stored(stored, spool):
    """Until the daemon finds the store, which it asks once a minute at least; what waited meanwhile, by the object's key."""
    waited = set()
    end = time.monotonic() + ARRIVAL_SECONDS
    while time.monotonic() < end and not any((stored / key).exists() for key in waited):
        waited |= object_store.waiting(spool).keys()
        time.sleep(0.1)
    return waited


def await_calm(daemon, dropped):
    """Seconds until a while began in which nothing was dropped; None if none did. An upload that is slow beside other
    tests may still cost a window while the daemon catches up."""
    begin = time.monotonic()
    while (waited := time.monotonic() - begin) < ARRIVAL_SECONDS:
        time.sleep(2 * METRICS_SECONDS)
        before, dropped = dropped, daemon.metrics().sum(DROPPED)
        if dropped == before:
            return waited
    return None


def judge_after(case, daemon, server, spool):
    # The disk stays full until what it holds is gone.
    stored = object_store.folder_of(server)
    before = daemon.metrics().sum(DROPPED)
    server.start()
    waited = await_stored(stored, spool)
    gone = object_store.await_gone(spool, waited, ARRIVAL_SECONDS)
    case.check("nothing of it waits any more", gone is not None, gone)
    arrived = sum((stored / key).exists() for key in waited)
    time.sleep(METRICS_SECONDS)
    dropped = daemon.metrics().sum(DROPPED)
    case.at_least("objects from the full disk in the store", arrived, 1)
    # Until the daemon found the store, windows that ended still pushed out the oldest.
    case.check("the others are counted", len(waited) - arrived <= dropped - before,
               f"{arrived} of {len(waited)}, {dropped - before:.0f} profiles dropped")
    calm = await_calm(daemon, dropped)
    case.check("and the disk, full as it is, loses nothing more", calm is not None, calm)
    profiles = sum(1 for _ in pprof.read_store(stored))
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
                disk.fill(room_of(spool))
                judge_full(case, daemon, rate)
                judge_after(case, daemon, server, spool)
                status, _ = daemon.stop()
            case.check("the daemon left with 0", status == 0, status)
    finally:
        load.kill()
        load.wait()
    case.finish()


if __name__ == "__main__":
    main()
