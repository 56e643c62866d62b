# SPDX-License-Identifier: Apache-2.0
"""Panels of a pod's waits, locks and page faults: a curve by container and a table of functions for each."""

import links
from parts import NAMED, RANGE, by, curve, query, rate, table

THREADS = "suffix: threads"
FAULTS = "suffix: /s"
LABELS = "container, function, binary"


def _of_type(names, descriptions, families, unit, kind, matchers, column="threads"):
    """The two panels of a type of profiles. `names`, `descriptions`: of the curve and of the table; `kind`: of the type, in
    addresses."""
    whole, hotspots = families
    hot = by(LABELS, rate(hotspots, f"{matchers}, {NAMED}", RANGE))
    return [
        curve(
            names[0],
            descriptions[0],
            query(by("container", rate(whole, matchers)), "{{container}}"),
            unit=unit,
            stacked=True,
            links=[links.container(kind)],
            height=10,
        ),
        table(
            names[1],
            descriptions[1],
            [(column, unit, f"topk($top, {hot})")],
            [links.cell_container(kind)],
            width=12,
        ),
    ]


def panels(matchers):
    """Rows of the containers that `matchers` choose."""
    return [
        *_of_type(
            ("Waiting by container", "Where threads wait"),
            (
                "Threads that wait for something but a CPU, on average, in waits of at least minBlockMicroseconds: of policies "
                "of type OffCPU.",
                "By the innermost function of user space, over the range.",
            ),
            ("firetower_offcpu_seconds_total", "firetower_hotspot_offcpu_seconds_total"),
            THREADS,
            "offcpu",
            matchers,
        ),
        *_of_type(
            ("Waiting for locks by container", "Where locks are waited for"),
            (
                "Threads that wait for mutexes, reader-writer locks and monitors, on average: of policies of type Lock.",
                "By the function that takes the lock, over the range. The flame graph has who holds it as a label.",
            ),
            ("firetower_lock_wait_seconds_total", "firetower_hotspot_lock_wait_seconds_total"),
            THREADS,
            "lock",
            matchers,
        ),
        *_of_type(
            ("Page faults by container", "Where pages are touched first"),
            (
                "Page faults a second: of policies of type Memory. New memory costs one for each page.",
                "By the function that touched the page, over the range.",
            ),
            ("firetower_page_faults_total", "firetower_hotspot_page_faults_total"),
            FAULTS,
            "event:page-faults",
            matchers,
            "a second",
        ),
    ]
