#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""java_test.py paths|modes: the frames of Java programs by name, merged with native ones, in one walk.

In tests/programs/java/Paths.java each path ends in a method of its own, so the leaf of a stack says what the whole of it
must be. `paths`: in every JVM of this machine, and in each of the folders in FIRETOWER_JAVA_HOMES, separated by colons, as it
is started without options. `modes`: in one of them after the other, interpreted, by each compiler alone, in a small code
cache, whose code is flushed, and with each collector.
"""

import collections
import glob
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

SUPPORT = pathlib.Path(__file__).resolve().parents[1] / "support" / "real"
sys.path.insert(0, str(SUPPORT))

from case import Case, run
from daemon import Daemon
from known_paths import count_odd, expand, run_in_pairs

PROGRAM = pathlib.Path(__file__).resolve().parents[1] / "programs" / "java" / "Paths.java"
HOMES = "/usr/lib/jvm/*"
SECONDS = 12
EXACT = 0.99
SAMPLES = 60
MODULE = "[java]"
OUTERMOST = "call_stub"
# A thread's first function.
FIRST = ("__clone3", "clone3", "__clone", "clone")
# Code that a compiler has inlined into a loop without a poll is not described: then the stack ends at the loop's method.
VAGUE = ("dense", "serial", "parallel")
MODES = {
    "dense": ["-XX:+UnlockDiagnosticVMOptions", "-XX:+DebugNonSafepoints"],
    "int": ["-Xint"],
    "c1": ["-XX:TieredStopAtLevel=1"],
    "c2": ["-XX:-TieredCompilation"],
    "comp": ["-Xcomp"],
    "flush": ["-XX:ReservedCodeCacheSize=3m"],
    "serial": ["-XX:+UseSerialGC", "-Xmx64m"],
    "parallel": ["-XX:+UseParallelGC", "-Xmx64m"],
    "z": ["-XX:+UseZGC", "-Xmx256m"],
    "shenandoah": ["-XX:+UseShenandoahGC", "-Xmx256m"],
}


def homes():
    """The folder of each JVM here, by its version."""
    found = {}
    for home in [*sorted(glob.glob(HOMES)), *filter(None, os.environ.get("FIRETOWER_JAVA_HOMES", "").split(":"))]:
        java = pathlib.Path(home, "bin", "java")
        if not java.exists():
            continue
        told = subprocess.run([java, "-version"], capture_output=True, text=True).stderr
        version = re.search(r'version "([^"]+)"', told)
        if version:
            found.setdefault(version.group(1), java)
    return found


class Running:
    def __init__(self, name, java, classes, options=()):
        self.name = name[:15]
        self.process = subprocess.Popen([java, *options, "-cp", classes, "Paths", self.name, str(SECONDS)],
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        self.why = "" if line else self.process.stderr.read().strip().splitlines()[-1]
        self.paths = {leaf: expand(path) for leaf, path in json.loads(line or "{}").items()}

    def wanted(self, leaf):
        return ["work", "turn", *self.paths[leaf], leaf]

    def fits(self, leaf, stack):
        wanted = self.wanted(leaf)
        return len(stack) == len(wanted) and all(map(is_method, stack, wanted))

    def can_have(self, stack):
        """It is on its way to some leaf, or in what that calls."""
        return any(len(stack) <= len(wanted) + 1 and all(map(is_method, stack, [*wanted, "spin"]))
                   for wanted in map(self.wanted, self.paths)) or stack == ["work", "turn", "catching", "thrower"]


def is_method(name, wanted):
    """Lambdas have a number of the compiler's choice."""
    return name == wanted or (wanted.endswith("$") and name.startswith("lambda$"))


def own(sample):
    """The program's own methods, the outermost first, from `work` on."""
    names = [frame.name.removeprefix("Paths.").removeprefix("Paths$") for frame in sample.stack
             if frame.module == MODULE and re.match(r"Paths[.$]", frame.name) and "$$" not in frame.name]
    return names[names.index("work"):] if "work" in names else []


