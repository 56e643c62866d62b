# SPDX-License-Identifier: Apache-2.0
"""perf 6.12 or later beside us: of its stacks of a running load, how many are whole."""

import os
import pathlib
import re

from case import run

HERE = pathlib.Path(__file__).resolve().parent
FRAME = re.compile(r"\s*([0-9a-f]+) (.*) \(.*\)")
# Its caller is the program's own start, which has no name in a stripped file.
START = "__libc_start_main"


def fetch():
    """(folder with perf, "") or (None, why there is none)."""
    try:
        told = run(HERE / "fetch-perf", timeout=300, check=False)
    except OSError as error:
        return None, str(error)
    if told.returncode != 0:
        return None, f"linux-perf of bookworm-backports could not be fetched: {told.stderr.strip()[-200:]}"
    return pathlib.Path(told.stdout.strip()), ""


class Perf:
    def __init__(self, root, work):
        self.program = root / "usr" / "bin" / "perf"
        self.data = work / "perf.data"
        # Nothing that it reads beside the files themselves may differ from machine to machine.
        self.environment = {**os.environ, "LD_LIBRARY_PATH": str(root / "usr" / "lib" / "x86_64-linux-gnu"),
                            "DEBUGINFOD_URLS": "", "PERF_CONFIG": "/dev/null"}

    def share(self, comms, firsts, call_graph, seconds, hertz=97):
        """(samples, whole ones) of the threads called so."""
        run(self.program, "record", "-q", "-B", "-N", "-a", "-e", "cpu-clock", "-F", hertz, "--call-graph", call_graph, "-o",
            self.data, "--", "sleep", seconds, timeout=seconds + 60, env=self.environment)
        told = run(self.program, "script", "-i", self.data, "--no-inline", "-F", "comm,ip,sym,dso", timeout=300,
                   env=self.environment, errors="replace")
        self.data.unlink()
        return count(told.stdout, comms, firsts)


def count(text, comms, firsts):
    """The same of what `perf script -F comm,ip,sym,dso` prints: a line with the name, then the frames, leaf first."""
    total = whole = 0
    for block in text.split("\n\n"):
        lines = block.strip("\n").splitlines()
        if not lines or lines[0].strip() not in comms:
            continue
        user = []
        for line in lines[1:]:
            match = FRAME.fullmatch(line)
            if match and not int(match.group(1), 16) >> 63:  # The upper half is the kernel's.
                user.append(match.group(2))
        if not user and len(lines) > 1:
            continue  # A task that is leaving.
        total += 1
        below = user[-2] if len(user) > 1 else ""
        whole += bool(user) and (user[-1] in firsts or user[-1] == "[unknown]" and below.startswith(START))
    return total, whole
