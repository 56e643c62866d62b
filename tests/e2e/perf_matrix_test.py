#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""perf_matrix_test.py [SUITE…]: `firetower convert` on the text of real perfs, with each field that `perf script -F` knows.

perf of Debian's bookworm, trixie and sid records one load in several ways and prints it with fields left out and added, alone
and in pairs. Each text has to be read with the values that the same perf tells field by field, or refused with what to do.
By default each field is left out or added alone on every recording, and printed alone on `stacks` and `one line`, beside the runs
that are common, with all three perfs. FIRETOWER_PERF_MATRIX=full alone prints single fields of the other recordings, and all pairs.
"""

import collections
import concurrent.futures
import dataclasses
import itertools
import os
import pathlib
import re
import sys
import tempfile
import threading

HERE = pathlib.Path(__file__).resolve().parent
SUPPORT = HERE.parent / "support" / "real"
sys.path.insert(0, str(SUPPORT))

import perf_truth
import pprof
from case import Case, run

FIRETOWER = pathlib.Path(os.environ.get("FIRETOWER_BUILD", HERE.parents[1] / "build/dev")) / "bin/firetower"
SUITES = ("bookworm", "trixie", "sid")
FULL = os.environ.get("FIRETOWER_PERF_MATRIX") == "full"

# Names with blanks, digits, and what looks like a column.
NAMES = ("web worker 1", "U", "a 1/2", "x [003]", "12345", "12345")
RECORDINGS = {
    "stacks": ("-e", "cpu-clock/freq=499/", "-g"),
    "one line": ("-e", "cpu-clock", "-F", "499"),
    "two events": ("-e", "cpu-clock/freq=499/", "-e", "page-faults/period=20/", "-d"),
    "off CPU": ("-e", "cpu-clock/freq=499/", "-e", "sched:sched_switch", "-g"),
    "dwarf": ("-e", "cpu-clock", "-F", "299", "--call-graph", "dwarf,4096"),
    "all fields": ("-e", "cpu-clock", "-F", "299", "-g", "-d", "-W", "--phys-data", "--data-page-size", "--code-page-size",
                   "--all-cgroups", "--intr-regs=ax,bx", "--user-regs=ax,bx", "-k", "CLOCK_MONOTONIC"),
    "all in a line": ("-e", "page-faults", "-c", "5", "-d", "-W", "--phys-data", "--data-page-size", "--code-page-size",
                      "-k", "CLOCK_MONOTONIC"),
}
# Fields and options that people run: none may be refused where perf itself prints it.
COMMON = [("", ()), ("", ("--ns",)), ("", ("--reltime",)), ("", ("--header",)), ("", ("--show-task-events", "--show-mmap-events")),
          ("", ("--no-inline",)), ("+srcline", ()), ("+misc", ()), ("+flags", ()), ("+addr", ()), ("+pid", ()), ("+pid,+misc", ("--ns",)),
          ("-comm", ()), ("-period", ()), ("-cpu", ()), ("-tid", ()), ("-time", ()), ("-event", ()), ("-dso", ()), ("-sym", ()),
          ("-ip", ()), ("-symoff", ()), ("-cpu,-period", ()), ("+srcline,+misc", ()), ("+weight", ()), ("+data_src", ()),
          ("comm,pid,tid,cpu,time,event,ip,sym,dso", ()), ("comm,pid,tid,cpu,time,period,event,ip,sym,dso", ()),
          ("comm,tid,time,period,event,ip,sym,dso", ()), ("comm,pid,tid,time,event,ip,sym,dso,symoff,srcline", ())]
# A refusal has to say one of these.
REMEDY = re.compile(r"run perf script|leave (the field|them) out|use -F|record it")


def runs(perf, name, data):
    """(fields, options) to try on a recording, in which some are common."""
    yield from COMMON
    signed = [("-" if field in perf_truth.DEFAULT else "+") + field for field in perf.fields]
    for field in signed:
        yield field, ()
    if FULL or name in ("stacks", "one line"):
        for field in perf.fields:
            yield field, ()
    if FULL and name in ("stacks", "two events", "all fields", "all in a line"):
        # A field that was not recorded is printed with no other field either.
        lacking = {field.lstrip("+-") for field in signed
                   if re.search("attribute set|requested but", perf.script(data, "-F", field)[1])} - {"srcline", "srccode"}
        for fields in (signed, perf.fields):
            for one, other in itertools.combinations([f for f in fields if f.lstrip("+-") not in lacking], 2):
                yield f"{one},{other}", ()


class Judge:
    """Runs one perf over one recording. Runs come from two threads; what they count is under a lock."""

    def __init__(self, perf, name, data, work):
        self.perf, self.name, self.data, self.work = perf, name, data, work
        self.samples = perf.samples(data)
        stacks = perf.stacks(data, "--no-inline")
        self.not_inlined = [dataclasses.replace(sample, stack=stack) for sample, stack in zip(self.samples, stacks)]
        self.counts = collections.Counter()
        self.bad = []
        self.plain, _ = perf.script(data)
        self.lock = threading.Lock()

    def judge(self, fields, options):
        arguments = (*options, *(("-F", fields) if fields else ()))
        text, _ = self.perf.script(self.data, *arguments)
        if text is None or not text.strip():
            verdict, why = "not printed by perf", ""
        else:
            verdict, why = self.verdict(text, fields, options)
        with self.lock:
            self.counts[verdict] += 1
            what = f"perf {self.perf.version}, {self.name}, {' '.join(arguments) or 'no options'}"
            if verdict in ("wrong", "refused without a remedy") or verdict == "refused" and self.is_common(fields, options):
                self.bad.append(f"{what}: {verdict}: {why}")

    def is_common(self, fields, options):
        """Without their names the values of two events cannot be told apart."""
        return (fields, options) in COMMON and not (fields == "-event" and len({s.event for s in self.samples}) > 1)

    def verdict(self, text, fields, options):
        path = self.work / f"{threading.get_ident()}.perf"
        out = path.with_suffix(".pb.gz")
        path.write_text(text, errors="replace")
        done = run(FIRETOWER, "convert", "--force", path, out, check=False)
        if done.returncode != 0:
            return ("refused" if REMEDY.search(done.stderr) else "refused without a remedy"), done.stderr.strip()
        if text == self.plain:  # No event of the file has what was asked for alone.
            fields = ""
        here = perf_truth.printed(fields, "")
        got = perf_truth.read(pprof.parse(out.read_bytes()), "sym" in here)
        wanted = perf_truth.expected(self.not_inlined if "--no-inline" in options else self.samples, fields, options)
        if got == wanted:
            return "right", ""
        lost = next(((key, value) for key, value in wanted.items() if got.get(key) != value), None)
        new = next(((key, value) for key, value in got.items() if wanted.get(key) != value), None)
        return "wrong", f"{lost} became {new}"


def judge_perf(case, suite, program, work):
    try:
        perf = perf_truth.SuitePerf(suite)
    except OSError as error:
        print(f"SKIP {case.name}: {error}", flush=True)
        return False
    total = collections.Counter()
    bad = []
    for name, flags in RECORDINGS.items():
        data = work / "perf.data"
        # Build ids are asked for because beside another sampler that does so this kernel says of any mapping that it has one,
        # and perf 6.1 and 6.12 end in an assertion. The thread that looks for BPF programs takes a second to end.
        told = perf("record", "-q", "-B", "-N", "--no-bpf-event", "--sample-cpu", "--buildid-mmap", *flags, "-o", data, "--", program, "0.05",
                    *NAMES, check=False)
        if told.returncode != 0:
            print(f"SKIP {case.name} {name}: perf {perf.version} does not record it here: {told.stderr.strip()[-200:]}", flush=True)
            continue
        if not perf.use_few_symbols(data, work / "kallsyms"):
            print(f"     {perf.version}: {name} is read with all symbols of the kernel", flush=True)
        try:
            judge = Judge(perf, name, data, work)
        except RuntimeError as error:
            case.check(f"perf {perf.version}: {name} can be told field by field", False, error)
            continue
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda row: judge.judge(*row), dict.fromkeys(runs(perf, name, data))))
        print(f"     {perf.version:9} {name:14} {len(judge.samples):5} samples: " +
              ", ".join(f"{count} {verdict}" for verdict, count in sorted(judge.counts.items())), flush=True)
        for line in judge.bad[:8]:
            print(f"     {line[:600]}", flush=True)
        total += judge.counts
        bad += judge.bad
    case.check(f"perf {perf.version}: nothing is read wrong", total["wrong"] == 0, f"{total['wrong']} of {sum(total.values())}")
    case.check(f"perf {perf.version}: what is refused says what to do", total["refused without a remedy"] == 0, total["refused"])
    case.check(f"perf {perf.version}: what people run is read", not any(": refused:" in line for line in bad))
    case.at_least(f"perf {perf.version}: texts that are read right", total["right"], 100)
    return True


def main():
    case = Case("perf-matrix")
    case.need("gcc")
    # Tracepoints need it; a mount of our own goes with our namespace.
    if not os.path.exists("/sys/kernel/tracing/events") and os.environ.get("FIRETOWER_OWN_MOUNTS") is None:
        os.environ["FIRETOWER_OWN_MOUNTS"] = "1"
        os.execvp("unshare", ["unshare", "--mount", "sh", "-c",
                              'mount -t tracefs tracefs /sys/kernel/tracing; exec "$0" "$@"', sys.executable, *sys.argv])
    done = 0
    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        program = work / "load"
        run("gcc", "-O1", "-g", "-fno-omit-frame-pointer", "-pthread", SUPPORT / "perf_load.c", "-o", program)
        for suite in sys.argv[1:] or SUITES:
            done += judge_perf(case, suite, program, work)
    if done == 0:
        case.skip("no perf could be fetched")
    case.finish()


if __name__ == "__main__":
    main()
