#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""exec_churn_test.py: an exec storm of 200 distinct binaries for a minute, with room for the tables of a part of them.

Tables come and go all the time, their memory and their files' numbers are given to others. What must not happen then: a
frame of the wrong program, memory above its budget, memory that grows. Programs whose only stack is known run all along.
All of it is in one container, the only one that is sampled: what else starts on the machine has no part in the memory.
FIRETOWER_CHURN_SECONDS makes it longer.
"""

import collections
import itertools
import os
import pathlib
import secrets
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support" / "real"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "bench" / "real"))

import bench
import distinct
import pprof
from case import Case
from containers import CONTAINERS_ONLY, cgroup_root
from daemon import TOYS, Daemon
from own_names import name_of
from statements import Statements
from toys import toy_levels
from whole import KERNEL, has_user_part, why_not_whole

SECONDS = int(os.environ.get("FIRETOWER_CHURN_SECONDS", "60"))
BINARIES = 200
AT_ONCE = 4
A_SECOND = 50  # Half of what two CPUs could start: others want some of the hour too.
LIFE_SECONDS = 0.02
TABLE_BYTES = 1 << 20  # The C library's table alone takes a tenth of it.
FRAMES = 30
LEVELS = toy_levels(FRAMES - 3)
# The allowed growth of memory in the last third. A slab of the arena and memory that the allocator keeps come in steps.
MOST_GROWTH = 0.05
STEP_BYTES = 2 << 20
PREFIX = "storm-"


def allowed_gap(names):
    """toy_gap's stack, or a leading part of it."""
    return names == (["_start", "main", "window", *LEVELS, "leaf"])[:len(names)]


def allowed_toy(names):
    return names == ["_start", "main", "alpha", "beta", "gamma"][:len(names)]


class Inside:
    """In a `with` this process and what it starts are in a container's cgroup; no pod's, which a kubelet would end."""

    def __init__(self):
        self.root = cgroup_root("v1:memory") or cgroup_root("v2")
        self.folder = self.root / f"docker-{secrets.token_hex(32)}.scope"

    def _own(self):
        """This process's cgroup now."""
        name = "memory" if "memory" in str(self.root) else ""
        for line in pathlib.Path("/proc/self/cgroup").read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            if name in controllers.split(","):
                return self.root / path.lstrip("/")
        return self.root

    def __enter__(self):
        self.before = self._own()
        self.folder.mkdir(parents=True)
        (self.folder / "cgroup.procs").write_text(str(os.getpid()))
        return self

    def __exit__(self, *_):
        (self.before / "cgroup.procs").write_text(str(os.getpid()))
        for _ in range(100):
            if not (self.folder / "cgroup.procs").read_text():
                break
            time.sleep(0.1)
        self.folder.rmdir()


class Storm:
    """Starts the binaries one after the other, AT_ONCE at a time and A_SECOND."""

    def __init__(self, files):
        self.files = itertools.cycle(files)
        self.running = []
        self.started = 0
        self.begin = time.monotonic()

    def step(self):
        self.running = [process for process in self.running if process.poll() is None]
        due = (time.monotonic() - self.begin) * A_SECOND
        while len(self.running) < AT_ONCE and self.started < due:
            self.running.append(subprocess.Popen([next(self.files), str(LIFE_SECONDS)], stdout=subprocess.DEVNULL))
            self.started += 1

    def stop(self):
        for process in self.running:
            process.wait()


def observe(daemon):
    metrics = daemon.metrics()
    return {"tables": metrics.sum("firetower_unwind_table_bytes"), "maps": metrics.sum("firetower_bpf_map_bytes"),
            "rss": bench.rss_bytes(daemon.process.pid)}


def churn(daemon, files):
    storm, seen = Storm(files), []
    begin = time.monotonic()
    next_look = begin + 10
    while time.monotonic() < begin + SECONDS:
        storm.step()
        if time.monotonic() >= next_look:
            seen.append(observe(daemon))
            next_look += 5
        time.sleep(0.005)
    storm.stop()
    return storm.started, seen


