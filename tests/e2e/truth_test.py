#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""truth_test.py GROUP: every sample of programs that know their stacks, against what each said it can have.

The programs of tests/programs/truth are built here, in all the ways of GROUPS: optimised and without frame pointers,
static, stripped, with another C library. A sample counts as right only if the product calls its stack whole, and
the program stated that stack. Samples from inside of a function's first and last instructions are among them.
"""

import collections
import contextlib
import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support" / "real"))

from case import Case, run
from daemon import ROOT, Daemon
from elf_names import ElfNames
from elf_twin import twin
from statements import Statements

SOURCES = ROOT / "tests" / "programs" / "truth"
SECONDS = 8
# The most stacks per second that the kernel side may leave to user space while it does not know a program yet.
HERTZ = 199
SHARE = 0.995
OUTSIDE = 0.01
KERNEL = "[kernel.kallsyms]"
# The function that signal handlers return to in the C libraries. Stripped libraries have no name for it: then it is
# recognized by its first instructions, mov $15, %rax; syscall (rt_sigreturn), as gdb does.
RETURN = "__restore_rt"
RETURN_CODE = bytes.fromhex("48c7c00f0000000f05")
BARE = ("-fomit-frame-pointer", "-g0", f"-I{ROOT}")
LAZY = ("-Wl,-z,lazy",)


@dataclasses.dataclass(frozen=True)
class Program:
    """One build of one program. `shape` is a Shape of truth.h, or a source with a main of its own."""

    shape: str
    flags: tuple = ("-O2",)
    compiler: str = "gcc"
    after: str = ""  # The change to the file: strip, minidebug, delete.
    share: float = SHARE
    unnamed: str = ""  # A function of libgcc that the program speaks of, and the shared one has no name for.


def shapes(*names, flags=("-O2",), **more):
    return {f"{name}{''.join(flags)}": Program(name, flags, **more) for name in names}


STACKS = ("chain", "alloca", "realigned", "tail", "signal", "vfork", "jit")
# Until the kernel side knows a program, four pages of its stack are sent: what is deeper is cut for that moment.
DEEP = 0.98
GROUPS = {
    "c": shapes(*STACKS) | shapes("deep", share=DEEP),
    "c-o3": shapes(*STACKS, flags=("-O3",)) | shapes("deep", flags=("-O3",), share=DEEP) |
            shapes("chain", "realigned", flags=("-Os",)) |
            shapes("chain", "realigned", flags=("-O3", "-mavx2")),
    # While the dynamic linker looks a function up for a lazy call, its own frame is found through RBX, which the walk
    # does not follow: these samples are cut, and say so.
    "libraries": shapes("lazy", share=0.97) | shapes("plt", "dlopen", "openssl") |
                 shapes("plt", flags=("-O2", "-fcf-protection")),
    "files": {
        "static": Program("chain", ("-O2", "-static")),
        "static-pie": Program("chain", ("-O2", "-static-pie", "-fPIE")),
        "no-pie": Program("chain", ("-O2", "-fno-pie", "-no-pie")),
        "stripped": Program("chain", after="strip"),
        "minidebuginfo": Program("chain", after="minidebug"),
        "deleted": Program("chain", after="delete"),
        "musl": Program("chain", compiler="musl-gcc"),
        "musl-static": Program("realigned", ("-O2", "-static"), compiler="musl-gcc"),
        # The function that handlers return to has no call frame information there.
        "musl-signal": Program("signal", compiler="musl-gcc"),
        "musl-sig-static": Program("signal", ("-O2", "-static"), compiler="musl-gcc"),
        "static-signal": Program("signal", ("-O2", "-static")),
    },
    "languages": {
        "exceptions-O2": Program("exceptions.cc", ("-O2", "-static-libgcc", "-static-libstdc++"), compiler="g++"),
        "exceptions-O3": Program("exceptions.cc", ("-O3", "-static-libgcc", "-static-libstdc++"), compiler="g++"),
        # Debian's libgcc_s has no name for the function that must be left out of the judgement.
        "exceptions": Program("exceptions.cc", compiler="g++", unnamed="uw_install_context_1"),
        "rust": Program("chain.rs", ("-O",), compiler="rustc"),
    },
}
OF_SHAPE = {"chain": "chain.c", "deep": "frames.c", "alloca": "frames.c", "realigned": "frames.c", "tail": "frames.c",
            "signal": "control.c", "vfork": "control.c", "plt": "plt.c", "lazy": "libraries.c",
            "dlopen": "libraries.c", "jit": "jit.c", "openssl": "openssl.c"}


def library(work, name):
    target = work / name
    if not target.exists():
        run("gcc", "-O2", *BARE, *LAZY, "-fPIC", "-shared", "-o", target, SOURCES / "library.c")
    return target


def build(work, name, program):
    """The file to run and the one that has its symbols, mostly the same."""
    target = work / name[:15]  # The kernel keeps only this many characters.
    command = [program.compiler, *program.flags, "-o", target]
    if program.compiler == "rustc":
        command += [SOURCES / program.shape]
    elif program.shape.endswith(".cc"):
        command += [*BARE, SOURCES / program.shape]
    else:
        command += [*BARE, *LAZY, f"-DSHAPE=k{program.shape.capitalize()}", f'-DBUILD="{name}"', SOURCES / "main.c",
                    SOURCES / OF_SHAPE[program.shape]]
    if program.shape == "plt":
        command += [library(work, "libtruth.so"), f"-Wl,-rpath,{work}"]
    if program.shape == "openssl":
        command.append("-lcrypto")
    run(*command)
    if program.after not in ("strip", "minidebug"):
        return target, target
    names = work / f"{name}.names"
    shutil.copy(target, names)
    run("strip", target)
    if program.after == "minidebug":
        minidebug(work, target, names)
    return target, names


def minidebug(work, target, names):
    """Puts the symbols of functions into .gnu_debugdata, as GDB's manual says in "MiniDebugInfo"."""
    mini, functions = work / f"{target.name}.mini", work / f"{target.name}.functions"
    told = run("nm", names, "--defined-only").stdout.splitlines()
    functions.write_text("".join(f"{line.split()[-1]}\n" for line in told if line.split()[1] in "tT"))
    run("objcopy", "-S", "--remove-section", ".comment", f"--keep-symbols={functions}", names, mini)
    run("xz", "-f", mini)
    run("objcopy", "--add-section", f".gnu_debugdata={mini}.xz", target)


