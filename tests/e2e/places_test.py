#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""places_test.py: code that is not where a path says, and files that one build id does not tell apart.

Programs and libraries in /dev/shm and in memory files, code that a program moved to anonymous or huge pages, and
memory that a runtime wrote code to; then pairs of containers that run one code with other names, or without. All of
them run at the same time, before one daemon.
"""

import contextlib
import os
import pathlib
import re
import secrets
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support" / "real"))

from case import Case, run
from containers import Engine
from daemon import ROOT, Daemon

SOURCES = ROOT / "tests" / "programs" / "places"
SECONDS = 14
CHAIN = ["main", "Top", "Middle", "Leaf"]
BARE = ("-O1", "-fomit-frame-pointer")
# A program that moves its code is unknown from then until it was looked at, a sample or two of sixty on a busy machine.
SHARE = 0.95
HUGE_PAGES = pathlib.Path("/proc/sys/vm/nr_hugepages")


class Builds:
    """Makes the programs. Each has other code, and so a build id of its own: readers merge files with one."""

    def __init__(self, work):
        self.work = work
        self.rounds = 1_900_000
        self.remap = self.gcc("libremap.so", "remap.c", "-shared", "-fPIC")

    def gcc(self, name, source, *flags, folder=None):
        target = (folder or self.work) / name
        self.rounds += 1
        run("gcc", *BARE, f"-DROUNDS={self.rounds}", "-o", target, SOURCES / source, *flags)
        return target

    def chain(self, name, *flags, folder=None):
        return self.gcc(name, "chain.c", *flags, folder=folder)

    def shared_object(self, name, folder=None):
        return self.chain(name, "-shared", "-fPIC", "-DNO_MAIN", folder=folder)

    def loader(self, name):
        return self.chain(name, "-DLIBRARY", "-ldl")

    def remapped(self, name, *flags):
        return self.chain(name, *flags, "-Wl,--no-as-needed", self.remap, f"-Wl,-rpath,{self.work}")


@contextlib.contextmanager
def huge_pages(count):
    """Adds `count` huge pages for a while; tells whether the machine gave any."""
    before = int(HUGE_PAGES.read_text()) if HUGE_PAGES.exists() else 0
    with contextlib.suppress(OSError):
        HUGE_PAGES.write_text(str(before + count))
    try:
        yield HUGE_PAGES.exists() and int(HUGE_PAGES.read_text()) > before
    finally:
        with contextlib.suppress(OSError):
            HUGE_PAGES.write_text(str(before))


class Programs:
    """Programs on the host, each under a name of its own, which its samples carry."""

    def __init__(self, shm):
        self.mark = secrets.token_hex(2)
        self.running = {}
        self.shm = shm

    def named(self, name):
        return f"{name}-{self.mark}"

    def start(self, name, *command, **environment):
        self.running[name] = subprocess.Popen([str(word) for word in command], env={**os.environ, **environment},
                                              stdout=subprocess.DEVNULL, preexec_fn=lambda: os.nice(10))

    def end(self, case):
        for name, process in self.running.items():
            case.check(f"{name}: left with 0", process.wait(SECONDS + 20) == 0, process.returncode)


def build_all(programs, builds, has_huge_pages):
    """The commands to start, by name."""
    named, shm = programs.named, programs.shm
    memory = builds.gcc("memory", "memory.c")
    bare = "-Wl,--build-id=none"  # Nothing but the inode tells of it then.
    commands = {
        "shm": (builds.chain(named("shm"), folder=shm), SECONDS),
        "shm-no-id": (builds.chain(named("shmbare"), bare, folder=shm), SECONDS),
        "shm-library": (builds.loader(named("shmlib")), SECONDS, builds.shared_object(named("lib"), folder=shm)),
        "memfd": (memory, "exec", builds.chain("for-memfd"), 40, SECONDS),
        "memfd-no-id": (memory, "exec", builds.chain("for-memfd-bare", bare), 41, SECONDS),
        "memfd-library": (memory, "load", builds.loader(named("memlib")), SECONDS, builds.shared_object("libmemory.so")),
        "fixed": (builds.remapped(named("fixed")), SECONDS),
        "mremap": (builds.remapped(named("mremap")), SECONDS),
        "jit": (shutil.copy(memory, builds.work / named("jit")), "jit", SECONDS),
        "jit-shm": (shutil.copy(memory, builds.work / named("jitshm")), "jit-shm", SECONDS),
    }
    if has_huge_pages:
        commands["hugetlb"] = (builds.remapped(named("huge"), "-no-pie", "-Wl,-z,max-page-size=0x200000"), SECONDS)
    return commands


def judge_chain(case, name, profile, comm, module, chain=CHAIN, share=SHARE):
    """Counts those of the program's own samples that show whole stacks which end with `chain`, in that module."""
    total = good = 0
    others = {}
    for sample in profile.samples:
        if sample.labels.get("comm") != comm:
            continue
        user = [frame for frame in sample.stack if frame.module != "[kernel.kallsyms]"]
        names = [frame.name for frame in user]
        if any(frame.module.rsplit("/", 1)[-1].startswith(("ld-", "libc")) for frame in user[-1:]):
            continue  # Its start, and the clock.
        count = sample.values[0]
        total += count
        at = names.index("main") if "main" in names else 0
        tail = names[at:]
        # A function's caller may be on top between two calls.
        if tail and tail == chain[:len(tail)] and re.search(module, user[-1].module) and not sample.labels.get("cut"):
            good += count
        else:
            key = f"{' '.join(names)} ({user[-1].module if user else ''}, {sample.labels.get('cut', 'whole')})"
            others[key] = others.get(key, 0) + count
    case.at_least(f"{name}: samples", total, 40)
    case.at_least(f"{name}: share with {' '.join(chain)} in {module}", good / max(total, 1), share)
    for stack in sorted(others, key=others.get, reverse=True)[:3]:
        case.figure(name, f"{others[stack]} of {total} × {stack}")


