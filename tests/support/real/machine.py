# SPDX-License-Identifier: Apache-2.0
"""Readings of the machine that tests run on."""

import os
import pathlib


def busy_seconds():
    """CPU seconds of programs and kernel since the machine started: user, nice, system, irq, softirq of proc(5)."""
    times = pathlib.Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
    return sum(int(times[index]) for index in (0, 1, 2, 5, 6)) / os.sysconf("SC_CLK_TCK")
