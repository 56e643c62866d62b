# SPDX-License-Identifier: Apache-2.0
"""Expressions that several dashboards share: parts of CPU time, and what of the samples is missing."""

from parts import KERNEL, NAMED, NODE, RATE, by, or_zero, rate, total

CPU = "firetower_cpu_seconds_total"
HOTSPOT = "firetower_hotspot_cpu_seconds_total"
LOST = "firetower_samples_lost_total"
SAMPLES = "firetower_samples_total"
OVERHEAD = "firetower_overhead_cpu_seconds_total"
AGENTS = 'job=~"$job"'
# Note for panels that show cores from profiles: counters hold the samples seen, and are scaled by nothing.
SEEN = "Of a Periodic policy its turns alone count: parts are right, cores too low."
# Reasons by which whole samples are lost. With the other reasons only a stack, a container or a capture is lost; stacks or
# records lost in a ring are counted as stack_unknown when their samples come.
MISSING = 'reason=~"ring_full|skipped|store|stack_unknown"'


def share(labels, part, whole):
    """A part of one whole: `whole` has one value."""
    return f"{by(labels, part)} / scalar(sum({whole}))"


def part_of_all(part, whole):
    """0 where there is nothing of the part; nothing where there is nothing at all."""
    return f"({or_zero(total(part))}) / sum({whole})"


def kinds(matchers, over=RATE):
    """(name, expression) of the kernel's named functions, the other named ones, and the rest, which add up to 1."""
    whole = rate(CPU, matchers, over)
    kernel = part_of_all(rate(HOTSPOT, f"{matchers}, {NAMED}, {KERNEL}", over), whole)
    user = part_of_all(
        rate(HOTSPOT, f"{matchers}, {NAMED}, {KERNEL.replace('=', '!=', 1)}", over), whole
    )
    named = part_of_all(rate(HOTSPOT, f"{matchers}, {NAMED}", over), whole)
    return [
        ("kernel, hot functions", kernel),
        ("user, hot functions", user),
        ("without a series of its own", f"clamp_min(1 - {named}, 0)"),
    ]


def lost_share(matchers, over=RATE):
    lost = rate(LOST, f"{matchers}, {MISSING}", over)
    return f"sum({lost}) / (sum({rate(SAMPLES, matchers, over)}) + sum({lost}))"


def lost_share_by_node(matchers, over=RATE, when=""):
    lost = by(NODE, rate(LOST, f"{matchers}, {MISSING}", over, when))
    return f"{lost} / ({by(NODE, rate(SAMPLES, matchers, over, when))} + {lost})"


def grown(labels, part, whole):
    """How much a share is more than in as long a time before; what was not there then grew from 0. `part` and `whole` take
    the offset."""
    now, before = (
        f"{by(labels, part(when))} / scalar(sum({whole(when)}))"
        for when in ("", " offset $__range")
    )
    return f"({now}) - (({before}) or 0 * ({now}))"
