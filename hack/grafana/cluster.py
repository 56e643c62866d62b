# SPDX-License-Identifier: Apache-2.0
"""Dashboard of the cluster: the users of its CPUs, and their functions."""

import links
from parts import (
    CORES,
    END,
    FEW_POINTS,
    HIGHEST,
    NAMED,
    NODE,
    NODE_NAME,
    PERCENT,
    RANGE,
    RATE,
    bars,
    best,
    by,
    curve,
    highest,
    increase,
    made,
    number,
    or_zero,
    query,
    rate,
    states,
    table,
    total,
    up,
    variable,
)
from shares import AGENTS, CPU, HOTSPOT, SEEN, grown, kinds, lost_share, part_of_all, share

NAME = "cluster"
PODS = f'{AGENTS}, namespace=~"$namespace"'
KEPT = f"{PODS}, {NAMED}"
POD = "namespace, pod"
FUNCTION = "namespace, pod, function, binary"


def glance():
    return [
        number(
            "Agents up",
            "Agents that Prometheus reaches.",
            total(up(AGENTS)),
            links=[links.AGENTS, links.CHOSEN_BY_NODE],
        ),
        number(
            "Agents down",
            "Agents that Prometheus knows of and does not reach, and what else of their job it has not reached for a day.",
            or_zero(f"count(({up(AGENTS)}) == 0)"),
            bad=1,
            links=[links.AGENTS, links.CHOSEN_BY_NODE],
        ),
        number(
            "CPU in profiles",
            f"CPU time a second that is in profiles, on average over the range. {SEEN}",
            total(rate(CPU, PODS, RANGE)),
            CORES,
            links=links.CHOSEN,
        ),
        number(
            "Pods",
            "Pods that are in profiles, now.",
            or_zero(f'count(count by ({POD}) ({CPU}{{{PODS}, pod!="-"}}))'),
            links=[links.CHOSEN_BY_POD],
        ),
        number(
            "In the kernel, at least",
            "CPU time in kernel functions that have a series of their own, of all CPU time. What "
            "is in other kernel functions is not in it.",
            kinds(PODS, RANGE)[0][1],
            PERCENT,
            warn=0.3,
            bad=0.5,
            links=links.CHOSEN,
        ),
        number(
            "Samples lost",
            "Of the samples that should have been taken, those that were not or have no stack.",
            lost_share(AGENTS, RANGE),
            PERCENT,
            warn=0.001,
            bad=0.01,
            links=[links.AGENTS, links.CHOSEN_LOST],
        ),
    ]


def pods():
    whole = rate(CPU, AGENTS, RANGE)
    top = f"and on ({POD}) {best(POD, rate(CPU, PODS, RANGE))}"
    on_node = (
        f"sum by ({POD}, {NODE}) ({rate(CPU, PODS, RANGE)}) / on ({NODE}) group_left () "
        f"{by(NODE, whole)} {top}"
    )
    columns = [
        (
            "of all CPU in profiles",
            PERCENT,
            f"{share(f'{POD}, {NODE}', rate(CPU, PODS, RANGE), whole)} {top}",
        ),
        ("of its node's", PERCENT, on_node),
        ("cores", CORES, f"sum by ({POD}, {NODE}) ({rate(CPU, PODS, RANGE)}) {top}"),
    ]
    return [
        bars(
            "Pods with most CPU",
            'Their part of all CPU time in profiles, over the range. pod="-" is the host.',
            f"topk($top, {share(POD, rate(CPU, PODS, RANGE), whole)})",
            "{{namespace}}/{{pod}}",
            links=links.POD_OF_SERIES,
        ),
        curve(
            "CPU by namespace",
            "Each namespace's part of all CPU time in profiles.",
            query(share("namespace", rate(CPU, PODS), rate(CPU, AGENTS)), "{{namespace}}"),
            unit=PERCENT,
            stacked=True,
            links=links.NAMESPACE,
            height=10,
        ),
        table(
            "Pods: part of the cluster and of the node",
            "Over the range. The node's whole is what its agent has in profiles, "
            f"not what its CPUs could do. {SEEN}",
            columns,
            links.POD_OF_ROW,
        ),
    ]


def workloads():
    pod_cpu = by(POD, rate(CPU, PODS))
    known = f"max by ({POD}, workload) (firetower_workload_info{{{AGENTS}}})"
    named = f"{pod_cpu} * on ({POD}) group_left (workload) {known}"
    alone = f'label_join({pod_cpu}, "workload", "", "pod")'
    return [
        curve(
            "CPU by workload",
            "Cores of each Deployment, StatefulSet and so on; pods of none, and the host, stand by their "
            f"own names. {SEEN}",
            query(
                f"topk($top, sum by (namespace, workload) ({named} or on ({POD}) {alone}))",
                "{{namespace}}/{{workload}}",
            ),
            unit=CORES,
            links=links.NAMESPACE,
            points=FEW_POINTS,
        ),
        curve(
            "CPU by node",
            f"Cores of what each node's agent has in profiles. {SEEN} {HIGHEST}",
            query(
                highest(by(NODE, rate(CPU, AGENTS)), by(NODE, rate(CPU, AGENTS, RANGE, END))),
                NODE_NAME,
            ),
            unit=CORES,
            links=[links.AGENT_OF_SERIES, links.CHOSEN_BY_NODE],
        ),
    ]


