#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""traces_test.py: samples and waits have the trace id and the span id that their thread publishes (OTEP 4947), where the
variable is in the program, and in a library by each model of thread-local storage, with glibc and with musl.

The functions of tests/programs/traces/traces.c say on which trace they work.
"""

import contextlib
import json
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support" / "real"))

from case import Case
from daemon import Daemon
from group import Group
import pprof

SOURCES = ROOT / "tests" / "programs" / "traces"
SECONDS = 8
KNOWN_SECONDS = 30
POLICY = """apiVersion: firetower.dev/v1alpha1
kind: ClusterProfilingPolicy
metadata:
  name: traces
spec:
  mode: Filter
  targets:
    podSelector: {matchLabels: {}}
  profiles: [{type: CPU, frequencyHertz: 199}, {type: OffCPU, minBlockMicroseconds: 1000}]
  filter:
    cpus: "0-4095"
"""
# The trace of each function; 0: none.
TRACES = {"works_on_1": 1, "works_on_2": 2, "works_on_none": 0, "works_on_invalid": 0, "waits_on_1": 1, "waits_on_none": 0}
# Flags with which the library is built; None: the variable is in the program.
VARIANTS = {
    "program": None,
    "initial-exec": ["-ftls-model=initial-exec"],
    "global-dynamic": ["-ftls-model=global-dynamic", "-mtls-dialect=gnu"],
    "descriptor": ["-ftls-model=global-dynamic", "-mtls-dialect=gnu2"],
    "local-dynamic": ["-ftls-model=local-dynamic", "-mtls-dialect=gnu"],
    "opened": ["-ftls-model=global-dynamic", "-mtls-dialect=gnu"],
    "opened-descriptor": ["-ftls-model=global-dynamic", "-mtls-dialect=gnu2"],
    "musl-program": None,
    "musl-opened": ["-ftls-model=global-dynamic", "-mtls-dialect=gnu"],
    "musl-opened-descriptor": ["-ftls-model=global-dynamic", "-mtls-dialect=gnu2"],
}


def build(folder, name):
    """Builds a variant; the path of the program."""
    compiler = "musl-gcc" if name.startswith("musl-") else "gcc"
    flags = ["-O1", "-g", "-fno-omit-frame-pointer", f"-I{ROOT}", "-pthread"]
    model, is_opened = VARIANTS[name], "opened" in name
    own, program = folder / f"libcontext-{name}.so", folder / f"traces-{name}"

    def compile(*arguments):
        subprocess.run([compiler, *flags, *arguments], check=True, timeout=60)
    if model is None:
        compile("-rdynamic", str(SOURCES / "traces.c"), str(SOURCES / "context.c"), "-o", str(program))
        return program
    # Large enough to have no room among the variables of libraries that are there at the start.
    room = ["-DROOM=65536"] if is_opened else []
    compile("-shared", "-fPIC", *model, *room, str(SOURCES / "context.c"), "-o", str(own))
    if is_opened:
        compile(f'-DOPENED="{own}"', str(SOURCES / "traces.c"), "-o", str(program))
    else:
        compile(str(SOURCES / "traces.c"), str(own), f"-Wl,-rpath,{folder}", "-o", str(program))
    return program


def ids(thread, trace):
    """The labels that a sample of a thread must have."""
    if trace == 0:
        return None, None
    begin = f"{thread:02x}{trace:02x}"
    return begin + "5a" * 14, begin + "c3" * 6


def selector_of(group):
    return f'{{container="{group.id[:12]}"}}'


def has_begun(daemon, group):
    """The main thread's trace is seen."""
    samples = daemon.profile(selector_of(group)).samples
    return any("warms" in one.names and one.labels.get("trace_id") == ids(9, 9)[0] for one in samples)


def judge(case, name, profile, least):
    asked, wrong = 0, []
    for sample in profile.samples:
        within = [function for function in sample.names if function in TRACES]
        thread = sample.labels.get("thread", "")
        if not within or not thread.startswith("work-"):
            continue
        count = sample.values[0]
        asked += count
        found = sample.labels.get("trace_id"), sample.labels.get("span_id")
        if found != ids(int(thread[5:]), TRACES[within[0]]):
            wrong.append((thread, within[0], found, count))
    case.at_least(f"{name}: samples of the functions", asked, least)
    case.check(f"{name}: each has the ids of its trace, or none", not wrong, wrong[:5] or f"all of {asked}")


def ask(case, daemon, group):
    """One trace, by its id: which it is, what it costs, and its samples alone."""
    selector = selector_of(group)
    trace, span = ids(2, 1)
    rows = json.loads(daemon.cli("top", "traces", selector, "-o", "json").stdout)["rows"]
    known = {ids(thread, number)[0] for thread in (1, 2, 3) for number in (1, 2)} | {ids(9, 9)[0]}
    case.check("top traces: the seven, and no other", {row["trace_id"] for row in rows} == known, rows[:2])
    case.check("top traces: by their hottest stack", all(row["hottest"]["stack"][-1].startswith(("works_on_", "warms")) for row in rows))
    done = daemon.cli("get", selector, "--since", "10m", "--tagfocus", f"trace_id={trace}", "-o", "pprof", text=False)
    found = pprof.parse(done.stdout).samples
    case.check("--tagfocus: its samples alone", found and all(one.labels.get("span_id") == span for one in found), len(found))
    functions = json.loads(daemon.cli("top", "functions", selector, "--tagfocus", f"trace_id={trace}", "-o", "json").stdout)["rows"]
    case.check("top functions --tagfocus: what it did", functions[0]["function"] == "works_on_1", functions[0])
    page = daemon.fetch("/explore?tf=trace_id%3D" + trace).decode()
    case.check("the page knows where traces are shown", 'content="https://traces.example/{trace_id}"' in page)


def main():
    case = Case("e2e.traces")
    case.need("gcc", "musl-gcc")
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        policy = folder / "policy.yaml"
        policy.write_text(POLICY)
        daemon = stack.enter_context(Daemon("--policy", str(policy), "--trace-url", "https://traces.example/{trace_id}", window_seconds=60))
        groups = {}
        for name in VARIANTS:
            groups[name] = Group()
            stack.callback(groups[name].remove)
            groups[name].run(str(build(folder, name)), str(SECONDS), str(folder / "begin"))
        # A process is known some time after it begins: when its first trace is seen.
        end = time.monotonic() + KNOWN_SECONDS
        unseen = set(groups)
        while unseen and time.monotonic() < end:
            time.sleep(0.5)
            unseen -= {name for name in unseen if has_begun(daemon, groups[name])}
        case.check("the trace of each is seen", not unseen, unseen or f"{KNOWN_SECONDS - end + time.monotonic():.1f} s")
        (folder / "begin").touch()
        for group in groups.values():
            group.process.wait(60)
        time.sleep(1.5)
        ask(case, daemon, groups["descriptor"])
        for name, group in groups.items():
            case.check(f"{name}: it ran", group.process.returncode == 0, group.process.returncode)
            selector = selector_of(group)
            judge(case, f"{name}, CPU", daemon.profile(selector), 60)
            judge(case, f"{name}, waits", daemon.profile(selector, kind="offcpu"), 60)
    case.finish()


if __name__ == "__main__":
    main()
