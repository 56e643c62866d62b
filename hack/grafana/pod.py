# SPDX-License-Identifier: Apache-2.0
"""Dashboard of one pod: its use of CPUs, its waits and page faults."""

import links
import waits
from parts import (
    CORES,
    NAMED,
    NODE,
    PERCENT,
    RANGE,
    bars,
    best,
    by,
    curve,
    increase,
    made,
    number,
    or_zero,
    query,
    rate,
    table,
    text,
    total,
    variable,
)
from shares import AGENTS, CPU, HOTSPOT, LOST, MISSING, SAMPLES, SEEN, grown, kinds, share

NAME = "pod"
SPACE = f'{AGENTS}, namespace="$namespace"'
POD = f'{SPACE}, pod="$pod"'
THIS = f'{POD}, container=~"$container"'
KEPT = f"{THIS}, {NAMED}"
HERE = f"on ({NODE}) group by ({NODE}) ({CPU}{{{POD}}})"


def glance():
    used = rate(CPU, THIS, RANGE)
    on_its_node = f"({by(NODE, rate(CPU, AGENTS, RANGE))} and {HERE})"
    workload = f"max by (workload_kind, workload) (firetower_workload_info{{{POD}}})"
    lost = f"({by(NODE, rate(LOST, f'{AGENTS}, {MISSING}', RANGE))} and {HERE})"
    taken = f"({by(NODE, rate(SAMPLES, AGENTS, RANGE))} and {HERE})"
    return [
        number(
            "CPU",
            f"Cores, on average over the range. {SEEN}",
            total(used),
            CORES,
            links=links.of_pod(),
        ),
        number(
            "Of its node",
            "Of all CPU time that its node's agent has in profiles.",
            f"sum({used}) / sum({on_its_node})",
            PERCENT,
            links=links.of_its_pod("node"),
        ),
        number(
            "Of its namespace",
            "Of all CPU time in profiles of its namespace.",
            f"sum({used}) / sum({rate(CPU, SPACE, RANGE)})",
            PERCENT,
            links=links.of_its_namespace(),
        ),
        number(
            "In the kernel, at least",
            "CPU time in kernel functions that have a series of their own, of the pod's. What is in "
            "other kernel functions is not in it.",
            kinds(THIS, RANGE)[0][1],
            PERCENT,
            warn=0.3,
            bad=0.5,
            links=links.of_pod(),
        ),
        number(
            "Workload",
            "What the pod belongs to, if to anything that its agent knows.",
            f'{workload} or on() label_replace(label_replace(vector(1), "workload_kind", "none", "", ""), '
            '"workload", "-", "", "")',
            text="{{workload_kind}} {{workload}}",
            links=links.of_its_pod("workload", "node"),
        ),
        number(
            "Lost on its node",
            "Of the samples of its node, those that were not taken or have no stack.",
            f"sum({lost}) / (sum({taken}) + sum({lost}))",
            PERCENT,
            warn=0.001,
            bad=0.01,
            links=[links.AGENTS, *links.of_its_pod("node")],
        ),
        text(
            "Profiles of this range",
            " · ".join(f"[{one['title']}]({one['url']})" for one in links.of_pod()),
        ),
    ]


def containers():
    twins = f"max by (namespace, workload_kind, workload) (firetower_workload_info{{{POD}}})"
    others = (
        f"max by (namespace, pod, workload_kind, workload) (firetower_workload_info{{{SPACE}}}) "
        f"and on (namespace, workload_kind, workload) {twins}"
    )
    compared = (
        f"{by('namespace, pod', rate(CPU, SPACE))} and on (namespace, pod) ({others}) "
        f"or {by('namespace, pod', rate(CPU, POD))}"
    )
    return [
        curve(
            "CPU by container",
            f"Cores. {SEEN}",
            query(by("container", rate(CPU, THIS)), "{{container}}"),
            unit=CORES,
            stacked=True,
            links=[links.container()],
        ),
        curve(
            "Part of the pod by container",
            "Of the pod's CPU time in profiles.",
            query(share("container", rate(CPU, THIS), rate(CPU, POD)), "{{container}}"),
            unit=PERCENT,
            stacked=True,
            most=1,
            links=[links.container()],
        ),
        curve(
            "Its workload's pods",
            f"Cores of each pod of the same workload: is this one like its twins? {SEEN}",
            query(compared, "{{pod}}"),
            unit=CORES,
            links=links.POD_OF_SERIES,
        ),
        curve(
            "Part of its node",
            "Of all CPU time that its node's agent has in profiles.",
            query(
                f"{by(NODE, rate(CPU, THIS))} / on ({NODE}) {by(NODE, rate(CPU, AGENTS))}",
                "{{node}} {{instance}}",
            ),
            unit=PERCENT,
            links=links.of_its_pod("node"),
        ),
    ]


