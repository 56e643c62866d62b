#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""filter_bench.py: what a tick costs the kernel side that a policy's filter leaves out, beside one that it does not.

Two threads burn in one container at 97 Hz; a filter by comm leaves all of its ticks out, or takes them. Run times by the
kernel's statistics, in turn.
"""

import statistics
import time

import bench
import short
from containers import Engine
from daemon import Daemon

ROUNDS = short.pick(5, 1)
START_SECONDS, SETTLE_SECONDS, SECONDS = short.pick((5, 2, 4), (2, 1, 1))
PERF_EVENT = 7  # BPF_PROG_TYPE_PERF_EVENT (linux/bpf.h)
POLICY = """apiVersion: firetower.dev/v1alpha1
kind: ClusterProfilingPolicy
metadata: {{name: only}}
spec:
  mode: Filter
  targets: {{podSelector: {{matchLabels: {{}}}}}}
  profiles: [{{type: CPU, frequencyHertz: 97}}]
  filter: {{processes: [{{comm: {comm}}}]}}
"""


def sampler_cost(daemon):
    """(run time in ns, runs) of the sampler."""
    return next((ns, runs) for kind, ns, runs in bench.bpf_programs(daemon.process.pid) if kind == PERF_EVENT)


def a_run(daemon, policy, comm):
    policy.write_text(POLICY.format(comm=comm))
    time.sleep(SETTLE_SECONDS)
    ns, runs = sampler_cost(daemon)
    time.sleep(SECONDS)
    more_ns, more_runs = sampler_cost(daemon)
    return (more_ns - ns) / (more_runs - runs)


def main():
    with bench.bpf_statistics(), Engine() as engine:
        folder = engine.work / "policies"
        folder.mkdir()
        policy = folder / "only.yaml"
        policy.write_text(POLICY.format(comm="toy_gap"))
        for _ in range(2):
            engine.container("/bin/toy_gap", 3600, 30).start()
        with Daemon("--policy", folder) as daemon:
            time.sleep(START_SECONDS)
            pairs = [(a_run(daemon, policy, "nobody"), a_run(daemon, policy, "toy_gap")) for _ in range(ROUNDS)]
    ratios = [out / taken for out, taken in pairs]
    bench.line("filter_tick_left_out_ns", statistics.median(out for out, _ in pairs))
    bench.line("filter_tick_taken_ns", statistics.median(taken for _, taken in pairs))
    bench.line("filter_ratio_min", min(ratios))
    bench.line("filter_ratio_max", max(ratios))
    bench.at_most("filter_tick_left_out_to_taken", statistics.median(ratios), 0.10)
    bench.finish()


if __name__ == "__main__":
    main()
