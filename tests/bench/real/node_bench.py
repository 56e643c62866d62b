#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""node_bench.py: the price of frames of JavaScript, interpreted and compiled.

It is the slope between two depths of a recursion, of BPF run time as the kernel counts it. No call is compiled into another.
"""

import pathlib
import shutil
import statistics
import sys

import bench
import short
from frame_cost import HERTZ, slope
from daemon import Daemon

PROGRAM = pathlib.Path(__file__).resolve().parents[2] / "programs" / "node" / "deep.js"
ROUNDS = short.pick(4, 1)
KINDS = {"interpreted": (["--jitless"], 180), "compiled": (["--max-inlined-bytecode-size=0"], 180)}


def main():
    node = shutil.which("node")
    if not node:
        print("bench.node: no Node.js here: it is left out")
        return
    with bench.bpf_statistics(), \
            Daemon("--default-frequency-hertz", str(HERTZ), "--max-frequency-hertz", str(HERTZ), window_seconds=60) as daemon:
        for kind, (options, most) in KINDS.items():
            slopes = [slope(daemon, [node, *options, PROGRAM]) for _ in range(ROUNDS)]
            bench.line(f"node_{kind}_ns_a_frame_min", min(slopes))
            bench.at_most(f"node_{kind}_ns_a_frame", statistics.median(slopes), most)
    bench.finish()


if __name__ == "__main__":
    sys.exit(main())