def judge(case, running, profile):
    """The samples of its thread, and how many of them are cut."""
    everything = total = exact = cuts = nameless = upside_down = 0
    wrong, leaves, odd = collections.Counter(), set(), collections.Counter()
    for sample in profile.samples:
        if sample.labels.get("thread") != running.name:
            continue
        count = sample.values[0]
        everything += count
        is_cut, is_nameless = count_odd(sample, MODULE, odd)
        cuts += count * is_cut
        nameless += count * is_nameless
        upside_down += count * (sample.names[-1] == OUTERMOST)
        stack = own(sample)
        if not is_cut and not is_nameless and not running.can_have(stack):
            wrong[" ".join(stack)] += count
        leaf = next((name for name in stack if name in running.paths), None)
        if leaf is None:
            continue
        total += count
        leaves.add(leaf)
        exact += count * running.fits(leaf, stack[:stack.index(leaf) + 1])
    name = running.name
    case.check(f"{name}: no stack that the program cannot have", not wrong, dict(wrong.most_common(4)) or "")
    case.at_most(f"{name}: samples whose innermost frame is the outermost one of Java's", upside_down, 3)
    case.at_least(f"{name}: samples in leaves", total, SAMPLES if not name.endswith(VAGUE) else 1)
    case.at_least(f"{name}: of them, share with exactly the leaf's path", exact / max(total, 1), EXACT)
    # Code that the JVM replaces before its name is read; where the machine is busy, a few of few samples.
    case.at_most(f"{name}: samples of its thread with a gap", cuts + nameless, max(8, 0.02 * everything))
    if not name.endswith(VAGUE):
        case.at_least(f"{name}: paths seen", len(leaves), len(running.paths) - 2)
    case.figure(name, f"{everything} samples, {total} in leaves, {nameless} with a frame without a name, {cuts} cut")
    for stack, count in odd.most_common(3):
        case.figure(name, f"{count} × {stack}")
    return everything, cuts


def started(found, what):
    """The programs to run: name, JVM and options of each."""
    versions = [(version.replace("_", ".").split(".")[0], java) for version, java in found.items()]
    if what == "paths":
        return [(f"{version}-plain", java, []) for version, java in versions]
    return [(f"{versions[i % len(versions)][0]}-{mode}", versions[i % len(versions)][1], options)
            for i, (mode, options) in enumerate(MODES.items())]


def judge_virtual(case, daemon, found, classes):
    """Virtual threads of the newest JVM, on their way back from calls whose frames are still in the heap."""
    version, java = max(found.items(), key=lambda one: int(re.match(r"\d+", one[0]).group()))
    if int(re.match(r"\d+", version).group()) < 21 or not java.with_name("javac").exists():
        case.figure("virtual threads", f"left out: the newest JDK here is {version}")
        return
    run(java.with_name("javac"), "--release", "21", "-d", classes, PROGRAM.with_name("Virtual.java"))
    run(java, "-cp", classes, "Virtual", str(SECONDS))
    time.sleep(2)
    total = whole = 0
    others = collections.Counter()
    for sample in daemon.profile('{container=~".+"}').samples:
        names = sample.names
        if "Virtual.leafVirtual" not in names:
            continue
        total += sample.values[0]
        if not sample.labels.get("cut") and names[0] in FIRST and "jdk.internal.vm.Continuation.enterSpecial" in names:
            whole += sample.values[0]
        else:
            others[f"{sample.labels.get('cut')} {' '.join(names[-3:])}"] += sample.values[0]
    case.at_least("virtual threads: samples", total, SAMPLES)
    case.at_least("virtual threads: share that reaches the root of their carrier", whole / max(total, 1), EXACT)
    for stack, count in others.most_common(3):
        case.figure("virtual threads", f"{count} × {stack}")


def main():
    what = sys.argv[1]
    case = Case(f"e2e.java-{what}")
    found = homes()
    compilers = [java.with_name("javac") for java in found.values() if java.with_name("javac").exists()]
    if not compilers:
        case.skip("no JDK here")
    with tempfile.TemporaryDirectory() as classes, Daemon(window_seconds=60) as daemon:
        run(compilers[0], "--release", "8", "-nowarn", "-d", classes, PROGRAM)
        everything, cut = run_in_pairs(case, daemon, started(found, what),
                                       lambda name, java, options: Running(name, java, classes, options), judge)
        if what == "paths":
            judge_virtual(case, daemon, found, classes)
        # Each machine has one or two while it writes its first stubs, and there are few samples where it has little of a CPU.
        case.at_most("stacks that are cut", cut, max(2 * len(started(found, what)), 0.005 * everything))
        metrics = daemon.metrics()
        daemon.stop()
        case.check("no sample was lost", not metrics.lost(), metrics.lost() or "none")
    case.finish()


if __name__ == "__main__":
    main()
