#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""perl_bench.py: the price of a frame of Perl.

It is the slope between two depths of a recursion, of BPF run time as the kernel counts it.
"""

import pathlib
import shutil
import statistics
import sys

import bench
import short
from frame_cost import HERTZ, slope
from daemon import Daemon

PROGRAM = pathlib.Path(__file__).resolve().parents[2] / "programs" / "perl" / "deep.pl"
ROUNDS = short.pick(4, 1)
MOST = 300


def main():
    perl = shutil.which("perl")
    if not perl:
        print("bench.perl: no Perl here: it is left out")
        return
    with bench.bpf_statistics(), \
            Daemon("--default-frequency-hertz", str(HERTZ), "--max-frequency-hertz", str(HERTZ), window_seconds=60) as daemon:
        slopes = [slope(daemon, [perl, PROGRAM]) for _ in range(ROUNDS)]
        bench.line("perl_ns_a_frame_min", min(slopes))
        bench.at_most("perl_ns_a_frame", statistics.median(slopes), MOST)
    bench.finish()


if __name__ == "__main__":
    sys.exit(main())
