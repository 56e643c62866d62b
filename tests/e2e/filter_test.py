#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""filter_test.py: mode Filter among ten equal burners of one container, and what is open when nothing is wanted.

By name, by command line and by CPU only those samples exist; the events of a CPU that nobody wants are not armed; with
the last policy the perf events go.
"""

import os
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support" / "real"))

from case import Case
from containers import Engine
from daemon import Daemon
from machine import cpu_seconds

BURNERS = 10
# One of ten equal burners gets a tenth of the CPUs at most: at 97 Hz that is some 60 samples in ten seconds, whose own
# scatter is 13 %.
HERTZ = 499
POLICY = """apiVersion: firetower.dev/v1alpha1
kind: ClusterProfilingPolicy
metadata:
  name: only
spec:
  mode: Filter
  targets:
    podSelector: {{matchLabels: {{}}}}
  profiles:
  - type: CPU
    frequencyHertz: {hertz}
  filter:
    {filter}
"""
BURN = (f"i=0; while [ $i -lt {BURNERS} ]; do cp /bin/toy_stack /tmp/burn$i; /tmp/burn$i 3600 number$i & i=$((i+1)); "
        "done; wait")


def counts(daemon, container, label):
    """Samples of the container so far, by a label."""
    found = {}
    profile = daemon.profile(f'{{container="{container.name}"}}', since="30m")
    for sample in profile.samples:
        key = str(sample.labels.get(label))
        found[key] = found.get(key, 0) + sample.values[profile.value_index("samples")]
    return found


def gained(daemon, container, label, seconds):
    before = counts(daemon, container, label)
    time.sleep(seconds)
    after = counts(daemon, container, label)
    return {key: count - before.get(key, 0) for key, count in after.items() if count > before.get(key, 0)}


def process_of(container, name):
    """The pid of the container's process of that name."""
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if (folder / "comm").read_text().strip() == name and container.path in (folder / "cgroup").read_text():
                return int(folder.name)
        except (FileNotFoundError, ProcessLookupError):
            continue
    raise RuntimeError(f"no process {name} in {container.path}")


class Judge:
    def __init__(self, case, daemon, folder, container):
        self.case, self.daemon, self.folder, self.container = case, daemon, folder, container

    def apply(self, text):
        (self.folder / "only.yaml").write_text(POLICY.format(hertz=HERTZ, filter=text))
        time.sleep(3)

    def one_of_ten(self, text, name, what):
        self.apply(text)
        burner = process_of(self.container, name)
        before = cpu_seconds(burner)
        grown = gained(self.daemon, self.container, "comm", 10)
        used = cpu_seconds(burner) - before
        self.case.check(f"{what}: samples of {name} alone", set(grown) == {name}, grown)
        share = grown.get(name, 0) / HERTZ / used
        self.case.check(f"{what}: as many as it used CPU", 0.7 <= share <= 1.3, round(share, 3))

    def cpus(self):
        self.apply('cpus: "0"')
        grown = gained(self.daemon, self.container, "cpu", 6)
        self.case.check("cpus 0: samples of that CPU alone", set(grown) == {"0"}, grown)
        self.case.check("cpus 0: one event a CPU to follow processes, one to sample",
                        self.daemon.perf_events() == os.cpu_count() + 1, self.daemon.perf_events())

    def nothing(self):
        self.case.at_least("perf events open before", self.daemon.perf_events(), 2)
        (self.folder / "only.yaml").unlink()
        begin = time.monotonic()
        while self.daemon.perf_events() and time.monotonic() < begin + 10:
            time.sleep(0.05)
        self.case.at_most("seconds from the last policy's end until no perf event is open", time.monotonic() - begin, 2)
        time.sleep(1)
        grown = gained(self.daemon, self.container, "comm", 3)
        self.case.check("and no sample comes", not grown, grown)

    def again(self):
        """A program that began while nothing was followed is known like any other."""
        late = self.container.engine.container("/bin/toy_stack", 3600).start()
        time.sleep(1)
        (self.folder / "only.yaml").write_text(POLICY.format(hertz=HERTZ, filter="processes: [{comm: toy_stack}]"))
        time.sleep(8)
        profile = self.daemon.profile(f'{{container="{late.name}"}}')
        whole = sum(s.values[0] for s in profile.samples if s.names[:2] == ["_start", "main"])
        total = profile.total("samples") if profile.types else 0
        self.case.check("sampled again, also what began meanwhile", total > HERTZ / 10, total)
        self.case.at_least("with whole stacks", whole / total if total else 0, 0.95)


def main():
    case = Case("e2e.filter")
    case.need("runc", "busybox")
    with Engine() as engine:
        folder = engine.work / "policies"
        folder.mkdir()
        (folder / "only.yaml").write_text(POLICY.format(hertz=HERTZ, filter='cpus: "0-4095"'))
        container = engine.container("/bin/busybox", "sh", "-c", BURN).start()
        with Daemon("--policy", folder, "--sample-labels", "comm,cpu", window_seconds=1) as daemon:
            judge = Judge(case, daemon, folder, container)
            # Beside other tests each gets a small part of a CPU, and its first sample late.
            end, names = time.monotonic() + 30, {}
            while len([name for name in names if name.startswith("burn")]) < BURNERS and time.monotonic() < end:
                time.sleep(1)
                names = counts(daemon, container, "comm")
            case.check("ten burners before", len([name for name in names if name.startswith("burn")]) == BURNERS, names)
            judge.one_of_ten("processes: [{comm: burn3}]", "burn3", "comm")
            judge.one_of_ten('processes: [{commandLineRegex: "number7$"}]', "burn7", "commandLineRegex")
            judge.one_of_ten('processes: [{executable: /tmp/burn5}]', "burn5", "executable")
            judge.cpus()
            judge.nothing()
            judge.again()
    case.finish()


if __name__ == "__main__":
    main()
