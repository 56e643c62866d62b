# SPDX-License-Identifier: Apache-2.0
"""Programs in which each path ends in a leaf of its own, and what is counted of their samples."""

import os
import time


def expand(path):
    """The names of a path, in which NAME*COUNT is a recursion."""
    names = []
    for step in path:
        name, _, count = step.partition("*")
        names += [name] * int(count or 1)
    return names


def count_odd(sample, module, odd):
    """Notes what the product itself says that it does not know: whether the stack is cut, and whether a name is missing."""
    cut = sample.labels.get("cut")
    nameless = any(frame.module == module and not frame.is_named for frame in sample.stack)
    if cut or nameless:
        odd[f"{cut or 'no name'}: {' '.join(frame.name for frame in sample.stack[-4:])}"] += sample.values[0]
    return bool(cut), nameless


def wait_for(one):
    """Waits for a run to end, and notes the CPU time that it took."""
    _, status, usage = os.wait4(one.process.pid, 0)
    one.process.returncode = os.waitstatus_to_exitcode(status)
    one.cpu_seconds = usage.ru_utime + usage.ru_stime


def run_in_pairs(case, daemon, jobs, start, judge):
    """Two at a time, which share the CPUs; all of their samples, and those that are cut."""
    everything = cut = 0
    while jobs:
        running = [start(*job) for job in jobs[:2]]
        jobs = jobs[2:]
        for one in running:
            wait_for(one)
        time.sleep(2)
        profile = daemon.profile('{container=~".+"}')
        for one in running:
            if one.why:
                case.figure(one.name, f"does not run: {one.why}")
                continue
            samples, cuts = judge(case, one, profile)
            everything, cut = everything + samples, cut + cuts
    return everything, cut
