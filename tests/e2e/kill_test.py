#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kill_test.py directory|versitygw: SIGKILL at random points of a daemon's life, 100 times on one store.

Every object stays readable; on an S3 server every one that was spooled before a kill arrives as it was.
"""

import hashlib
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
from daemon import TOYS, Daemon

TIMES = 100
ARRIVAL_SECONDS = 120


class Directory:
    """A store that is a folder of this machine: nothing is spooled."""

    def __init__(self, work):
        self.root = pathlib.Path(work) / "store"
        self.flags, self.url = (), None

    def look(self):
        pass

    def await_arrival(self):
        pass

    def judge(self, case):
        left = [path for path in self.root.rglob("*") if path.is_file() and path.suffix not in (".zip", ".gz")]
        case.figure("other files left in the store", [path.name for path in left][:5])


class S3:
    """A server of others, and the spool before it."""

    def __init__(self, work, server):
        self.root = object_store.folder_of(server)
        self.spool = pathlib.Path(work) / "spool"
        self.flags, self.url = ("--spool", self.spool), object_store.url(server.endpoint)
        self.spooled = {}  # key to digest, of all that was seen there

    def look(self):
        """With the daemon dead."""
        for key, path in object_store.waiting(self.spool).items():
            self.spooled[key] = hashlib.sha256(path.read_bytes()).hexdigest()

    def await_arrival(self):
        object_store.await_gone(self.spool, self.spooled.keys(), ARRIVAL_SECONDS)

    def judge(self, case):
        wrong = [key for key, digest in self.spooled.items()
                 if not (self.root / key).exists()
                 or hashlib.sha256((self.root / key).read_bytes()).hexdigest() != digest]
        case.at_least("objects that a kill found in the spool", len(self.spooled), TIMES / 10)
        case.check("each of them is in the store as it was", not wrong, wrong[:5] or len(self.spooled))


def unreadable(store):
    """Bundles that unzip refuses or whose profiles do not parse, and the number of profiles read."""
    bad, profiles = [], 0
    for path in pprof.bundles(store):
        if run("unzip", "-tq", path, check=False).returncode != 0:
            bad.append(path.name)
            continue
        with zipfile.ZipFile(path) as bundle:
            for name in bundle.namelist():
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


def main(name):
    case = Case("e2e.kill" if name == "directory" else f"e2e.kill-{name}")
    case.need("unzip", "go")
    with tempfile.TemporaryDirectory(prefix="firetower-kill-") as work:
        if name == "directory":
            kill_on(case, Directory(work), work)
        else:
            with servers.started(name, object_store.built_server(case)) as server:
                kill_on(case, S3(work, server), work)
    case.finish()


if __name__ == "__main__":
    main(sys.argv[1])