def judge_stacks(case, store, statements):
    right, wrong, total = collections.Counter(), collections.Counter(), collections.Counter()
    whole = collections.Counter()
    examples = collections.Counter()
    for _, _, _, profile in pprof.read_store(store):
        for sample in profile.samples:
            comm = sample.labels.get("comm", "")
            kind = "churn" if comm.startswith(PREFIX) else comm if comm in ("toy_gap", "toy_stack") else ""
            if not kind or not has_user_part(sample) or sample.labels.get("cut") == "exec":
                continue
            count = sample.values[0]
            total[kind] += count
            names = [name_of(frame) for frame in sample.stack if frame.module != KERNEL]
            if why_not_whole(sample):
                continue  # Cut, and said so: not wrong.
            whole[kind] += count
            allow = {"toy_gap": allowed_gap, "toy_stack": allowed_toy}.get(kind, statements.allow)
            # The dynamic linker's and the C library's own work before main is nothing that the program states.
            stated = kind != "churn" or statements.names.intersection(names) - {"_start"}
            fits = not stated or allow(names)
            (right if fits else wrong)[kind] += count
            if kind == "churn" and pathlib.PurePath(sample.stack[0].module).name not in (comm, "ld-linux-x86-64.so.2"):
                fits = False
                wrong[kind] += count
            if not fits:
                examples[f"{comm}: {' '.join(names[-8:])} in {sample.stack[0].module}"] += count
    for kind, least in (("toy_gap", SECONDS * 5), ("toy_stack", SECONDS * 5), ("churn", SECONDS * 10)):
        case.at_least(f"{kind}: samples", total[kind], least)
        case.check(f"{kind}: no wrong frame", wrong[kind] == 0, f"{wrong[kind]} of {total[kind]}")
        case.figure(f"{kind}: share with the whole stack", f"{whole[kind] / max(total[kind], 1):.4f}")
    for example, count in examples.most_common(5):
        case.figure("wrong", f"{count} × {example}")
    case.at_least("toy_gap: share with the whole stack", whole["toy_gap"] / max(total["toy_gap"], 1), 0.995)
    case.at_least("toy_stack: share with the whole stack", whole["toy_stack"] / max(total["toy_stack"], 1), 0.995)


def judge_memory(case, seen):
    case.at_most("unwind tables, bytes at most", max(look["tables"] for look in seen), TABLE_BYTES)
    third = len(seen) // 3
    tenths = seen[::max(len(seen) // 10, 1)]
    case.figure("rss, MB from tenth to tenth", " ".join(f"{look['rss'] / 1e6:.1f}" for look in tenths))
    for what in ("maps", "rss"):
        early = statistics.median(look[what] for look in seen[third:2 * third])
        late = statistics.median(look[what] for look in seen[2 * third:])
        case.figure(f"{what}, MB in the second and the last third", f"{early / 1e6:.1f}, {late / 1e6:.1f}")
        case.at_most(f"{what}: growth in the last third, bytes", late - early, max(MOST_GROWTH * early, STEP_BYTES))


def main():
    case = Case("e2e.exec-churn")
    case.need("gcc", "readelf")
    with tempfile.TemporaryDirectory(prefix="firetower-churn-") as folder:
        files = distinct.build(pathlib.Path(folder), BINARIES, PREFIX)
        statements = Statements(subprocess.run([files[0], "0"], capture_output=True, text=True, check=True).stdout)
        policy = pathlib.Path(folder) / "policy.yaml"
        policy.write_text(CONTAINERS_ONLY)
        with Daemon("--unwind-table-bytes", str(TABLE_BYTES), "--policy", policy, window_seconds=60) as daemon:
            with Inside():
                toys = [subprocess.Popen([str(TOYS / "toy_gap"), "36000", str(FRAMES)], stdout=subprocess.DEVNULL),
                        subprocess.Popen([str(TOYS / "toy_stack"), "36000"], stdout=subprocess.DEVNULL)]
                try:
                    started, seen = churn(daemon, files)
                finally:
                    for toy in toys:
                        toy.kill()
                        toy.wait()
            metrics = daemon.metrics()
            status, _ = daemon.stop()
            case.at_least("programs started a second", started / SECONDS, 20)
            case.check("no sample was lost", not metrics.lost(), metrics.lost() or "none")
            case.figure("unwind tables now", metrics.sum("firetower_unwind_tables"))
            case.check("the daemon left with 0", status == 0, status)
            judge_stacks(case, daemon.store, statements)
            judge_memory(case, seen)
    case.finish()


if __name__ == "__main__":
    main()
