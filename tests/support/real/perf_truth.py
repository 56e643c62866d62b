# SPDX-License-Identifier: Apache-2.0
"""Reads what perf recorded from the same perf, one field at a time, and tells what of it a set of fields prints."""

import bisect
import collections
import os
import pathlib
import re
from dataclasses import dataclass, field

from case import run

HERE = pathlib.Path(__file__).resolve().parent
FRAME = re.compile(r"\s*([0-9a-f]+) (.*?)(?:\+0x[0-9a-f]+)?(?: \((.*)\))?$")
# Fields that perf prints where nothing was asked for; a tracepoint's period is not among them.
DEFAULT = {"comm", "tid", "cpu", "time", "event", "ip", "sym", "symoff", "dso", "period", "trace"}


@dataclass
class Sample:
    comm: str = ""
    pid: int = 0
    tid: int = 0
    cpu: int = 0
    time: int = 0  # Nanoseconds.
    period: int = 0
    event: str = ""
    stack: list = field(default_factory=list)  # (address, name, module, inlined), leaf first.


class SuitePerf:
    """The perf of one Debian suite, run by its own loader."""

    def __init__(self, suite):
        told = run(HERE / "fetch-suite-perf", suite, timeout=600, check=False)
        if told.returncode != 0:
            raise OSError(f"linux-perf of {suite} could not be fetched: {told.stderr.strip()[-200:]}")
        root = pathlib.Path(told.stdout.strip())
        libraries = [root / part / "x86_64-linux-gnu" for part in ("usr/lib", "lib")]
        loader = next(folder / "ld-linux-x86-64.so.2" for folder in libraries if (folder / "ld-linux-x86-64.so.2").exists())
        self.command = (loader, "--library-path", ":".join(map(str, libraries)), root / "usr/bin/perf")
        self.environment = {**os.environ, "DEBUGINFOD_URLS": "", "PERF_CONFIG": "/dev/null", "LC_ALL": "C"}
        self.version = self("--version").stdout.split()[-1]
        self.kallsyms = ()  # Options that say where the kernel's symbols are.
        # The names stand behind "Fields:", as far as the next option.
        usage = self("script", "-F", "help", check=False).stderr
        self.fields = re.search(r"Fields: ([a-z0-9_,-]+)", usage).group(1).split(",")

    def __call__(self, *arguments, check=True, timeout=120):
        return run(*self.command, *arguments, check=check, timeout=timeout, env=self.environment, errors="replace")

    def script(self, data, *arguments):
        """Returns what perf script prints, or None with why it does not."""
        told = self("script", "-i", data, *self.kallsyms, *arguments, check=False)
        if told.returncode != 0 or not told.stdout:
            return None, told.stderr
        return told.stdout, ""

    def use_few_symbols(self, data, path):
        """Makes runs on `data` read the kernel's symbols that they print from `path`, not all 200,000 of /proc/kallsyms.

        That takes 65 of 80 ms of a run. Where anything would be printed in another way, all are read as before."""
        self.kallsyms = ()
        runs = ((), ("-F", "+addr"), ("--show-task-events", "--show-mmap-events"))
        texts = [self.script(data, *run)[0] for run in runs]
        path.write_text("".join(few_symbols({int(word, 16) for text in texts
                                             for word in re.findall(r"\bffff[0-9a-f]{12}\b", text or "")})))
        self.kallsyms = ("--kallsyms", path)
        if [self.script(data, *run)[0] for run in runs] != texts:
            self.kallsyms = ()
        return bool(self.kallsyms)

    def _column(self, data, name):
        text, why = self.script(data, "-F", name, "--ns")
        if text is None:
            raise RuntimeError(f"perf {self.version} does not print {name}: {why}")
        return [line.strip() for line in text.splitlines()]

    def stacks(self, data, *options):
        text, why = self.script(data, "-F", "time,ip,sym,symoff,dso", "--ns", *options)
        if text is None:
            raise RuntimeError(f"perf {self.version} prints no stacks: {why}")
        stacks = []
        for line in text.splitlines():
            head = re.match(r"\s*\d+\.\d{9}:(.*)$", line)
            if head:
                stacks.append([])
                line = head.group(1)
            if line.strip():
                address, name, module = FRAME.match(line).groups()
                inlined = module == "inlined"
                stacks[-1].append((int(address, 16), name, "" if inlined else module, inlined))
        return stacks

    def samples(self, data):
        columns = {name: self._column(data, name) for name in ("comm", "pid", "tid", "cpu", "time", "period", "event")}
        stacks = self.stacks(data)
        if len({len(stacks), *map(len, columns.values())}) != 1:
            raise RuntimeError(f"perf {self.version} prints other numbers of samples, field by field")
        return [
            Sample(comm=columns["comm"][i], pid=int(columns["pid"][i]), tid=int(columns["tid"][i]),
                   cpu=int(columns["cpu"][i].strip("[]")), time=int(columns["time"][i].rstrip(":").replace(".", "")),
                   period=int(columns["period"][i]), event=columns["event"][i].rstrip(":"), stack=stacks[i])
            for i in range(len(stacks))]


