# SPDX-License-Identifier: Apache-2.0
"""Readings of the machine that tests run on."""

import json
import os
import pathlib
import subprocess


def busy_seconds():
    """CPU seconds of programs and kernel since the machine started: user, nice, system, irq, softirq of proc(5)."""
    times = pathlib.Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
    return sum(int(times[index]) for index in (0, 1, 2, 5, 6)) / os.sysconf("SC_CLK_TCK")


def cpu_seconds(pid):
    """CPU that the process's living threads used, to the nanosecond."""
    threads = pathlib.Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(schedstat.read_text().split()[0]) for schedstat in threads) / 1e9


def attached_programs(*prefixes):
    """The names of loaded BPF programs that begin so and have a link, sorted."""
    def listed(what):
        return json.loads(subprocess.run(["bpftool", "-j", what, "list"], capture_output=True, text=True).stdout or "[]")
    links = {link.get("prog_id") for link in listed("link")}
    return sorted(one["name"] for one in listed("prog") if one.get("name", "").startswith(prefixes) and one["id"] in links)
