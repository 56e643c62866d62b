#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""User-space instructions a sample costs from the ring into a slice, counted by callgrind.

pipeline_bench.py PIPELINE_STREAM: plays one window and five of a synthetic stream; the difference is
four windows of a daemon that is warm, without start and end of the program. Instructions do not
depend on the machine's load, so one run is enough.
"""

import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "real"))
import bench  # noqa: E402
import short  # noqa: E402

# Twelve slices of 8,000 samples are one window. The short form begins a second one too.
SLICES = short.pick((12, 60), (1, 13))

# About 1.5 times what g++ 12.2 -O2 needed when this was written (docs/benchmarks.md).
MOST = short.pick({600: 1500, 4000: 2750}, {600: 1500})


def count(program, slices, stacks):
    """(instructions, samples) of one run."""
    run = subprocess.run(
        ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", program, str(slices), str(stacks)],
        capture_output=True, text=True, check=False)
    instructions = re.search(r"Collected : (\d+)", run.stderr)
    samples = re.search(r"samples (\d+)", run.stdout)
    if run.returncode != 0 or not instructions or not samples:
        sys.exit(f"{program} under valgrind: exit status {run.returncode}\n{run.stderr}")
    return int(instructions[1]), int(samples[1])


def main():
    if not shutil.which("valgrind"):
        print("SKIP bench.pipeline: valgrind is missing: hack/bootstrap --tests installs it")
        sys.exit(77)
    for stacks, most in MOST.items():
        (few, few_samples), (many, many_samples) = (count(sys.argv[1], slices, stacks) for slices in SLICES)
        bench.at_most(f"pipeline_instructions_a_sample_{stacks}_stacks",
                      (many - few) / (many_samples - few_samples), most)
    bench.finish()


if __name__ == "__main__":
    main()
