#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""formats_test.py pprof|folded|speedscope|perf: `firetower convert` on files that others wrote.

pprof's own test data, a sample of FlameGraph's, what pyinstrument writes for speedscope, and what the real perf prints. What
is expected is read out of the same files by the few lines here, which share nothing with the product.
"""

import bz2
import collections
import json
import lzma
import os
import pathlib
import re
import shutil
import sys
import tempfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
SUPPORT = HERE.parent / "support" / "real"
sys.path.insert(0, str(SUPPORT))

import perf
import pprof
from case import Case, run

FIRETOWER = pathlib.Path(os.environ.get("FIRETOWER_BUILD", HERE.parents[1] / "build/dev")) / "bin/firetower"

# A second and a half of work on one thread, with functions to be found again.
LOAD = """
import time
def spin(end):
    n = 0
    while time.monotonic() < end:
        n += 1
    return n
def outer():
    return spin(time.monotonic() + 0.7)
def other():
    return sum(i * i for i in range(1000))
outer()
end = time.monotonic() + 0.7
while time.monotonic() < end:
    other()
"""
# Not by its command line: that takes runpy's frames off by the first of their children, which on a busy machine is not
# the program, but the moment in which its text was read.
RECORD = """
import sys
from pyinstrument import Profiler
from pyinstrument.renderers import SpeedscopeRenderer
with open(sys.argv[1]) as file:
    program = compile(file.read(), sys.argv[1], "exec")
profiler = Profiler()
profiler.start()
exec(program, {"__name__": "__main__"})
profiler.stop()
with open(sys.argv[2], "w") as file:
    file.write(profiler.output(SpeedscopeRenderer()))
