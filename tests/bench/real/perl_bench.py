#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""perl_bench.py: the price of a frame of Perl.

It is the slope between two depths of a recursion, of BPF run time as the kernel counts it.
"""

import sys

import frame_cost

if __name__ == "__main__":
    sys.exit(frame_cost.judge("perl", "perl/deep.pl", {"perl": ([], 250)}))
