#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""diagnose_test.py: pathologies that are really made here, and what `firetower diagnose` says of each: the right cause
first. A program that merely computes gives no finding.
"""

import contextlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

SUPPORT = pathlib.Path(__file__).resolve().parents[1] / "support" / "real"
sys.path.insert(0, str(SUPPORT))

from case import Case, run
from daemon import Daemon
from group import Group

SECONDS = 15
RULES = 3000
SHELL_LOOP = "while :; do ps >/dev/null; echo a b | awk '{print $2}' >/dev/null; done"
READS_CPUINFO = "while True: open('/proc/cpuinfo').read()"
SENDS = """
import socket
to = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
to.connect(("127.0.0.1", 9))
while True:
    try:
        to.send(b"x")
    except OSError:
        pass
"""
WRITES = "while :; do dd if=/dev/zero of={file} bs=1M count=200 conv=notrunc 2>/dev/null; done"
COMPUTES = "n = 0\nwhile True: n = (n * 31 + 7) % 1000003"


@contextlib.contextmanager
def many_rules():
    """A network of its own with thousands of rules that no packet matches; its name."""
    name = f"ft-rules-{os.getpid()}"
    run("ip", "netns", "add", name)
    try:
        run("ip", "netns", "exec", name, "ip", "link", "set", "lo", "up")
        rules = "".join(f"-A INPUT -s 10.{i // 250}.{i % 250}.1/32 -j DROP\n" for i in range(RULES))
        done = subprocess.run(["ip", "netns", "exec", name, "iptables-restore"], input=f"*filter\n{rules}COMMIT\n",
                              text=True, capture_output=True)
        if done.returncode != 0:
            raise RuntimeError(done.stderr)
        yield name
    finally:
        run("ip", "netns", "del", name, check=False)


def judge(case, what, daemon, group, wanted):
    selector = f'{{container="{group.id[:12]}"}}'
    report = json.loads(daemon.cli("diagnose", selector, "-o", "json").stdout)
    found = [(one["signature"], one["percent"], one["confidence"]) for one in report["findings"]]
    case.at_least(f"{what}: samples", report["samples"], 100)
    if wanted is None:
        case.check(f"{what}: there is no finding", not found, found)
    elif case.check(f"{what}: the first finding is {' or '.join(sorted(wanted))}", found and found[0][0] in wanted, found):
        first, text = report["findings"][0], daemon.cli("diagnose", selector).stdout
        case.check(f"{what}: with its stack", first["evidence"][0]["stack"], first)
        case.check(f"{what}: the page has its cause and the next step", first["next"] in text and first["cause"] in text,
                   text)
    verdict = report["verdict"]
    case.figure(what, f"{verdict['domain']} {verdict['percent']} %, hottest {verdict['hottest']['function']}")
    return report


def main():
    case = Case("e2e.diagnose")
    case.need("ip", "iptables-restore", "awk", "ps", "/usr/bin/python3")
    python = "/usr/bin/python3"
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        network = stack.enter_context(many_rules())

        def group():
            made = Group()
            stack.callback(made.remove)
            return made
        daemon = stack.enter_context(Daemon("--default-frequency-hertz", "199", window_seconds=60))
        writes = group()
        writes.limit_memory(24 << 20)
        loads = [
            ("a shell loop", group().run("sh", "-c", SHELL_LOOP), {"process-spawning", "shell-loop"}),
            ("reads of /proc/cpuinfo", group().run(python, "-c", READS_CPUINFO), {"cpuinfo-reads"}),
            ("thousands of rules", group().run("ip", "netns", "exec", network, python, "-c", SENDS),
             {"packet-filter-rules"}),
            ("reclaim", writes.run("sh", "-c", WRITES.format(file=f"{folder}/file")), {"memory-reclaim"}),
            ("a program that computes", group().run(python, "-c", COMPUTES), None),
        ]
        time.sleep(SECONDS)
        for what, one, wanted in loads:
            report = judge(case, what, daemon, one, wanted)
        # The script is the application's, what the interpreter does for it the runtime's.
        verdict = report["verdict"]
        case.check("the program that computes does so by itself", verdict["domain"] in ("application", "runtime")
                   and verdict["hottest"]["function"] == "<module>", verdict)
    case.finish()


if __name__ == "__main__":
    main()
