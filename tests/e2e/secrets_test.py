#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""secrets_test.py: a daemon with temporary keys of MinIO's STS shows neither the secret key nor the session token.

While it uploads, while the store refuses and quotes the headers that it was sent, and while it is away.
"""

import os
import pathlib
import subprocess
import sys
import time
import urllib.error

SUPPORT = pathlib.Path(__file__).resolve().parents[1] / "support"
sys.path[:0] = [str(SUPPORT / "real"), str(SUPPORT / "stores")]

import faulty
import object_store
import secrets_seen
import servers
from case import Case
from daemon import TOYS, Daemon

WINDOW_SECONDS = 2
FAULT_SECONDS = 15
ARRIVAL_SECONDS = 120
PATHS = ("/metrics", "/api/v1/doctor", "/api/v1/labels", "/api/v1/series", "/api/v1/top", "/api/v1/types", "/")


def look(watch, daemon):
    watch.look_at_arguments()
    watch.add("log", daemon.log())
    for path in PATHS:
        try:
            watch.add("answers", daemon.fetch(path))
        except urllib.error.HTTPError as error:
            watch.add("answers", error.read())
    for words in (("doctor",), ("doctor", "-o", "json"), ("top",)):
        done = daemon.cli(*words, check=False)
        watch.add("firetower", done.stdout + done.stderr)


def judge(case, server, proxy, watch):
    daemon = Daemon("--spool", server.work / "spool", "--log-level", "debug", window_seconds=WINDOW_SECONDS,
                    store_url=object_store.url(proxy.endpoint))
    with daemon:
        end = time.monotonic() + ARRIVAL_SECONDS
        while not proxy.stored and time.monotonic() < end:
            time.sleep(0.2)
        case.at_least("objects that the store has taken with a session token", len(proxy.stored), 1)
        look(watch, daemon)
        proxy.fault = "quoting"
        time.sleep(FAULT_SECONDS)
        look(watch, daemon)
        case.at_least("refusals that quote the request", proxy.quoted, 2)
        case.check("which the log tells of", "[secret]" in daemon.log() and "SignatureDoesNotMatch" in daemon.log())
        doctor = daemon.cli("doctor", check=False).stdout
        case.check("and doctor", "SignatureDoesNotMatch" in doctor, [line for line in doctor.splitlines() if "store" in line][:2])
        proxy.fault = ""
        server.stop()
        time.sleep(FAULT_SECONDS / 3)
        look(watch, daemon)
        server.start()
        left = object_store.waiting(server.work / "spool").keys()
        case.check("then all arrives", object_store.await_gone(server.work / "spool", left, ARRIVAL_SECONDS) is not None)
        found = watch.in_environments_of("firetowerd")
        case.check("both are in its environment, where this would find them", len(found) == 2, sorted(found))
        status, _ = daemon.stop()
        case.check("it left with 0", status == 0, status)
        watch.add("log", daemon.log())
        for path in daemon.work.rglob("*"):
            if path.is_file():
                watch.add("its files", path.read_bytes())
    watch.judge(case)


def main():
    case = Case("e2e.secrets")
    case.need("go", "curl")
    folder = object_store.built_server(case, "minio")
    load = subprocess.Popen([str(TOYS / "toy_stack"), "36000"], stdout=subprocess.DEVNULL)
    try:
        with servers.started("minio", folder) as server, faulty.FaultyProxy(server.port) as proxy:
            access, secret, token = server.temporary_credentials()
            os.environ.update(AWS_ACCESS_KEY_ID=access, AWS_SECRET_ACCESS_KEY=secret, AWS_SESSION_TOKEN=token)
            judge(case, server, proxy, secrets_seen.Watch({"secret key": secret, "session token": token}))
    finally:
        load.kill()
        load.wait()
    case.finish()


if __name__ == "__main__":
    main()
