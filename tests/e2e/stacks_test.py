#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""stacks_test.py: exact stacks out of real containers, and other programs reading what was written.

Static, position-independent and dynamic binaries on root file systems of their own, plain and overlay; a binary that
was deleted or replaced under its process; generated code named by a perf-map of the container's own pid; exec.
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support" / "real"))

import known_stacks
import pprof
from case import Case, run
from containers import Engine
from daemon import TOYS, Daemon

SECONDS = 20
CHAIN = ("main", "alpha", "beta", "gamma")


def add_libraries(image):
    """Copies the libraries of the dynamic toy to the places where its loader looks."""
    for word in run("ldd", TOYS / "toy_stack_libc").stdout.split():
        if word.startswith("/"):
            target = image / word[1:]
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(word, target)


def judge(case, what, profile, exact, whole=True, share=0.97):
    """Returns the share of samples with exactly this stack, among those that contain the last function of `exact`."""
    tally = known_stacks.counts(profile)
    those = {stack: n for stack, n in tally.items() if exact[-1] in stack}
    total = sum(those.values())
    good = 0
    for stack, n in those.items():
        begin = stack.index(exact[0]) if not whole and exact[0] in stack else 0
        good += n * known_stacks.is_exactly(stack[begin:], exact)
    case.at_least(f"{what}: samples of {exact[-1]}", total, 30)
    case.at_least(f"{what}: share of them with exactly {' '.join(exact)}", good / max(total, 1), share)
    other = sum(tally.values()) - total
    if not those or good < share * total or other > 0.1 * total:
        for stack in sorted(tally, key=tally.get, reverse=True)[:4]:
            case.figure(what, f"{tally[stack]} × {' '.join(stack)}")


def judge_syscalls(case, profile):
    tally = known_stacks.counts(profile)
    known_stacks.judge_syscalls(case, tally, 30)
    known = {line.split()[2] for line in pathlib.Path("/proc/kallsyms").read_text().splitlines()}
    kernel = {name for stack in tally if stack[:3] == known_stacks.USER for name in stack[3:]}
    strange = {name for name in kernel if name not in known}
    case.check("system calls: every kernel frame is in kallsyms", not strange, strange or "")


def read_by_others(case, store):
    """go tool pprof opens each file and unzip tests each bundle."""
    files = 0
    refused = []
    with tempfile.TemporaryDirectory() as scratch:
        for path in pprof.bundles(store):
            if run("unzip", "-tq", path, check=False).returncode != 0:
                refused.append(str(path))
            with zipfile.ZipFile(path) as bundle:
                for entry in bundle.namelist():
                    if not entry.endswith(".pb.gz"):
                        continue
                    files += 1
                    target = pathlib.Path(scratch) / f"{files}.pb.gz"
                    target.write_bytes(bundle.read(entry))
        for form in ("-top", "-traces", "-raw"):
            for target in sorted(pathlib.Path(scratch).iterdir()):
                told = subprocess.run(["go", "tool", "pprof", "-symbolize=none", form, str(target)],
                                      capture_output=True, text=True, timeout=60)
                if told.returncode != 0 or not told.stdout.strip():
                    refused.append(f"{form} {target.name}: {told.stderr.strip()[:200]}")
    case.check("go tool pprof -top, -traces, -raw and unzip -t read every file", files > 0 and not refused,
               refused[:5] or f"{files} files")


def main():
    case = Case("e2e.stacks")
    case.need("runc", "busybox", "go", "unzip")
    with Engine() as engine:
        add_libraries(engine.image)
        with Daemon() as daemon:
            made = {
                "static": engine.container("/bin/toy_stack", SECONDS),
                "static-pie": engine.container("/bin/toy_stack_pie", SECONDS, overlay=True),
                "dynamic": engine.container("/bin/toy_stack_libc", SECONDS, overlay=True),
                "syscall": engine.container("/bin/toy_syscall", SECONDS),
                "deleted": engine.container("/bin/toy_deleted", "/bin/moved", "delete", SECONDS),
                "replaced": engine.container("/bin/toy_deleted", "/bin/moved", "replace", SECONDS, overlay=True),
                "perf-map": engine.container("/bin/toy_perfmap", SECONDS),
                "exec": engine.container("/bin/toy_exec", SECONDS // 2, "/bin/toy_unique", 64, SECONDS // 2),
            }
            for container in made.values():
                container.start()
            time.sleep(SECONDS - 2)
            seen = {name: daemon.profile(f'{{namespace="-",pod="{c.uid}",container="{c.name}"}}')
                    for name, c in made.items()}
            folded = daemon.cli("get", f'{{container="{made["static"].name}"}}', "--since", "5m", "-o", "folded").stdout
            metrics = daemon.metrics()
            daemon.stop()

            judge(case, "static", seen["static"], ("_start", *CHAIN))
            judge(case, "static-pie on overlay", seen["static-pie"], ("_start", *CHAIN))
            judge(case, "dynamic on overlay", seen["dynamic"], CHAIN, whole=False)
            judge(case, "deleted", seen["deleted"], ("_start", "main", "deleted_work"))
            judge(case, "replaced on overlay", seen["replaced"], ("_start", "main", "deleted_work"))
            judge(case, "perf-map", seen["perf-map"], ("_start", "main", "call_jit", "toy_jit_loop"))
            judge(case, "before exec", seen["exec"], ("_start", "main", "before_exec"))
            judge(case, "after exec", seen["exec"], ("_start", "main", "only_in_100"))
            judge_syscalls(case, seen["syscall"])
            case.check("folded text shows the same stack", ";".join(("_start", *CHAIN)) + " " in folded, folded[:300])
            types = seen["static"].types
            case.check("value types are samples/count and cpu/nanoseconds", types ==
                       [("samples", "count"), ("cpu", "nanoseconds")], types)
            read_by_others(case, daemon.store)
            case.check("no sample was lost", not metrics.lost(), metrics.lost() or "none")
    case.finish()


if __name__ == "__main__":
    main()
