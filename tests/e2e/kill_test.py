#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kill_test.py [TIMES]: SIGKILL at random points of a daemon's life, 100 times on one store; every object stays readable."""

import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support" / "real"))

import pprof
from case import Case, run
from daemon import TOYS, Daemon


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


def main():
    times = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    case = Case("e2e.kill")
    case.need("unzip", "go")
    seed = random.randrange(1 << 32)
    case.figure("seed", seed)
    chance = random.Random(seed)
    load = subprocess.Popen([str(TOYS / "toy_stack"), "3600"], stdout=subprocess.DEVNULL)
    try:
        with tempfile.TemporaryDirectory(prefix="firetower-kill-") as work:
            for _ in range(times):
                daemon = Daemon(window_seconds=1, work=work).launch()
                time.sleep(chance.uniform(0.02, 1.6))
                early = daemon.process.poll()
                daemon.stop(signal.SIGKILL)
                if early is not None:
                    case.check("the daemon starts on what was left behind", False, daemon.log()[-2000:])
                    break
            bad, profiles = unreadable(daemon.store)
            case.check(f"every object is readable after {times} kills", not bad, bad[:5] or f"{profiles} profiles")
            case.at_least("bundles", len(pprof.bundles(daemon.store)), times / 10)
            with Daemon(window_seconds=1, work=work) as last:
                time.sleep(2)
                profile = last.profile('{container=~".+"}')
                case.at_least("samples served from them", profile.total("samples") if profile.types else 0, 100)
                path = pathlib.Path(work) / "merged.pb.gz"
                path.write_bytes(last.cli("get", '{container=~".+"}', "--since", "10m", "-o", "pprof", text=False).stdout)
                told = run("go", "tool", "pprof", "-symbolize=none", "-top", path, check=False)
                case.check("go tool pprof reads what is served", told.returncode == 0, told.stderr[:300])
            left = [p for p in pathlib.Path(work, "store").rglob("*") if p.is_file() and p.suffix not in (".zip", ".gz")]
            case.figure("other files left in the store", [p.name for p in left][:5])
    finally:
        load.kill()
        load.wait()
    case.finish()


if __name__ == "__main__":
    main()