"""


def corpora(case, part):
    told = run(SUPPORT / "fetch-corpora", timeout=300, check=False)
    folder = pathlib.Path(told.stdout.strip() or "/nowhere") / part
    if told.returncode != 0 or not folder.exists():
        case.skip(f"{part} could not be fetched: {told.stderr.strip()[-200:]}")
    return folder


def convert(*arguments):
    return run(FIRETOWER, "convert", *arguments, check=False, timeout=120)


def sums(profile):
    """Values by stack of (name, or module and address) and label set."""
    found = collections.Counter()
    for sample in profile.samples:
        stack = tuple((f.name, f.module, 0 if f.name else f.address) for f in sample.stack)
        for index, value in enumerate(sample.values):
            found[stack, tuple(sorted(sample.labels.items())), index] += value
    return +found


def named(profile, kind):
    """Values by stack of names alone, root first."""
    index = profile.value_index(kind)
    found = collections.Counter()
    for sample in profile.samples:
        found[tuple(sample.names)] += sample.values[index]
    return +found


def judge_pprof(case, work):
    library = corpora(case, "gopath") / "src/github.com/google/pprof"
    files = [p for p in library.rglob("*") if p.is_file() and ("testdata" in p.parts or "corpus" in p.parts)]
    read = refused = 0
    for path in sorted(files):
        out = work / "out.pb.gz"
        done = convert("--input-format", "pprof", "--force", path, out)
        try:
            wanted = pprof.parse(path.read_bytes())
            valid = bool(wanted.types) and all(len(s.values) == len(wanted.types) for s in wanted.samples)
        except (ValueError, IndexError, KeyError, OSError, EOFError, UnicodeDecodeError):
            valid = False
        if not valid:
            refused += 1
            if done.returncode != 1 or len(done.stderr.splitlines()) not in (2, 3):
                case.check(f"{path.name} is refused", False, f"{done.returncode}: {done.stderr}")
            continue
        read += 1
        got = pprof.parse(out.read_bytes()) if done.returncode == 0 else None
        if got is None or got.types != wanted.types or sums(got) != sums(wanted):
            case.check(f"{path.name} keeps its stacks and values", False, done.stderr)
    case.at_least("files of pprof's test data that keep stacks, values and labels", read, 4)
    case.at_least("others that are refused, in two or three lines", refused, 5)


def folded_sums(text):
    found = collections.Counter()
    for line in text.splitlines():
        stack, count = line.rsplit(" ", 1)
        # The sample has a stack with an empty frame at its end, which is left out.
        found[";".join(frame for frame in stack.split(";") if frame.strip())] += int(count)
    return found


def judge_packed(case, work, sample, wanted):
    """The same stacks packed by other tools' writers, and what is said of those that are not read."""
    text = sample.read_bytes()
    with zipfile.ZipFile(work / "packed.zip", "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("web/a.folded", text)
        packed.writestr("web/b.folded", "main;b 1\n")
    (work / "packed.xz").write_bytes(lzma.compress(text))
    forms = {"packed.xz": (), "packed.zip": ("--entry", "web/a*")}
    if shutil.which("zstd"):
        run("zstd", "-q", "-f", "-o", work / "packed.zst", sample)
        forms["packed.zst"] = ()
    for name, flags in forms.items():
        done = convert(work / name, *flags, "--format", "folded", "--annotate")
        case.check(f"{name} is read", done.returncode == 0 and folded_sums(done.stdout) == wanted, done.stderr.strip())
    done = convert(work / "packed.zip", "--format", "folded")
    case.check("a ZIP's files are listed", "web/a.folded, web/b.folded" in done.stderr, done.stderr.strip())
    (work / "packed.bz2").write_bytes(bz2.compress(text))
    done = convert(work / "packed.bz2", "--format", "folded")
    case.check("bzip2 is told by its name", "run `bzip2 -d FILE`" in done.stderr, done.stderr.strip())


def judge_folded(case, work):
    package = corpora(case, "speedscope") / "package/dist/release"
    (sample,) = package.glob("perf-vertx-stacks-01-collapsed-all-*.txt")
    wanted = folded_sums(sample.read_text())
    done = convert(sample, work / "out.pb.gz")
    if not case.check("FlameGraph's sample is read", done.returncode == 0, done.stderr.strip()):
        return
    got = pprof.parse((work / "out.pb.gz").read_bytes())
    bare = collections.Counter()
    for stack, count in wanted.items():
        bare[tuple(re.sub(r"_\[[ki]\]$", "", frame) for frame in stack.split(";"))] += count
    case.check("its stacks and counts are those of the file", named(got, "samples") == bare, sum(bare.values()))
    back = convert(work / "out.pb.gz", "--format", "folded", "--annotate").stdout
    case.check("and come back with their annotations", folded_sums(back) == wanted, len(wanted))
    judge_packed(case, work, sample, wanted)


def evented_sums(file):
    """Nanoseconds by stack of names."""
    scale = {"seconds": 10**9, "milliseconds": 10**6, "microseconds": 10**3, "nanoseconds": 1}
    names = [frame["name"] for frame in file["shared"]["frames"]]
    found = collections.Counter()
    for profile in file["profiles"]:
        opened, last = [], None
        for event in profile["events"]:
            at = event["at"] * scale[profile["unit"]]
            if opened and last is not None:
                found[tuple(names[i] for i in opened)] += at - last
            last = at
            opened.append(event["frame"]) if event["type"] == "O" else opened.pop()
    return found


def judge_schema(case, package, path):
    try:
        import jsonschema
    except ImportError:
        case.skip("python3-jsonschema is not installed")
    schema = json.loads((package / "file-format-schema.json").read_text())
    # Its root refers to the file's definition.
    problems = sorted(jsonschema.Draft7Validator(schema).iter_errors(json.loads(path.read_text())), key=str)
    case.check("what is written fits speedscope's own schema", not problems, str(problems[:1])[:300])
    broken = json.loads(path.read_text())
    broken["profiles"][0]["unit"] = "hours"
    case.check("which does not fit everything", list(jsonschema.Draft7Validator(schema).iter_errors(broken)) != [])


def judge_speedscope(case, work):
    package = corpora(case, "speedscope") / "package/dist/release"
    profiler = corpora(case, "pyinstrument")
    (work / "load.py").write_text(LOAD)
    theirs = work / "theirs.json"
    (work / "record.py").write_text(RECORD)
    run(sys.executable, work / "record.py", work / "load.py", theirs,
        env={**os.environ, "PYTHONPATH": str(profiler)})
    wanted = evented_sums(json.loads(theirs.read_text()))
    done = convert(theirs, work / "out.pb.gz")
    if not case.check("pyinstrument's file is read", done.returncode == 0, done.stderr.strip()):
        return
    got = named(pprof.parse((work / "out.pb.gz").read_bytes()), "time")
    off = max((abs(got[stack] - wanted[stack]) for stack in set(got) | set(wanted)), default=0)
    case.at_most("nanoseconds that a stack is off", off, 1000)
    case.at_least("nanoseconds in all", sum(got.values()), 1.2e9)
    ours = work / "ours.speedscope.json"
    convert(work / "out.pb.gz", ours)
    judge_schema(case, package, ours)


HEADER = re.compile(r"^\s*(\S.*?)\s+(-?\d+)\s+(?:\[(\d+)\]\s+)?(\d+)\.(\d+):\s+(?:(\d+)\s+)?(\S+?):+(?:\s+([0-9a-f]+) (.*) \((.*)\))?\s*$")
FRAME = re.compile(r"^\s+([0-9a-f]+) (.*) \((.*)\)$")


def script_sums(text):
    """(samples, sum of periods, Counter of leaf names, set of time stamps in ns) of what perf script printed."""
    samples = period = 0
    leaves, times = collections.Counter(), set()
    leaf_next = False
    for line in text.splitlines():
        head, frame = HEADER.match(line), FRAME.match(line)
        if head and not (frame and line.startswith("\t")):
            leaves["[unknown]"] += leaf_next  # The one before had no stack.
            samples += 1
            period += int(head.group(6) or 1)
            times.add(int(head.group(4)) * 10**9 + int(head.group(5).ljust(9, "0")))
            leaf_next = True
            frame = re.match(r"^\s*([0-9a-f]+) (.*) \((.*)\)$", line[head.start(8):]) if head.group(8) else None
        if frame and leaf_next:
            leaves[re.sub(r"\+0x[0-9a-f]+$", "", frame.group(2))] += 1
            leaf_next = False
    leaves["[unknown]"] += leaf_next
    return samples, period, +leaves, times


def judge_perf(case, work):
    case.need()
    root, why = perf.fetch()
    if root is None:
        case.skip(why)
    tool = perf.Perf(root, work)
    (work / "load.py").write_text(LOAD)
    forms = {"call graph": ("-g",), "no call graph": ()}
    for form, flags in forms.items():
        # Build ids for the reason that is in perf_matrix_test.py.
        run(tool.program, "record", "-q", "-B", "-N", "--buildid-mmap", "-e", "cpu-clock", "-F", 499, *flags, "-o", tool.data, "--",
            sys.executable, work / "load.py", env=tool.environment, timeout=60)
        for fields in ((), ("--ns",), ("--show-task-events", "--show-mmap-events")):
            told = run(tool.program, "script", "-i", tool.data, *fields, env=tool.environment, timeout=120, errors="replace")
            text = work / "perf.txt"
            text.write_text(told.stdout)
            wanted = script_sums("\n".join(l for l in told.stdout.splitlines() if "PERF_RECORD_" not in l))
            done = convert("--force", text, work / "out.pb.gz")
            what = " ".join((form, *fields))
            if not case.check(f"{what}: perf script is read", done.returncode == 0, done.stderr.strip()[-300:]):
                continue
            got = pprof.parse((work / "out.pb.gz").read_bytes())
            seen = (got.total("samples"), got.total("cpu"))
            case.check(f"{what}: samples and nanoseconds", seen == wanted[:2] and seen[0] > 100, f"{seen}, {wanted[:2]}")
            leaves = collections.Counter((s.names or [""])[-1] or "[unknown]" for s in got.samples for _ in range(s.values[0]))
            case.check(f"{what}: the functions at the top", leaves == wanted[2], leaves.most_common(3))
            stamps = {s.labels.get("end_timestamp_ns") for s in got.samples}
            case.check(f"{what}: every time stamp", stamps == wanted[3], len(stamps))


def main(part):
    case = Case(f"formats-{part}")
    with tempfile.TemporaryDirectory() as name:
        {"pprof": judge_pprof, "folded": judge_folded, "speedscope": judge_speedscope, "perf": judge_perf}[part](
            case, pathlib.Path(name))
    case.finish()


if __name__ == "__main__":
    main(sys.argv[1])
