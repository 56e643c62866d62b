#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kernel_test.py own HIERARCHY | SUITE PROGRAM…: exact stacks and exact containers on one kernel.

SUITE names a Debian release, whose kernel is booted once under emulation, with pure cgroup v2; in the same boot each
PROGRAM, a GoogleTest program, has to pass. `own` is the kernel that runs, with cgroups in HIERARCHY (v2 or
v1:<controller>). guest.sh runs there and brings back profiles; the judging is all here.
"""

import base64
import os
import pathlib
import secrets
import shutil
import subprocess
import sys
import tempfile
import uuid

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support" / "real"))

import containers
import daemon
import known_stacks
import pprof
from case import Case, run
from metrics import Metrics

CHAIN = ("_start", "main", "alpha", "beta", "gamma")
# All test programs of a kernel and the daemon; emulated, and beside other tests. Most of it is the verifier's time:
# each of the families of programs is loaded once for each of its tests.
BOOT_SECONDS = 800
OWN_NAMES = ("alpha", "beta", "gamma", "hot_read", "hot_getppid", "only_in_")


class Plan:
    """The containers of one run: a known stack, system calls, and five that share no function."""

    def __init__(self):
        self.rows = []
        self.mark = secrets.token_hex(4)  # Another run beside this one has other names.
        self.stack = self._add("before", ".", "toy_stack")
        self.syscall = self._add("after", ".", "toy_syscall")
        # One of each kind: alive before the daemon, born after it, and with its processes one cgroup deeper.
        self.unique = {f"only_in_{index:03o}": self._add(when, child, f"toy_unique {index} 3600 20000 20000")
                       for index, when, child in ((8, "before", "."), (65, "before", "init.scope"), (130, "after", "."),
                                                  (257, "after", "."), (511, "after", "init.scope"))}

    def _add(self, when, child, command):
        identity = secrets.token_hex(32)
        toy, _, arguments = command.partition(" ")
        self.rows.append(f"{when} {uuid.uuid4()} {identity} {child} {toy}-{self.mark} {arguments}\n")
        return identity[:12]


def fill(folder, plan):
    for program in (daemon.BIN / "firetowerd", daemon.BIN / "firetower"):
        target = folder / program.name
        shutil.copy(program, target)
        run("strip", target, check=False)  # A script stands as it is.
    for toy in ("toy_stack", "toy_syscall", "toy_unique"):
        shutil.copy(daemon.TOYS / toy, folder / f"{toy}-{plan.mark}")
    shutil.copy(HERE / "guest.sh", folder / "guest.sh")
    (folder / "plan").write_text("".join(plan.rows))


def emulated(case, suite, programs, plan):
    case.need("qemu-system-x86_64", "cpio", "busybox")
    fetched = run(HERE / "fetch-kernel", suite, check=False, timeout=120)
    if fetched.returncode != 0:
        case.skip(f"no kernel of {suite}: {fetched.stderr.strip()[-200:]}")
    with tempfile.TemporaryDirectory(prefix="firetower-kernel-") as root:
        folder = pathlib.Path(root) / "ft"
        folder.mkdir()
        fill(folder, plan)
        (folder / "tests").mkdir()
        for program in programs:
            run("strip", "-o", folder / "tests" / pathlib.Path(program).name, program)
        done = run(HERE / "boot-kernel", fetched.stdout.strip(), root, "sh", "/ft/guest.sh", "/ft", "/sys/fs/cgroup",
                   "7070", "20", check=False, timeout=BOOT_SECONDS + 60, env={**os.environ, "TIMEOUT": str(BOOT_SECONDS)})
        return done.stdout if "@file" in done.stdout else done.stdout + done.stderr


def native(case, hierarchy, plan):
    case.need("busybox")
    root = containers.cgroup_root(hierarchy)
    if root is None:
        case.skip(f"no cgroup hierarchy {hierarchy} is mounted here")
    with tempfile.TemporaryDirectory(prefix="firetower-kernel-") as folder:
        fill(pathlib.Path(folder), plan)
        flags = ["--cgroup-hierarchy", hierarchy]
        if "FIRETOWER_SANITIZED" in os.environ:
            # Reading tables is many times slower then: only those of the toys, not of all that runs beside.
            (pathlib.Path(folder) / "policy.yaml").write_text(containers.CONTAINERS_ONLY)
            flags += ["--policy", f"{folder}/policy.yaml"]
        return run("busybox", "sh", HERE / "guest.sh", folder, root, daemon.free_port(), "8", *flags,
                   check=False, timeout=200).stdout


def sections(text):
    found, name = {}, None
    for line in text.splitlines():
        if line.startswith("@file "):
            name, found[line[6:]] = line[6:], ""
        elif line == "@end":
            name = None
        elif name is not None:
            found[name] += line
    return {name: base64.b64decode(body) for name, body in found.items()}


def profile_of(found, name):
    body = found.get(name, b"")
    return pprof.parse(body) if body else pprof.Profile()


def judge_chain(case, profile):
    """main, and so its caller, also asks for the time; an interrupt may come on top of anything."""
    tally = known_stacks.counts(profile)
    total = sum(tally.values())
    exact = 0
    strange = {}
    for stack, n in tally.items():
        exact += n * known_stacks.is_exactly(stack, CHAIN)
        # A function's first instruction has no frame of its own yet, so its caller may be missing.
        if not (stack[:5] == CHAIN or stack[:2] == CHAIN[:2] and "gamma" not in stack[:3]):
            strange[" ".join(stack)] = n
    case.at_least("samples of toy_stack", total, 30)
    burning = sum(n for stack, n in tally.items() if "gamma" in stack)
    case.at_least(f"share of gamma with exactly {' '.join(CHAIN)}, or that under an interrupt",
                  exact / max(burning, 1), 0.98)
    case.check("toy_stack shows no stack that it cannot have", sum(strange.values()) <= 0.01 * total, strange or "")
    rest = {stack: n for stack, n in tally.items() if stack != CHAIN}
    for stack in sorted(rest, key=rest.get, reverse=True)[:2]:
        case.figure("besides", f"{rest[stack]} of {total} × {' '.join(stack)}")


def judge_containers(case, found, plan):
    right = wrong = 0
    for function, name in plan.unique.items():
        mine = 0
        for stack, n in known_stacks.counts(profile_of(found, name)).items():
            foreign = any(frame.startswith(OWN_NAMES) and frame != function for frame in stack)
            mine += n * (function in stack)
            wrong += n * foreign
        case.at_least(f"samples of {function} in its own container", mine, 5)
        right += mine
    for sample in profile_of(found, "others").samples:
        wrong += sample.values[0] * any(plan.mark in frame.module for frame in sample.stack)
    case.check("every sample carries its container", wrong == 0 and right > 0, f"{right} right, {wrong} wrong")


def judge_programs(case, found, programs):
    for program in (pathlib.Path(path).name for path in programs):
        print(found.get(f"test-{program}", b"").decode(errors="replace"), flush=True)
        case.check(f"{program} passes", found.get(f"status-{program}", b"").strip() == b"0",
                   found.get(f"status-{program}", b"it did not end").decode().strip())


def main():
    suite, *rest = sys.argv[1:]
    case = Case(f"kernel.{suite}{'-' + rest[0] if suite == 'own' else ''}")
    case.need()
    plan = Plan()
    if suite == "own":
        text, programs = native(case, rest[0], plan), ()
    else:
        text, programs = emulated(case, suite, rest, plan), rest
    found = sections(text)
    judge_programs(case, found, programs)
    if not case.check("the daemon got ready", "metrics" in found):
        print(found["log"].decode(errors="replace")[-6000:] if "log" in found else text[-6000:])
        case.finish()
    case.figure("kernel", found["uname"].decode().strip())
    judge_chain(case, profile_of(found, plan.stack))
    known_stacks.judge_syscalls(case, known_stacks.counts(profile_of(found, plan.syscall)), 20)
    judge_containers(case, found, plan)
    metrics = Metrics(found["metrics"].decode())
    case.figure("samples lost by reason", metrics.lost() or "none")
    case.check("SIGTERM ended the daemon with 0", found.get("status", b"").strip() == b"0", found.get("status", b""))
    if case.failed:
        print(found.get("log", b"").decode(errors="replace")[-6000:])
    case.finish()


if __name__ == "__main__":
    try:
        main()
    except subprocess.TimeoutExpired as error:
        print(f"FAIL kernel {sys.argv[1]}: {error}")
        sys.exit(1)