def libgcc_names(work, program):
    """libgcc_s with a name for what it has none for: it is the function that the static libgcc has."""
    static = work / "libgcc-static"
    run(program.compiler, *program.flags, "-static-libgcc", "-o", static, *BARE, SOURCES / program.shape)
    library = pathlib.Path(run(program.compiler, "-print-file-name=libgcc_s.so.1").stdout.strip()).resolve()
    names = ElfNames(library)
    names.add(*twin(library, static, program.unnamed), program.unnamed)
    return {library.name: names, "libgcc_s.so.1": names}


class Truth:
    """A program while it runs, and what it said."""

    def __init__(self, work, name, program):
        self.name = name
        self.program = program
        file, names = build(work, name, program)
        self.comm = file.name
        shared = library(work, "libtruth.so")
        self.elf = {file.name: ElfNames(file, names), shared.name: ElfNames(shared)}
        if program.unnamed:
            self.elf |= libgcc_names(work, program)
        self.output = work / f"{self.name}.out"
        with open(self.output, "w") as out:
            self.process = subprocess.Popen([file, str(SECONDS)], stdout=out, env={**os.environ, "TRUTH_LIBRARY": str(shared)})
        if program.after == "delete":
            while not self.output.stat().st_size:
                time.sleep(0.01)
            file.unlink()

    def name_of(self, frame):
        match = re.fullmatch(r"\[(.*)\]\+0x([0-9a-f]+)", frame.name)
        elf = self.elf.get(frame.module.rsplit("/", 1)[-1].removesuffix(" (deleted)"))
        if match and elf:
            name = elf.find(int(match.group(2), 16))
            # A name that the file has must be shown.
            return name if name and (name != RETURN or self.program.after) else frame.name
        if match and starts_with(frame.module, int(match.group(2), 16), RETURN_CODE):
            return RETURN
        return re.sub(r"(\.cold|\.part\.\d+)$| \[clone .*\]$|\(.*\)$", "", frame.name)


