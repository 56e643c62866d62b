#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""truth_bench.py [SECONDS [RUNS]]: shares of three leaves in the profile against the program's own thread clock.

χ² of each run's sample counts against those shares, summed over the runs: skid and lost samples would show. A perfect
sampler exceeds 2σ in one run of eight, hence the pooling.
"""

import math
import subprocess
import sys
import time

import bench
import short
from daemon import TOYS, Daemon

LEAVES = ("leaf_50", "leaf_30", "leaf_20")
LEAST_P = 0.001


def probability(chi_square, freedom):
    """Returns the probability of a χ² at least this large; closed form for an even number of degrees of freedom."""
    half = chi_square / 2
    return math.exp(-half) * sum(half**k / math.factorial(k) for k in range(freedom // 2))


def one_run(seconds):
    with Daemon("--default-frequency-hertz", "99") as daemon:
        told = subprocess.run([str(TOYS / "toy_shares"), str(seconds)], capture_output=True, text=True, check=True)
        time.sleep(1.5)  # The slice that holds the last samples must end first.
        profile = daemon.profile('{container=~".+"}')
        lost = sum(daemon.metrics().lost().values())
    spent = {name: int(ns) for name, ns in (row.split() for row in told.stdout.splitlines())}
    counted = {leaf: sum(s.values[0] for s in profile.samples if leaf in s.names) for leaf in LEAVES}
    return spent, counted, lost


def main():
    seconds = int(sys.argv[1]) if len(sys.argv) > 1 else short.pick(60, 2)
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else short.pick(5, 1)
    pooled = 0.0
    for run in range(1, runs + 1):
        spent, counted, lost = one_run(seconds)
        samples, clock = sum(counted.values()), sum(spent.values())
        if min(counted.values()) == 0:
            raise RuntimeError(f"a leaf has no samples: {counted}")
        chi_square, worst = 0.0, 0.0
        for leaf in LEAVES:
            share = spent[leaf] / clock
            expected = samples * share
            chi_square += (counted[leaf] - expected) ** 2 / expected
            worst = max(worst, abs(counted[leaf] - expected) / math.sqrt(expected * (1 - share)))
        pooled += chi_square
        bench.line(f"truth_run{run}_samples", samples)
        bench.line(f"truth_run{run}_samples_per_cpu_second", samples / (clock / 1e9))
        bench.line(f"truth_run{run}_chi_square", chi_square)
        bench.line(f"truth_run{run}_worst_share_error_sigma", worst)
        bench.at_most(f"truth_run{run}_samples_lost", lost, 0)
    freedom = (len(LEAVES) - 1) * runs
    bench.line("truth_pooled_chi_square", pooled)
    bench.at_least("truth_pooled_p", probability(pooled, freedom), LEAST_P)
    bench.finish()


if __name__ == "__main__":
    main()