def functions():
    hot = rate(HOTSPOT, KEPT, RANGE)
    top = f"and on ({FUNCTION}) {best(FUNCTION, hot)}"
    of_pod = (
        f"{by(FUNCTION, hot)} / on ({POD}) group_left () {by(POD, rate(CPU, PODS, RANGE))} {top}"
    )
    grew = grown(
        "function, binary",
        lambda when: rate(HOTSPOT, KEPT, RANGE, when),
        lambda when: rate(CPU, PODS, RANGE, when),
    )
    return [
        table(
            "Hottest functions",
            "By their own CPU time, over all pods that are chosen. Each container shows its "
            "hottest functions alone, so that a function that is warm everywhere can have more than this. "
            f"{SEEN}",
            [
                (
                    "of the CPU in profiles",
                    PERCENT,
                    f"topk($top, {share('function, binary', hot, rate(CPU, PODS, RANGE))})",
                ),
                ("cores", CORES, f"topk($top, {by('function, binary', hot)})"),
            ],
            links.CHOSEN_FUNCTION,
            width=12,
        ),
        table(
            "Functions that grew",
            "Their part of the CPU time in profiles, less that of as long a time before.",
            [("more than before", PERCENT, f"topk($top, {grew})")],
            links.CHOSEN_FUNCTION,
            width=12,
        ),
        table(
            "Hottest functions of pods",
            f"Those with most CPU time, with their part of their pod's. {SEEN}",
            [("of the pod", PERCENT, of_pod), ("cores", CORES, best(FUNCTION, hot))],
            links.POD_FUNCTION_OF_ROW,
        ),
        curve(
            "Kernel and user",
            "Parts of the CPU time in profiles. Kernel and user are told apart of functions that have a "
            "series of their own; of the rest it is not known.",
            *[query(expr, name) for name, expr in kinds(PODS)],
            unit=PERCENT,
            stacked=True,
            most=1,
            links=links.CHOSEN,
            points=FEW_POINTS,
        ),
        curve(
            "CPU in named functions",
            "What of each namespace's CPU time is in functions that have a series of their own.",
            query(
                f"{by('namespace', rate(HOTSPOT, KEPT))} / {by('namespace', rate(CPU, PODS))}",
                "{{namespace}}",
            ),
            unit=PERCENT,
            most=1,
            links=links.NAMESPACE,
            points=FEW_POINTS,
        ),
    ]


def agents():
    policy = "policy_namespace, policy"
    captures = "firetower_trigger_captures_total"
    refused = f'firetower_policies{{{AGENTS}, state="refused"}}'
    return [
        states(
            "Agents",
            "Whether Prometheus reaches each node's agent. As many as Rows says: those that it reached least "
            "over the range.",
            highest(
                # Reached at all scrapes since the point before.
                f"max by ({NODE}) (floor({up(AGENTS, over=RATE)}))",
                f"max by ({NODE}) ({up(AGENTS, END, RANGE)})",
                "bottomk",
            ),
            NODE_NAME,
            (1, "up"),
            (0, "down"),
            links=[links.AGENT_OF_SERIES, links.CHOSEN_BY_NODE],
        ),
        curve(
            "Captures",
            "Captures that triggers made, by policy.",
            query(
                or_zero(by(policy, increase(captures, AGENTS))), "{{policy_namespace}}/{{policy}}"
            ),
            links=[links.CAPTURES],
        ),
        number(
            "Captures in the range",
            "Captures that triggers made.",
            or_zero(total(increase(captures, AGENTS, RANGE))),
            width=6,
            links=[links.CAPTURES],
        ),
        number(
            "Policies refused",
            "By complaint, of which one policy can have several; of the agent that has most. Its log names them.",
            or_zero(f"max({refused})"),
            bad=1,
            width=6,
            links=[links.AGENTS, links.CHOSEN_BY_POD],
        ),
        number(
            "Frames without a name",
            "Of the frames whose name was looked up.",
            part_of_all(
                increase("firetower_symbol_lookups_total", f'{AGENTS}, result="unnamed"', RANGE),
                increase("firetower_symbol_lookups_total", AGENTS, RANGE),
            ),
            PERCENT,
            warn=0.1,
            bad=0.2,
            width=6,
            links=[links.AGENTS, links.CHOSEN_UNNAMED],
        ),
        number(
            "Samples of nobody",
            "Samples whose container could not be told.",
            part_of_all(
                increase("firetower_attribution_total", f'{AGENTS}, result="unknown"', RANGE),
                increase("firetower_attribution_total", f'{AGENTS}, result!="pending"', RANGE),
            ),
            PERCENT,
            warn=0.001,
            bad=0.01,
            width=6,
            links=[links.AGENTS, links.CHOSEN_BY_POD],
        ),
    ]


def dashboard():
    namespaces = variable("namespace", "Namespace", f"label_values({CPU}{{{AGENTS}}}, namespace)")
    return made(
        "firetower-cluster",
        "Firetower / Cluster",
        "Who uses the cluster's CPUs, and for what.",
        [namespaces],
        [
            ("At a glance", glance()),
            ("Pods", pods()),
            ("Workloads and nodes", workloads()),
            ("Functions", functions()),
            ("Agents and triggers", agents()),
        ],
    )
