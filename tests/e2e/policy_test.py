#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""policy_test.py: policies from a folder, changed while the daemon runs.

A bad file is named and harms no other; a changed file takes effect; containers.include narrows; a Periodic schedule
samples in its turns only. Without a policy in force the daemon says so.
"""

import json
import os
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support" / "real"))

import pprof
from case import Case
from containers import Engine
from daemon import Daemon

POLICY = """apiVersion: firetower.dev/v1alpha1
kind: ClusterProfilingPolicy
metadata:
  name: {name}
spec:
  mode: General
  targets:
    podSelector: {{matchLabels: {{}}}}
{containers}  profiles:
  - type: CPU
    frequencyHertz: 97
  general:
    {general}
"""
INCLUDE = "    containers: {{include: [\"{}\"]}}\n"


def write(folder, name, text):
    (folder / f"{name}.yaml").write_text(text)


def samples(daemon, container):
    """Samples of the container so far, in the store and in the open window."""
    profile = daemon.profile(f'{{container="{container.name}"}}', since="30m")
    return profile.total("samples") if profile.types else 0


def gains(daemon, containers, seconds=10):
    """Returns, for each container, the share of its CPU in the next seconds that became samples. These are told a second or
    two late, more on a busy machine, which is why it takes so many."""
    before = [(samples(daemon, c), c.usage_seconds()) for c in containers]
    time.sleep(seconds)
    return [(samples(daemon, c) - count) / 97 / (c.usage_seconds() - usage)
            for c, (count, usage) in zip(containers, before)]


def judge_reload(case, daemon, folder, one, two):
    first, second = gains(daemon, (one, two))
    case.at_least("part of their CPU sampled under matchLabels {}, both", min(first, second), 0.75)

    write(folder, "bad", POLICY.format(name="bad", containers="", general="schedule: Continuous").replace(
        "  mode: General\n", "  mode: General\n  colour: red\n"))
    time.sleep(3)
    named = [line for line in daemon.log().splitlines() if "bad.yaml" in line and "colour" in line]
    case.check("the log names the bad file and its field", bool(named), named[:1] or daemon.log()[-600:])
    case.check("and the line", any("bad.yaml:7" in line or "\"line\":7" in line or "line 7" in line or "line=7" in line
                                   for line in named), named[:1])
    states = [(row["name"], row["state"]) for row in json.loads(daemon.fetch("/api/v1/policies"))["policies"]]
    case.check("the API tells the one that is refused first", states[0][1] == "refused" and "bad.yaml" in states[0][0], states)
    case.check("and the other one as in force", states[1:] == [("good", "ok")], states)
    first, second = gains(daemon, (one, two))
    case.at_least("part of their CPU sampled with the bad file there, both", min(first, second), 0.75)

    write(folder, "good", POLICY.format(name="good", containers=INCLUDE.format(one.name), general="schedule: Continuous"))
    time.sleep(3)
    first, second = gains(daemon, (one, two))
    case.at_least("part sampled of the container that is included", first, 0.75)
    case.at_most("part sampled of the one that is not", second, 0)


def judge_periodic(case, daemon, folder, one):
    write(folder, "good", POLICY.format(
        name="good", containers="", general="{schedule: Periodic, periodSeconds: 60, durationSeconds: 10}"))
    time.sleep(3)
    begin = time.time()
    time.sleep(62)
    daemon.stop()
    seconds = {}
    for _, _, name, profile in pprof.read_store(daemon.store):
        start = profile.time_nanos / 1e9
        if name == one.name and begin <= start < begin + 60:
            seconds[int(start - begin)] = profile.total("samples")
    on = sorted(at for at, count in seconds.items() if count > 0)
    case.check("Periodic, 10 s of 60, samples in about 10 of 60 seconds", 8 <= len(on) <= 12,
               f"{on}, {sum(seconds.values())} samples")


def judge_nothing_in_force(case, folder):
    """A FIFO called like a policy is refused as a bad file is, and a node without any policy says so."""
    folder.mkdir()
    with Daemon("--policy", folder) as daemon:
        case.check("an empty folder: the log warns", "no policy is in force" in daemon.log(), daemon.log()[-300:])
    os.mkfifo(folder / "pipe.yaml")
    with Daemon("--policy", folder, ready_seconds=20) as daemon:
        case.check("a FIFO: the log names it", "pipe.yaml: not a regular file" in daemon.log(), daemon.log()[-300:])
        checks = {one["name"]: one for one in json.loads(daemon.cli("doctor", "-o", "json", check=False).stdout)["checks"]}
        told = checks.get("policies", {})
        case.check("doctor warns that nothing is profiled", told.get("status") == "warn"
                   and "accepted 0, refused 1" in told.get("message", "") and bool(told.get("fix")), told)


def main():
    case = Case("e2e.policy")
    case.need("runc", "busybox")
    with Engine() as engine:
        folder = engine.work / "policies"
        folder.mkdir()
        write(folder, "good", POLICY.format(name="good", containers="", general="schedule: Continuous"))
        one = engine.container("/bin/toy_stack", 3600).start()
        two = engine.container("/bin/toy_stack", 3600).start()
        with Daemon("--policy", folder, window_seconds=1) as daemon:
            time.sleep(2)
            judge_reload(case, daemon, folder, one, two)
            judge_periodic(case, daemon, folder, one)
        judge_nothing_in_force(case, engine.work / "none")
    case.finish()


if __name__ == "__main__":
    main()
