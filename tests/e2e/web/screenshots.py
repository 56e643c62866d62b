#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""screenshots.py FOLDER: makes the pictures of docs/web.md anew, of a daemon of its own and five services that it starts, one of
them in the middle of the time. Takes four minutes; the machine should do nothing else."""

import contextlib
import os
import pathlib
import shutil
import subprocess
import sys
import time

TESTS = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TESTS / "support" / "real"))

from containers import cgroup_root
from daemon import Daemon, TOYS

HERE = pathlib.Path(__file__).resolve().parent
QUIET_SECONDS = 90
LOADED_SECONDS = 120
DIGEST = """
import hashlib, time
def digest(): return hashlib.sha256(bytes(4096)).hexdigest()
def price_rules(): return [digest() for _ in range(400)]
def serve():
    price_rules()
    time.sleep(0.03)
while True: serve()
"""
PARSE = """
import json, time
ORDERS = json.dumps([{"id": i, "lines": [{"sku": "x%d" % i, "count": i}] * 4} for i in range(300)])
def parse(): return json.loads(ORDERS)
def match(orders): return sorted(orders, key=lambda one: -one["id"])
def tick():
    end = time.time() + 0.12
    while time.time() < end: match(parse())
while True:
    tick()
    time.sleep(0.3)
"""


class Service:
    """A load in a cgroup that is named like systemd's service."""

    def __init__(self, name, *command):
        self.folders = [root / f"system.slice/{name}.service" for root in (cgroup_root("v1:memory"), cgroup_root("v2")) if root]
        for folder in self.folders:
            folder.mkdir(parents=True, exist_ok=True)
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=self.join)

    def join(self):
        for folder in self.folders:
            (folder / "cgroup.procs").write_text("0")

    def stop(self):
        self.process.kill()
        self.process.wait()
        time.sleep(0.3)
        for folder in self.folders:
            with contextlib.suppress(OSError):
                folder.rmdir()


def main():
    folder = pathlib.Path(sys.argv[1])
    web = subprocess.run([TESTS / "support/web/fetch-web"], capture_output=True, text=True, check=True).stdout.strip()
    with contextlib.ExitStack() as stack:
        daemon = stack.enter_context(Daemon(window_seconds=10))

        def serve(name, *command):
            stack.callback(Service(name, *command).stop)

        serve("checkout", sys.executable, "-c", DIGEST)
        serve("reports", str(TOYS / "pulses"), "600")
        serve("backup", "sh", "-c", "while :; do dd if=/dev/zero of=/dev/null bs=1M count=400; sleep 0.3; done")
        serve("gateway", "sh", "-c", "while :; do /bin/true; sleep 0.004; done")
        time.sleep(QUIET_SECONDS)
        serve("orders", sys.executable, "-c", PARSE)
        time.sleep(LOADED_SECONDS)
        subprocess.run(["node", HERE / "screenshots.mjs", daemon.url, folder], check=True,
                       env={**os.environ, "FIRETOWER_WEB": web, "CHROMIUM": shutil.which("chromium")})


if __name__ == "__main__":
    main()
