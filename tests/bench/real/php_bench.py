#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""php_bench.py: the price of a frame of PHP, interpreted and compiled.

It is the slope between two depths of a recursion, of BPF run time as the kernel counts it.
"""

import sys

import frame_cost

COMPILED = ["-d", "opcache.enable_cli=1", "-d", "opcache.file_update_protection=0", "-d", "opcache.jit_buffer_size=64M",
            "-d", "opcache.jit=function"]

if __name__ == "__main__":
    sys.exit(frame_cost.judge("php", "php/deep.php", {"php_interpreted": ([], 150), "php_compiled": (COMPILED, 150)}))
