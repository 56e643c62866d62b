#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""object_store_test.py: daemons whose S3 store fails for a while, and what comes of what they sample meanwhile.

The server of one is away for 60 s (FIRETOWER_OUTAGE_SECONDS), or more. That of another answers 503, then is full, then
takes one byte a second, then gives wrong ETags. Both run at the same time; the servers are versitygw's.
"""

import collections
import concurrent.futures
import os
import pathlib
import subprocess
import sys
import time
import zipfile

SUPPORT = pathlib.Path(__file__).resolve().parents[1] / "support"
sys.path[:0] = [str(SUPPORT / "real"), str(SUPPORT / "stores")]

import faulty
import object_store
import pprof
import servers
from case import Case
from daemon import TOYS, Daemon
from object_store import watch

WINDOW_SECONDS = 5
BEFORE_SECONDS = 15
AWAY_SECONDS = int(os.environ.get("FIRETOWER_OUTAGE_SECONDS", "60"))
FAULT_SECONDS = 20
# The longest that the uploader waits between two tries is a minute.
ARRIVAL_SECONDS = 120
# A kubelet waits for 30.
STOP_SECONDS = 20
# The most samples per second between the last look at the metrics and the end: other programs may start then.
LAST_SECONDS = 6
MOST_SAMPLES = 97 * os.cpu_count()
SPOOL = "firetower_spool_bytes"


def stored_bundles(server):
    """Key to path of each bundle, in the server's own folder."""
    root = object_store.folder_of(server)
    return {str(path.relative_to(root)): path for path in root.rglob("*.zip")}


def is_window(key):
    """And no roll-up of several, which has their samples once more."""
    return "/bundle/" in key


def samples_in(bundles):
    """Samples of all entries; an error where one does not open."""
    total = 0
    for path in bundles.values():
        with zipfile.ZipFile(path) as bundle:
            total += sum(pprof.parse(bundle.read(name)).total("samples") for name in pprof.profile_names(bundle))
    return total


def judge_arrival(case, faults, server, proxy, taken, more):
    """`taken`: samples until shortly before the end; `more`: at most as many until then."""
    bundles = stored_bundles(server)
    uploads = collections.Counter({path: count for path, count in proxy.stored.items() if path.endswith(".zip")})
    case.at_least(f"{faults}: bundles", len(bundles), BEFORE_SECONDS / WINDOW_SECONDS)
    case.check(f"{faults}: each was uploaded", len(uploads) == len(bundles), f"{len(uploads)} of {len(bundles)}")
    again = {path: count for path, count in uploads.items() if count != 1}
    if "slow" in faults:
        # Bytes that the client had written before it gave up may still reach the server: the same bytes under the same
        # name.
        case.figure(f"{faults}: uploaded again", again or "none")
    else:
        case.check(f"{faults}: and none again", not again, again or "none")
    # So that the keys of nodes need no right to read (docs/security.md).
    case.check(f"{faults}: none was read", not proxy.read, dict(proxy.read) or "none")
    stored = samples_in({key: path for key, path in bundles.items() if is_window(key)})
    case.at_least(f"{faults}: samples in the store, of those taken", stored, taken)
    case.at_most(f"{faults}: and no more than were taken until the end", stored, taken + more)


def suffer(case, fault, seconds, daemon, server, spool, proxy, rate):
    """One fault, from its begin until what waited has arrived; the samples per CPU second meanwhile."""
    if fault == "away":
        server.stop()
    else:
        proxy.fault = fault
    during, longest, last = watch(daemon, seconds)
    case.figure(f"{fault}: seconds of it, and KiB in the spool then", (seconds, int(last.sum(SPOOL)) >> 10))
    case.at_least(f"{fault}: samples per CPU second, of those before", during / rate, 0.9)
    case.at_most(f"{fault}: longest answer of /metrics, s", longest, 2)
    if fault != "wrong-etag":
        case.at_least(f"{fault}: bytes that wait in the spool", last.sum(SPOOL), 1)
    if fault == "away":
        server.start()
    waited = object_store.waiting(spool).keys()
    proxy.fault = ""
    arrived = object_store.await_gone(spool, waited, ARRIVAL_SECONDS)
    case.check(f"{fault}: what waited has arrived", arrived is not None, f"{arrived or 0:.1f} s after it")
    return during


def restart(case, fault, daemon, spool, proxy):
    """Ends the daemon while that fault holds up what waits, and starts it again. The first one's last metrics."""
    proxy.fault = fault
    end = time.monotonic() + FAULT_SECONDS
    while not object_store.waiting(spool) and time.monotonic() < end:
        time.sleep(0.2)
    last = daemon.metrics()
    status, seconds = daemon.stop()
    left = object_store.waiting(spool).keys()
    case.check(f"{fault}, at the end: the daemon left with 0", status == 0, status)
    case.at_most(f"{fault}, at the end: after so many s", seconds, STOP_SECONDS)
    case.at_least(f"{fault}, at the end: objects that it leaves in the spool", len(left), 1)
    proxy.fault = ""
    daemon.start()
    arrived = object_store.await_gone(spool, left, ARRIVAL_SECONDS)
    case.check(f"{fault}, at the end: the next one has taken them", arrived is not None, f"{arrived or 0:.1f} s")
    return last


def daemon_before(case, folder, faults):
    """`faults`: each with its seconds."""
    name = ", ".join(faults)
    with servers.started("versitygw", folder) as server, faulty.FaultyProxy(server.port, "slow" in faults) as proxy:
        spool = server.work / "spool"
        daemon = Daemon("--spool", spool, window_seconds=WINDOW_SECONDS,
                        store_url=object_store.url(proxy.endpoint))
        with daemon:
            rates = [watch(daemon, BEFORE_SECONDS)[0]]
            for fault, seconds in faults.items():
                rates.append(suffer(case, fault, seconds, daemon, server, spool, proxy, rates[0]))
            ends = [restart(case, "slow", daemon, spool, proxy)] if "slow" in faults else []
            time.sleep(2 * WINDOW_SECONDS)
            ends.append(daemon.metrics())
            status, _ = daemon.stop()
        dropped = sum(one.sum("firetower_spool_dropped_profiles_total") for one in ends)
        lost = [one.lost() for one in ends if one.lost()]
        case.check(f"{name}: nothing was lost", not lost and dropped == 0, (lost, dropped))
        case.check(f"{name}: the daemon left with 0", status == 0, status)
        taken = sum(one.sum("firetower_samples_total") for one in ends)
        judge_arrival(case, name, server, proxy, taken, len(ends) * LAST_SECONDS * MOST_SAMPLES)


def main():
    case = Case("e2e.object-store")
    case.need("go", "curl")
    folder = object_store.built_server(case)
    load = subprocess.Popen([str(TOYS / "toy_stack"), "36000"], stdout=subprocess.DEVNULL)
    try:
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            both = [pool.submit(daemon_before, case, folder, {"away": AWAY_SECONDS}),
                    pool.submit(daemon_before, case, folder, {fault: FAULT_SECONDS for fault in faulty.FAULTS})]
        for one in both:
            one.result()
    finally:
        load.kill()
        load.wait()
    case.finish()


if __name__ == "__main__":
    main()
