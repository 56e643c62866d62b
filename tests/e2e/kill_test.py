#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kill_test.py directory|versitygw: SIGKILL at random points of a daemon's life, 100 times on one store.

Every object stays readable; on an S3 server, behind a line so slow that most kills cut a PUT, every one that was spooled
before a kill arrives as it was. So does one that goes up in parts and is cut between them.
"""

import datetime
import gzip
import hashlib
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time
import zipfile

SUPPORT = pathlib.Path(__file__).resolve().parents[1] / "support"
sys.path[:0] = [str(SUPPORT / "real"), str(SUPPORT / "stores")]

import object_store
import pprof
import servers
from case import Case, run
from daemon import BUILD, TOYS, Daemon
from slow_wire import SlowWire

TIMES = 100
ARRIVAL_SECONDS = 120
# A window of one second is some KiB.
SLOW_BYTES = 8 << 10
# Three parts of 8 MiB, at so many bytes a second.
LARGE_BYTES = 20 << 20
LARGE_RATE = 4 << 20


class Directory:
    """A store that is a folder of this machine: nothing is spooled."""

    def __init__(self, work):
        self.root = pathlib.Path(work) / "store"
        self.flags, self.url = (), None

    def aim(self, chance):
        pass

    def look(self):
        pass

    def await_arrival(self):
        pass

    def judge(self, case):
        left = [path for path in self.root.rglob("*") if path.is_file() and path.suffix not in (".zip", ".gz")]
        case.figure("other files left in the store", [path.name for path in left][:5])


class S3:
    """A server of others, and the spool before it."""

    def __init__(self, work, server, wire):
        self.root = object_store.folder_of(server)
        self.spool = pathlib.Path(work) / "spool"
        self.server, self.wire = server, wire
        self.flags, self.url = ("--spool", self.spool), object_store.url(wire.endpoint)
        self.spooled = {}  # key to digest, of all that was seen there
        self.cut = 0

    def aim(self, chance):
        """Mostly into a PUT: waits for one, and then for some of it to pass. Counts what the kill will cut."""
        if chance.random() < 0.8:
            await_true(self.wire.puts_under_way, 3)
            time.sleep(chance.uniform(0, 0.4))
        self.cut += bool(self.wire.puts_under_way())

    def look(self):
        """With the daemon dead."""
        for key, path in object_store.waiting(self.spool).items():
            self.spooled[key] = hashlib.sha256(path.read_bytes()).hexdigest()

    def await_arrival(self):
        self.wire.bytes_per_second = None
        object_store.await_gone(self.spool, self.spooled.keys(), ARRIVAL_SECONDS)

    def judge(self, case):
        case.at_least(f"kills that cut a PUT, of {TIMES}", self.cut, TIMES / 2)
        wrong = [key for key, digest in self.spooled.items()
                 if not (self.root / key).exists()
                 or hashlib.sha256((self.root / key).read_bytes()).hexdigest() != digest]
        case.at_least("objects that a kill found in the spool", len(self.spooled), TIMES / 10)
        case.check("each of them is in the store as it was", not wrong, wrong[:5] or len(self.spooled))


def await_true(what, seconds):
    end = time.monotonic() + seconds
    while not what() and time.monotonic() < end:
        time.sleep(0.005)
    return what()


def unreadable(store):
    """Bundles that unzip refuses or whose profiles do not parse, and the number of profiles read."""
    bad, profiles = [], 0
    for path in pprof.bundles(store):
        if run("unzip", "-tq", path, check=False).returncode != 0:
            bad.append(path.name)
            continue
        with zipfile.ZipFile(path) as bundle:
            for name in pprof.profile_names(bundle):
                try:
                    pprof.parse(bundle.read(name))
                    profiles += 1
                except (ValueError, KeyError, IndexError, OSError) as error:
                    bad.append(f"{path.name} {name}: {error}")
    return bad, profiles


def kill_again_and_again(case, kind, work, chance):
    for _ in range(TIMES):
        daemon = Daemon(*kind.flags, window_seconds=1, work=work, store_url=kind.url).launch()
        time.sleep(chance.uniform(0.02, 1.6))
        kind.aim(chance)
        early = daemon.process.poll()
        daemon.stop(signal.SIGKILL)
        kind.look()
        if early is not None:
            case.check("the daemon starts on what was left behind", False, daemon.log()[-2000:])
            return


def judge_answers(case, daemon, work):
    profile = daemon.profile('{container=~".+"}')
    case.at_least("samples served from them", profile.total("samples") if profile.types else 0, 100)
    path = pathlib.Path(work) / "merged.pb.gz"
    path.write_bytes(daemon.cli("get", '{container=~".+"}', "--since", "10m", "-o", "pprof", text=False).stdout)
    told = run("go", "tool", "pprof", "-symbolize=none", "-top", path, check=False)
    case.check("go tool pprof reads what is served", told.returncode == 0, told.stderr[:300])


def kill_on(case, kind, work):
    seed = random.randrange(1 << 32)
    case.figure("seed", seed)
    load = subprocess.Popen([str(TOYS / "toy_stack"), "3600"], stdout=subprocess.DEVNULL)
    try:
        kill_again_and_again(case, kind, work, random.Random(seed))
        with Daemon(*kind.flags, window_seconds=1, work=work, store_url=kind.url) as last:
            kind.await_arrival()
            time.sleep(2)
            judge_answers(case, last, work)
        bad, profiles = unreadable(kind.root)
        case.check(f"every object is readable after {TIMES} kills", not bad, bad[:5] or f"{profiles} profiles")
        case.at_least("bundles", len(pprof.bundles(kind.root)), TIMES / 10)
        kind.judge(case)
    finally:
        load.kill()
        load.wait()


def large_bundle(path):
    """A bundle of one profile that does not compress: a table of strings that no sample uses."""
    def field(number, data):
        size, length = b"", len(data)
        while length > 127:
            size, length = size + bytes((length & 127 | 128,)), length >> 7
        return bytes((number << 3 | 2,)) + size + bytes((length,)) + data

    names = b"".join(field(6, os.urandom(1 << 18).hex().encode()) for _ in range(LARGE_BYTES >> 19))
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as bundle:
        bundle.writestr("shop/cart-0/web/cpu.pb.gz", gzip.compress(field(6, b"") + names, compresslevel=0))


def judge_parts(case, kind, work):
    """An object of three parts, cut in the second one, of a spool that has nothing older."""
    now = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(hours=2)
    key = now.strftime(f"v1/standard/standalone/bundle/%Y-%m-%d/%H/{now.timestamp():.0f}-60/_/node-{'0' * 8}.zip")
    path = kind.spool / "pending" / key
    large_bundle(path)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    kind.wire.bytes_per_second = LARGE_RATE
    daemon = Daemon(*kind.flags, window_seconds=1, work=work, store_url=kind.url).launch()
    cut = await_true(lambda: any("partNumber=2" in one for one in kind.wire.puts_under_way()), 30)
    time.sleep(0.5)
    daemon.stop(signal.SIGKILL)
    case.check("the kill cuts the second part", bool(cut) and path.exists(), f"{path.stat().st_size >> 20} MiB")
    case.check("there is no half of it", not (kind.root / key).exists())
    left = kind.server.uploads()
    case.check("the server keeps what came, as an upload that nobody completes", len(left) == 1, left)
    kind.wire.bytes_per_second = None
    with Daemon(*kind.flags, window_seconds=1, work=work, store_url=kind.url):
        arrived = object_store.await_gone(kind.spool, {key}, ARRIVAL_SECONDS)
    whole = (kind.root / key).exists() and hashlib.sha256((kind.root / key).read_bytes()).hexdigest() == digest
    case.check("the next daemon uploads it, whole", arrived is not None and whole, f"after {arrived or 0:.1f} s")
    case.check("and leaves none of its own", kind.server.uploads() == left, kind.server.uploads())
    run(BUILD / "tests/store_cases", "--gtest_filter=LeftBehind.*", env={**os.environ, "FIRETOWER_STORE": kind.url})
    case.check("which what the hub does each hour aborts", not kind.server.uploads(), kind.server.uploads())
    case.check("and nothing else", (kind.root / key).exists())


def main(name):
    case = Case("e2e.kill" if name == "directory" else f"e2e.kill-{name}")
    case.need("unzip", "go")
    with tempfile.TemporaryDirectory(prefix="firetower-kill-") as work:
        if name == "directory":
            kill_on(case, Directory(work), work)
        else:
            with servers.started(name, object_store.built_server(case)) as server, \
                    SlowWire(server.port, SLOW_BYTES) as wire:
                kind = S3(work, server, wire)
                kill_on(case, kind, work)
                judge_parts(case, kind, work)
    case.finish()


if __name__ == "__main__":
    main(sys.argv[1])