def judge_jit(case, name, profile, comm):
    leaves = {}
    for sample in profile.samples:
        if sample.labels.get("comm") == comm and sample.stack:
            module = sample.stack[-1].module
            leaves[module] = leaves.get(module, 0) + sample.values[0]
    user = {module: n for module, n in leaves.items() if module != "[kernel.kallsyms]"}
    case.at_least(f"{name}: share in [jit]", user.get("[jit]", 0) / max(sum(user.values()), 1), 0.9)


def judge_all(case, programs, profile):
    comm = programs.named
    judge_chain(case, "shm", profile, comm("shm"), f"^/dev/shm/.*/{comm('shm')}$")
    judge_chain(case, "shm, no build id", profile, comm("shmbare"), f"^/dev/shm/.*/{comm('shmbare')}$")
    judge_chain(case, "shm library", profile, comm("shmlib"), f"^/dev/shm/.*/{comm('lib')}$")
    for name, file in (("memfd", 40), ("memfd-no-id", 41)):
        judge_chain(case, name, profile, programs.comms[name], f"^/memfd:{file}")
    judge_chain(case, "memfd library", profile, comm("memlib"), "^/memfd:library")
    judge_chain(case, "moved by MAP_FIXED", profile, comm("fixed"), f"/{comm('fixed')}$")
    judge_chain(case, "moved by mremap", profile, comm("mremap"), f"/{comm('mremap')}$")
    if "hugetlb" in programs.running:
        judge_chain(case, "moved to hugetlbfs", profile, comm("huge"), f"/{comm('huge')}$")
    judge_jit(case, "written into a memory file", profile, comm("jit"))
    judge_jit(case, "written into /dev/shm", profile, comm("jitshm"))


def named_pairs(engine):
    """Containers of two programs with one build id and other names, and of one program whole and stripped."""
    folder = engine.image / "bin"
    for number in (1, 2):
        run("gcc", *BARE, "-static", f"-DTAG=_{number}", "-o", folder / f"named{number}", SOURCES / "chain.c")
    run("gcc", *BARE, "-static", "-DTAG=_whole", "-DROUNDS=1900000", "-o", folder / "whole",
        SOURCES / "chain.c")
    shutil.copy(folder / "whole", folder / "stripped")
    run("strip", folder / "stripped")
    for name in ("named1", "named2", "whole", "stripped"):
        os.utime(folder / name, (1e9, 1e9))  # Images that are built reproducibly have one time for all files.

    def container(program):
        # At the same place in each, on a tmpfs of its own: inodes have equal numbers.
        return engine.container("/bin/busybox", "sh", "-c",
                                f"cp -p /bin/{program} /tmp/app && exec /tmp/app {SECONDS}", overlay=True)
    return {name: container(name) for name in ("stripped", "named1", "named2", "whole")}


def judge_names(case, what, profile, tag):
    """The container's samples name functions with this tag, no other's, and no offsets."""
    named = wrong = offsets = 0
    for sample in profile.samples:
        own = [frame.name for frame in sample.stack if frame.module == "/tmp/app"]
        count = sample.values[0]
        named += count * any(name == f"Leaf_{tag}" for name in own)
        wrong += count * any(re.fullmatch(r"(Top|Middle|Leaf)_\w+", name) and not name.endswith(f"_{tag}") for name in own)
        offsets += count * any(name.startswith("[app]+") for name in own)
    case.at_least(f"{what}: samples of Leaf_{tag}", named, 40)
    case.check(f"{what}: no name of another file", wrong == 0, wrong)
    return named, offsets


def main():
    case = Case("e2e.places")
    case.need("gcc", "strip", "runc", "busybox")
    with tempfile.TemporaryDirectory(prefix="firetower-places-") as folder, huge_pages(4) as has_huge_pages, \
            Engine() as engine, tempfile.TemporaryDirectory(prefix="firetower-", dir="/dev/shm") as shm:
        pairs = named_pairs(engine)
        programs = Programs(pathlib.Path(shm))
        commands = build_all(programs, Builds(pathlib.Path(folder)), has_huge_pages)
        flags = ("--default-frequency-hertz", 199)
        with Daemon(*flags, window_seconds=4) as daemon:
            pairs["stripped"].start()
            for name, command in commands.items():
                programs.start(name, *command, REMAP=name)
            time.sleep(1)
            programs.comms = {name: pathlib.Path(f"/proc/{process.pid}/comm").read_text().strip()
                              for name, process in programs.running.items()}
            for name in ("named1", "named2", "whole"):
                pairs[name].start()
            programs.end(case)
            time.sleep(1.5)
            profile = daemon.profile('{container="host"}')
            if not profile.samples:
                profile = daemon.profile('{container=~".+"}')
            judge_all(case, programs, profile)
            for name, tag in (("named1", "1"), ("named2", "2"), ("whole", "whole")):
                seen = daemon.profile(f'{{container="{pairs[name].name}"}}')
                _, offsets = judge_names(case, name, seen, tag)
                case.check(f"{name}: no offset", offsets == 0, offsets)
            seen = daemon.profile(f'{{container="{pairs["stripped"].name}"}}')
            named, offsets = judge_names(case, "stripped", seen, "whole")
            # Not before the whole one was read, and not in the window that was open then.
            case.at_least("stripped: share with the names of the whole one", named / max(named + offsets, 1), 0.3)
    if not has_huge_pages and not case.failed:
        print("SKIP e2e.places: hugetlb: the machine gives no huge pages", flush=True)
    case.finish()


if __name__ == "__main__":
    main()
