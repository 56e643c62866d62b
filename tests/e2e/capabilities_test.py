#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""capabilities_test.py: six capabilities and 64 KiB of locked memory suffice; of each one missing we are told."""

import pathlib
import re
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support" / "real"))

from case import Case
from containers import Engine
from daemon import Daemon

SIX = ("bpf", "perfmon", "sys_ptrace", "syslog", "dac_read_search", "checkpoint_restore")


def prefix(capabilities):
    # The bounding set is what a container runtime cuts; root's exec then gets no more than that.
    kept = ",".join(["-all", *(f"+{name}" for name in capabilities)])
    return ("prlimit", "--memlock=65536:65536", "setpriv", "--inh-caps=-all", f"--bounding-set={kept}")


def judge_six(case, engine):
    container = engine.container("/bin/toy_stack", 12).start()
    # toy_stack never leaves user space: on a quiet machine only this one has kernel frames to name.
    engine.container("/bin/toy_syscall", 12).start()
    with Daemon(prefix=prefix(SIX)) as daemon:
        status = pathlib.Path(f"/proc/{daemon.process.pid}/status").read_text()
        held = bin(int(re.search(r"CapEff:\s*(\w+)", status).group(1), 16)).count("1")
        case.check("the daemon holds six capabilities", held == 6, held)
        limits = pathlib.Path(f"/proc/{daemon.process.pid}/limits").read_text()
        case.check("its RLIMIT_MEMLOCK is 64 KiB", re.search(r"Max locked memory\s+65536\s", limits) is not None)
        time.sleep(6)
        profile = daemon.profile(f'{{container="{container.name}"}}')
        total = profile.total("samples") if profile.types else 0
        exact = sum(s.values[0] for s in profile.samples
                    if s.names == ["_start", "main", "alpha", "beta", "gamma"])
        case.at_least("samples of a container", total, 100)
        case.at_least("share of them named to the last frame", exact / max(total, 1), 0.95)
        everything = daemon.profile('{container=~".+"}')
        kernel = sum(s.values[0] for s in everything.samples if "do_syscall_64" in s.names)
        case.at_least("samples with kernel names", kernel, 50)
        doctor = daemon.cli("doctor", check=False).stdout
        named = [name for name in SIX if re.search(rf"(fail|warn).*\b(CAP_)?{name}\b", doctor, re.IGNORECASE)]
        case.check("doctor misses none of the six", not named, named or "")


def complaints(said):
    """Lines that warn or fail, of doctor and of the log: not "ok CAP_SYSLOG held". What a daemon says last that leaves
    is a failure of several lines, libbpf's among them."""
    before, _, failure = said.partition("firetowerd: ")
    bad = re.compile(r"\s*(warn|fail)\b|.*\blevel\W+(warn|error)\b")
    return [line for line in before.splitlines() if bad.match(line)] + failure.splitlines()


def judge_missing(case, missing):
    daemon = Daemon(prefix=prefix([name for name in SIX if name != missing]), ready_seconds=20)
    try:
        said = ""
        try:
            daemon.start()
            time.sleep(1)
            doctor = daemon.cli("doctor", check=False)
            said = doctor.stdout + doctor.stderr
        except RuntimeError:
            pass  # It left, which is one way to say it.
        said += daemon.log()
        lines = [line for line in complaints(said) if re.search(rf"CAP_{missing}\b", line, re.IGNORECASE)]
        # A line that merely lists what is wanted names all of them.
        own = [line for line in lines if sum(f"CAP_{name.upper()}" in line.upper() for name in SIX) == 1]
        case.check(f"without CAP_{missing.upper()} a message names it", bool(own), (own or lines or said.splitlines()[-3:])[0:1])
    finally:
        daemon.__exit__(None, None, None)


def main():
    case = Case("e2e.capabilities")
    case.need("runc", "busybox", "setpriv", "prlimit")
    with Engine() as engine:
        judge_six(case, engine)
    for missing in SIX:
        judge_missing(case, missing)
    case.finish()


if __name__ == "__main__":
    main()
