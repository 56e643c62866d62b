#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""php_bench.py: the price of a frame of PHP, interpreted and compiled.

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

PROGRAM = pathlib.Path(__file__).resolve().parents[2] / "programs" / "php" / "deep.php"
ROUNDS = short.pick(4, 1)
COMPILED = ["-d", "opcache.enable_cli=1", "-d", "opcache.file_update_protection=0", "-d", "opcache.jit_buffer_size=64M",
            "-d", "opcache.jit=function"]
KINDS = {"interpreted": ([], 150), "compiled": (COMPILED, 150)}


def main():
    php = shutil.which("php")
    if not php:
        print("bench.php: no PHP here: it is left out")
        return
    with bench.bpf_statistics(), \
            Daemon("--default-frequency-hertz", str(HERTZ), "--max-frequency-hertz", str(HERTZ), window_seconds=60) as daemon:
        for kind, (options, most) in KINDS.items():
            slopes = [slope(daemon, [php, *options, PROGRAM]) for _ in range(ROUNDS)]
            bench.line(f"php_{kind}_ns_a_frame_min", min(slopes))
            bench.at_most(f"php_{kind}_ns_a_frame", statistics.median(slopes), most)
    bench.finish()


if __name__ == "__main__":
    sys.exit(main())
