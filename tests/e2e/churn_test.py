#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""churn_test.py HIERARCHY: twenty containers, more than five of them coming and going each second.

For half a minute; FIRETOWER_CHURN_SECONDS makes it longer.

Each runs a function that no other has, so every sample of it can be judged by name: in the container of that
function it is right; anywhere else, with no container or under no name it is wrong. A sample of the program outside of
that function is wrong unless it is in one of the containers. Beside them a hundred newborns:
cgroups that live for the 15 ms of their only process, too short for anyone to look them up.
"""

import os
import pathlib
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support" / "real"))

import pprof
from case import Case
from containers import Engine, cgroup_root, cgroup_usage_seconds
from daemon import Daemon

SECONDS = int(os.environ.get("FIRETOWER_CHURN_SECONDS", "30"))
ALIVE = 20
LIFE_SECONDS = 3
PERIOD_SECONDS = 0.165  # Six a second, which keeps twenty alive.


class Churn:
    """Starts containers by the clock; each ends by itself and is then removed by a second thread."""

    def __init__(self, engine):
        self.engine = engine
        self.program = engine.marked("toy_unique")
        self.by_function = {}
        self.names = set()
        self.usage_seconds = 0.0
        self.removed = 0
        self.most = 0
        self._waiting = []
        self._done = threading.Event()

    def run(self):
        remover = threading.Thread(target=self._remove)
        remover.start()
        self.begin = time.monotonic()
        # runc takes a while on a busy machine; two of them keep the pace.
        starters = [threading.Thread(target=self._start, args=(range(first, Newborns.FIRST, 2),)) for first in (0, 1)]
        for starter in starters:
            starter.start()
        for starter in starters:
            starter.join()
        self.seconds = time.monotonic() - self.begin
        self._done.set()
        remover.join()

    def _start(self, indices):
        for index in indices:
            time.sleep(max(0.0, self.begin + index * PERIOD_SECONDS - time.monotonic()))
            if time.monotonic() - self.begin >= SECONDS:
                break
            # 3 ms in 60: together about half of a machine with two CPUs.
            container = self.engine.container(self.program, index, LIFE_SECONDS, 3000, 57000)
            self.by_function[f"only_in_{index:03o}"] = container
            self.names.add(container.name)
            container.start()
            self._waiting.append((time.monotonic(), container))
            self.most = max(self.most, len(self._waiting))

    def _remove(self):
        while self._waiting or not self._done.is_set():
            if not self._waiting or time.monotonic() < self._waiting[0][0] + LIFE_SECONDS + 0.2:
                time.sleep(0.02)
                continue
            _, container = self._waiting.pop(0)
            self.usage_seconds += container.usage_seconds()
            container.remove()
            self.removed += 1


class Newborns(threading.Thread):
    """Container cgroups made by hand, each for one process of 15 ms."""

    COUNT = 100
    FIRST = 512 - COUNT  # Functions that the churn does not reach.

    def __init__(self, root, churn):
        super().__init__()
        self.root = root
        self.churn = churn
        self.usage_seconds = 0.0

    def run(self):
        program = f"{self.churn.engine.image}{self.churn.program}"
        for index in range(self.FIRST, self.FIRST + self.COUNT):
            container = self.churn.engine.container()
            self.churn.by_function[f"only_in_{index:03o}"] = container
            folder = self.root / container.path[1:]
            folder.mkdir(parents=True)
            # The shell joins the cgroup; what it becomes is born inside.
            join = f'echo $$ >{folder}/cgroup.procs && exec {program} {index} 0 15000'
            subprocess.run(["/bin/sh", "-c", join], check=True)
            self.usage_seconds += cgroup_usage_seconds(folder)
            folder.rmdir()
            time.sleep(SECONDS / self.COUNT / 2)


def place(container):
    return "-", container.uid, container.name


def judge(case, store, churn, newborns):
    right = {}  # Samples by container label.
    unnamed = 0
    elsewhere = 0  # Nothing of the toy's own is in the stack, but its name: which of them it was cannot be told.
    wrong = {}
    file = churn.program.rsplit("/", 1)[-1]
    ours = {place(container) for container in churn.by_function.values()}
    for namespace, pod, name, profile in pprof.read_store(store):
        for sample in profile.samples:
            functions = [frame.name for frame in sample.stack if frame.name.startswith("only_in_")]
            own = [frame for frame in sample.stack if frame.module.rsplit("/", 1)[-1] == file]
            if not own and sample.labels.get("comm") != file[:15]:
                continue
            where = f"{namespace}/{pod}/{name}"
            if not all(frame.is_named for frame in own):
                unnamed += sample.values[0]
            elif functions and (namespace, pod, name) == place(churn.by_function[functions[-1]]):
                right[name] = right.get(name, 0) + sample.values[0]
            elif functions or (namespace, pod, name) not in ours:
                key = f"{functions[-1] if functions else file} in {where}"
                wrong[key] = wrong.get(key, 0) + sample.values[0]
            else:
                elsewhere += sample.values[0]
    good = sum(right.values())
    bad = sum(wrong.values()) + unnamed
    case.at_least("samples judged", good + bad, 1000)
    case.at_least("share of samples with the right container", good / max(good + bad, 1), 0.999)
    case.figure("right, wrong, unnamed", (good, wrong or 0, unnamed))
    case.figure("in one of the containers, outside of the functions that tell which", elsewhere)
    seen = right.keys() & churn.names
    # On a busy machine one of them may get no tick in its three seconds.
    case.at_least("share of runc's containers seen", len(seen) / len(churn.names), 0.98)
    of_runc = sum(right[name] for name in seen)
    # The missing samples are runc's own start in the cgroup, and in a newborn the shell that becomes the toy.
    case.at_least("CPU in samples ÷ CPU of their cgroups, containers", of_runc / 97 / churn.usage_seconds, 0.8)
    case.at_least("CPU in samples ÷ CPU of their cgroups, newborns", (good - of_runc) / 97 / newborns.usage_seconds, 0.6)
    case.figure("newborns seen", f"{len(right.keys() - churn.names)} of {Newborns.COUNT}")


def main():
    form = sys.argv[1]
    case = Case(f"e2e.churn-{form}")
    case.need("runc", "busybox")
    if cgroup_root(form) is None:
        case.skip(f"no cgroup hierarchy {form} is mounted here")
    with Engine() as engine, Daemon("--cgroup-hierarchy", form) as daemon:
        churn = Churn(engine)
        newborns = Newborns(cgroup_root(form), churn)
        newborns.start()
        churn.run()
        newborns.join()
        time.sleep(1)
        metrics = daemon.metrics()
        status, _ = daemon.stop()
        case.at_least("containers that came and went a second", churn.removed / churn.seconds, 5)
        case.at_least("containers alive at once", churn.most, ALIVE - 2)
        judge(case, daemon.store, churn, newborns)
        case.check("no sample was lost", not metrics.lost(), metrics.lost() or "none")
        case.figure("attribution", {labels.get("result"): value for labels, value in
                                    metrics.find("firetower_attribution_total")})
        case.check("the daemon left with 0", status == 0, status)
    case.finish()


if __name__ == "__main__":
    main()