def few_symbols(addresses):
    """The lines of /proc/kallsyms of the symbols that hold `addresses`, each with those behind it, where it ends."""
    symbols = collections.defaultdict(list)
    for line in open("/proc/kallsyms"):
        symbols[int(line.split(" ", 1)[0], 16)].append(line)
    starts = sorted(symbols)
    kept = {start for start in starts if any(line.split()[2] in ("_text", "_stext", "_etext") for line in symbols[start])}
    for address in addresses:
        at = bisect.bisect_right(starts, address)
        kept.update(starts[max(at - 1, 0):at + 1])
    return [line for start in sorted(kept) for line in symbols[start]]


def printed(fields, event):
    """The fields that a sample of `event` has where `-F fields` is asked for."""
    names = [name for name in fields.split(",") if name not in ("", "+flags")]
    found = set(DEFAULT)
    if event.startswith("sched:"):  # perf prints stacks of tracepoints unless anything was asked for.
        found -= {"period", *(("ip", "sym", "symoff", "dso") if names else ())}
    # perf takes the dash in bpf-output for one that leaves a field out, and adds to what it prints anyway.
    if names and not names[0].startswith(("+", "-")) and "bpf-output" not in names:
        found = set(names)
    else:
        for name in names:
            (found.discard if name.startswith("-") else found.add)(name.lstrip("+-"))
    if "dsoff" in found:  # It is printed behind the module's name.
        found.add("dso")
    return found


def plain_event(name):
    """An event without how it was recorded."""
    return name if name.startswith("sched:") else re.sub(r"(:[a-zA-Z]+|/(freq|period)=\d+/[a-zA-Z]*)$", "", name)


def expected(samples, fields, options):
    """Samples and value by (event, labels, stack) of what such a run tells."""
    found = collections.defaultdict(lambda: (0, 0))
    # Without periods a profile only counts samples, and the name of its one event is not in it.
    nameless = len({plain_event(sample.event) for sample in samples}) == 1 and not samples[0].event.startswith("sched:") \
        and "period" not in printed(fields, samples[0].event)
    for sample in samples:
        here = printed(fields, sample.event)
        time = sample.time - (samples[0].time if "--reltime" in options else 0)
        time -= 0 if "--ns" in options else time % 1000
        labels = {"comm": sample.comm, "pid": sample.pid, "tid": sample.tid, "cpu": sample.cpu}
        labels = {name: value for name, value in labels.items() if name in here}
        if "time" in here:
            labels["end_timestamp_ns"] = time
        stack = shown(sample.stack, here)
        event = plain_event(sample.event) if "event" in here and not nameless else ""
        add(found, (event, tuple(sorted(labels.items())), stack), 1, sample.period if "period" in here else 1)
    return dict(found)


def add(found, key, count, value):
    found[key] = (found[key][0] + count, found[key][1] + value)


def module_of(path):
    """With dsoff it prints where it put the vDSO."""
    return "[vdso]" if path.startswith("/tmp/perf-vdso.so-") else path


def shown(stack, fields):
    """Leaf first: (address, name, module), the module that of the function an inlined call is in."""
    if "ip" not in fields:
        return ()
    frames, module, last = [], "", None
    for address, name, of, inlined in reversed(stack):
        # perf 6.1 and 6.12 end some stacks in an inlined call that is in nothing.
        module = ("" if address != last else module) if inlined else of
        last = address
        name = name if "sym" in fields and name != "[unknown]" else ""
        frames.append((address, name, module if "dso" in fields and module != "[unknown]" else ""))
    if "sym" not in fields:  # Calls inlined at one address are one.
        frames = [frame for i, frame in enumerate(frames) if i == 0 or not stack[len(stack) - 1 - i][3]]
    return tuple(reversed(frames))


def columns_of(types):
    """(event, index of its samples, index of its value or None) of a converted profile. The samples of one event are called so."""
    found = []
    for at, (name, _) in enumerate(types):
        if name == "samples" or name.endswith("_samples"):
            found.append(["" if name == "samples" else name.removesuffix("_samples"), at, None])
        else:
            found[-1][0], found[-1][2] = name, at
    return [({"cpu": "cpu-clock", "events": ""}.get(name, name), samples, value) for name, samples, value in found]


def read(profile, has_names):
    """The same of a converted profile."""
    found = collections.defaultdict(lambda: (0, 0))
    for sample in profile.samples:
        frames = [(f.address, "" if f.name == "[unknown]" else f.name, module_of(f.module)) for f in reversed(sample.stack)]
        if not has_names:
            frames = [f for i, f in enumerate(frames) if i == 0 or f != frames[i - 1]]
        labels = tuple(sorted(sample.labels.items()))
        # Samples that only the event tells apart are one.
        for event, samples, value in columns_of(profile.types):
            count = sample.values[samples]
            if count:
                add(found, (event, labels, tuple(frames)), count, count if value is None else sample.values[value])
    return dict(found)