def functions():
    kept = rate(HOTSPOT, KEPT, RANGE)
    labels = "container, function, binary"
    of_container = f"{by(labels, kept)} / on (container) group_left () {by('container', rate(CPU, THIS, RANGE))}"
    grew = grown(
        labels,
        lambda when: rate(HOTSPOT, KEPT, RANGE, when),
        lambda when: rate(CPU, THIS, RANGE, when),
    )
    over_time = (
        f"{share('function, binary', rate(HOTSPOT, KEPT), rate(CPU, THIS))} and on (function, binary) "
        f"topk($top, {by('function, binary', rate(HOTSPOT, KEPT, RANGE, ' @ end()'))})"
    )
    return [
        table(
            "Hottest functions",
            f"By their own CPU time, over the range. {SEEN}",
            [
                ("of the pod", PERCENT, share(labels, kept, rate(CPU, THIS, RANGE))),
                ("of the container", PERCENT, of_container),
                ("cores", CORES, by(labels, kept)),
            ],
            [links.cell_container()],
        ),
        curve(
            "Hottest functions over time",
            "Their part of the pod's CPU time.",
            query(over_time, "{{function}} ({{binary}})"),
            unit=PERCENT,
            stacked=True,
            most=1,
            links=links.of_pod(),
        ),
        curve(
            "Kernel and user",
            "Parts of the pod's CPU time. Kernel and user are told apart of functions that have a series "
            "of their own; of the rest it is not known.",
            *[query(expr, name) for name, expr in kinds(THIS)],
            unit=PERCENT,
            stacked=True,
            most=1,
            links=links.of_pod(),
        ),
        bars(
            "By binary",
            "Which programs and libraries the hottest functions are of; their part of the pod's CPU time.",
            share("binary", kept, rate(CPU, THIS, RANGE)),
            "{{binary}}",
            links=links.of_pod(),
        ),
        table(
            "Functions that grew",
            "Their part of the pod's CPU time, less that of as long a time before.",
            [("more than before", PERCENT, f"topk($top, {grew})")],
            [links.cell_container()],
            width=12,
        ),
    ]


def triggers():
    policies = 'policy_namespace=~"$namespace|"'
    of = f"{AGENTS}, {policies}"
    return [
        curve(
            "Captures",
            "That triggers of the pod's namespace, and of the cluster, made: of any pod.",
            query(
                or_zero(
                    by("policy_namespace, policy", increase("firetower_trigger_captures_total", of))
                ),
                "{{policy_namespace}}/{{policy}}",
            ),
            links=[links.CAPTURES_OF_NAMESPACE, *links.of_pod()],
        ),
        curve(
            "Captures that were not made",
            "Times that a trigger's rules held and no capture was made, by reason.",
            query(
                or_zero(by("policy, reason", increase("firetower_trigger_suppressed_total", of))),
                "{{policy}} {{reason}}",
            ),
            links=[links.CAPTURES_OF_NAMESPACE],
        ),
    ]


def dashboard():
    chosen = [
        variable(
            "namespace", "Namespace", f"label_values({CPU}{{{AGENTS}}}, namespace)", several=False
        ),
        variable("pod", "Pod", f"label_values({CPU}{{{SPACE}}}, pod)", several=False),
        variable("container", "Container", f"label_values({CPU}{{{POD}}}, container)"),
    ]
    return made(
        "firetower-pod",
        "Firetower / Pod",
        "What one pod uses CPUs for, and what it waits for.",
        chosen,
        [
            ("At a glance", glance()),
            ("Containers", containers()),
            ("Functions", functions()),
            ("Waits, locks and page faults", waits.panels(THIS)),
            ("Triggers", triggers()),
        ],
        of_rollouts='{namespace=~"$namespace"}',
    )
