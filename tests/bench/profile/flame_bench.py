#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""flame_bench.py GENERATOR PROGRAM: a flame graph of 100,000 stacks, beside awk that only counts their frames.

Lines: `metric value limit verdict`. CPU time of whole processes, ours with reading and decoding the pprof file, awk's
over the same stacks as folded text; pairs in one run, medians of their ratios.
"""

import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import short

PAIRS = short.pick(5, 1)
# Limits with room for a busy machine; the aim is 6 times awk's.
LIMITS = {"levels": 9.0, "svg": 9.0, "html": 11.0}
MAX_RSS_KIB = 400 << 10


def cpu_of(*command):
    """The CPU milliseconds of a child, and what it printed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return spent * 1e3, out


def main(generator, program):
    good = True
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        subprocess.run([generator, "generate", folder], check=True)
        profile, folded, out = folder / "big.pb.gz", folder / "big.folded", folder / "out"
        subprocess.run([generator, "encode", folded, profile], check=True, capture_output=True)
        for form, limit in LIMITS.items():
            ratios, ours, decoding, rss = [], [], [], 0
            for _ in range(PAIRS):
                spent, printed = cpu_of(program, profile, form, out)
                peer, _ = cpu_of("awk", "-F;", "{n+=NF}END{print n}", folded)
                words = printed.split()
                ratios.append(spent / peer)
                ours.append(spent)
                decoding.append(float(words[1]))
                rss, size = max(rss, int(words[3])), int(words[2])
            ratio = statistics.median(ratios)
            holds = ratio <= limit and rss <= MAX_RSS_KIB
            good = good and short.passes(holds)
            print(
                f"flame_{form}_cpu_ratio {ratio:.2f} <={limit} {short.verdict(holds)}"
                f"  (min {min(ratios):.2f} max {max(ratios):.2f}; {statistics.median(ours):.0f} ms, of them decoding"
                f" {statistics.median(decoding):.0f}; {size} bytes, peak {rss >> 10} MiB <="
                f"{MAX_RSS_KIB >> 10})"
            )
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