def starts_with(module, offset, code):
    """Whether the file has that code at the offset. False for what is no file."""
    with contextlib.suppress(OSError), open(module, "rb") as file:
        file.seek(offset)
        return file.read(len(code)) == code
    return False


def outside_of_main(user, stated):
    """Before main the dynamic linker runs, then the C library, which also ends the program; none of it is stated."""
    return not stated and user[0].module.rsplit("/", 1)[-1].startswith("ld-") or stated == ["_start"]


def judge(case, truth, profile):
    statements = Statements(truth.output.read_text())
    case.check(f"{truth.name}: left with 0", truth.process.returncode == 0, truth.process.returncode)
    total = right = unsaid = outside = 0
    wrong = collections.Counter()
    for sample in profile.samples:
        user = [frame for frame in sample.stack if frame.module != KERNEL]
        if sample.labels.get("comm") != truth.comm or not user:
            continue
        names = [truth.name_of(frame) for frame in user]
        count, cut = sample.values[0], sample.labels.get("cut")
        if names[-1] in statements.unsaid:
            unsaid += count
            continue
        total += count
        if not cut and statements.allow(names):
            right += count
        elif not cut and outside_of_main(user, [name for name in names if name in statements.names]):
            outside += count
        else:
            shown = names if len(names) < 12 else [*names[:5], f"… {len(names) - 10} …", *names[-5:]]
            wrong[f"{' '.join(shown)}{f' (cut: {cut})' if cut else ''}"] += count
    case.at_least(f"{truth.name}: samples", total, 200)
    right += min(outside, OUTSIDE * total)
    share = truth.program.share
    case.at_least(f"{truth.name}: share with a stack that the program stated", right / max(total, 1), share)
    if unsaid:
        case.figure(truth.name, f"{unsaid} besides in {' '.join(statements.unsaid)}")
    for stack, count in wrong.most_common(4 if right < share * total else 1):
        case.figure(truth.name, f"{count} of {total} × {stack}")


def main():
    group = sys.argv[1]
    case = Case(f"e2e.truth-{group}")
    case.need("gcc", "readelf", "nm", "objdump")
    flags = ("--default-frequency-hertz", HERTZ)
    left_out = []
    with tempfile.TemporaryDirectory(prefix="firetower-truth-") as folder, \
            Daemon(*flags, window_seconds=60) as daemon:
        work, programs = pathlib.Path(folder), GROUPS[group].items()
        only = sys.argv[2:]
        truths = []
        for name, program in programs:
            if only and name not in only:
                continue
            if shutil.which(program.compiler) is None:
                left_out.append(f"{name}: {program.compiler} is not installed")
                continue
            try:
                truths.append(Truth(work, name, program))
            except LookupError as error:
                left_out.append(f"{name}: {error}")
                continue
            if len(truths) % 2 == 0:  # Two at a time: each shall have a CPU.
                truths[-2].process.wait()
                truths[-1].process.wait()
        for truth in truths:
            truth.process.wait()
        time.sleep(1.5)
        profile = daemon.profile('{container=~".+"}')
        for truth in truths:
            judge(case, truth, profile)
            with contextlib.suppress(FileNotFoundError):
                pathlib.Path(f"/tmp/perf-{truth.process.pid}.map").unlink()
        metrics = daemon.metrics()
        case.figure("samples lost by reason", metrics.lost() or "none")
    if left_out and not case.failed:
        case.skip("; ".join(left_out))
    case.finish()


if __name__ == "__main__":
    main()
