#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""java_bench.py: the price of frames of Java, interpreted and compiled.

It is the slope between two depths of a recursion, of BPF run time as the kernel counts it. The compiled recursion is C1's,
which inlines nothing here.
"""

import glob
import pathlib
import statistics
import subprocess
import sys
import tempfile

import bench
import short
from frame_cost import HERTZ, slope
from daemon import Daemon

PROGRAM = pathlib.Path(__file__).resolve().parents[2] / "programs" / "java" / "Deep.java"
ROUNDS = short.pick(4, 1)
KINDS = {"interpreted": (["-Xint"], 130), "compiled": (["-XX:TieredStopAtLevel=1", "-XX:MaxInlineLevel=0"], 200)}


def main():
    compilers = sorted(glob.glob("/usr/lib/jvm/*/bin/javac"))
    if not compilers:
        print("bench.java: no JDK here: it is left out")
        return
    java = pathlib.Path(compilers[0]).with_name("java")
    with tempfile.TemporaryDirectory() as classes, bench.bpf_statistics(), \
            Daemon("--default-frequency-hertz", str(HERTZ), "--max-frequency-hertz", str(HERTZ), window_seconds=60) as daemon:
        subprocess.run([compilers[0], "--release", "8", "-nowarn", "-d", classes, PROGRAM], check=True,
                       stderr=subprocess.DEVNULL)
        for kind, (options, most) in KINDS.items():
            slopes = [slope(daemon, [java, *options, "-XX:+UseSerialGC", "-cp", classes, "Deep"]) for _ in range(ROUNDS)]
            bench.line(f"java_{kind}_ns_a_frame_min", min(slopes))
            bench.at_most(f"java_{kind}_ns_a_frame", statistics.median(slopes), most)
    bench.finish()


if __name__ == "__main__":
    sys.exit(main())
