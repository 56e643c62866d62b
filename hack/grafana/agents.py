# SPDX-License-Identifier: Apache-2.0
"""How agents and hub are: what they cost, what they lose and why, what waits for the store, and what they refuse."""

import links
from parts import (
    CORES,
    END,
    HIGHEST,
    NODE,
    NODE_NAME,
    PERCENT,
    RANGE,
    RATE,
    at_most,
    by,
    curve,
    highest,
    increase,
    made,
    number,
    or_zero,
    peak,
    query,
    rate,
    states,
    table,
    total,
    up,
    variable,
)
from shares import (
    CPU,
    LOST,
    MISSING,
    OVERHEAD,
    SAMPLES,
    lost_share,
    lost_share_by_node,
    part_of_all,
)

NAME = "agents"
AGENTS = 'job=~"$job", instance=~"$instance", node=~"$node"'
HUB = 'job=~"$hub_job"'
UNNAMED = f'{AGENTS}, result="unnamed"'
LOOKUPS = "firetower_symbol_lookups_total"
ATTRIBUTION = "firetower_attribution_total"
OPERATIONS = "firetower_objectstore_operations_total"
FAILURES = "firetower_objectstore_failures_total"
STORE_SECONDS = "firetower_objectstore_duration_seconds"
DROPPED = "firetower_spool_dropped_profiles_total"
# Links of single panels, by title, where the hub has a better answer than the usual one of the row.
OF_GLANCE = {
    "Samples lost": [links.NODES_LOST, links.NODES_SEEN],
    "Samples of nobody": [links.NODES_BY_POD],
    "Frames without a name": [links.NODES_UNNAMED],
    "Waits for the store": [links.NODES_STORED],
}
OF_LOSSES = {
    "Samples": [links.NODES_SEEN, links.NODES_FLAME],
    "What met a bound": [links.NODES_SEEN, links.NODES_FLAME],
    "Whose samples": [links.NODES_BY_POD],
    "Names of pods": [links.NODES_BY_POD],
    # Profiles have what metrics left out.
    "Metrics left out": [links.NODES_FLAME, links.NODES_BY_POD],
    "Metrics": [links.NODES_FLAME, links.NODES_BY_POD],
}
OF_SYMBOLS = {
    "Stacks that were cut": [links.NODES_PPROF, links.NODES_FLAME],
    "Code that was not known yet": [links.NODES_PPROF, links.NODES_FLAME],
    "Unwind tables": [links.NODES_FLAME],
    "Size of unwind tables": [links.NODES_FLAME],
}
OF_POLICIES = {
    f"Triggers: {what}": [links.NODES_CAPTURES]
    for what in ("readings", "captures", "captures that were not made")
}
OF_HUB = {
    "Nodes that report": [links.DOCTOR, links.NODES_SEEN],
    "Policies of the hub": [links.DOCTOR, links.NODES_NAMESPACES],
}


def _gauge(family):
    """Returns the gauge of those agents where it is highest."""
    own = by(NODE, peak(family, AGENTS))
    return highest(own, by(NODE, at_most(family, AGENTS)))


def _time_of_sample(over=RATE, when=""):
    run = by(NODE, rate("firetower_bpf_run_seconds_total", AGENTS, over, when))
    return f"{run} / {by(NODE, rate(SAMPLES, AGENTS, over, when))}"


def _unnamed(over=RATE, when=""):
    named = by(NODE, rate(LOOKUPS, AGENTS, over, when))
    return f"{by(NODE, rate(LOOKUPS, UNNAMED, over, when))} / {named}"


def glance():
    return [
        number("Agents up", "Agents that Prometheus reaches.", total(up(AGENTS))),
        number(
            "Agents down",
            "Agents that Prometheus knows of and does not reach, and what else of their job it has not reached for a day.",
            or_zero(f"count(({up(AGENTS)}) == 0)"),
            bad=1,
        ),
        number(
            "Samples lost",
            "Of the samples that should have been taken, those that were not or have no stack.",
            lost_share(AGENTS, RANGE),
            PERCENT,
            warn=0.001,
            bad=0.01,
        ),
        number(
            "Samples of nobody",
            "Samples whose container could not be told.",
            part_of_all(
                increase(ATTRIBUTION, f'{AGENTS}, result="unknown"', RANGE),
                increase(ATTRIBUTION, f'{AGENTS}, result!="pending"', RANGE),
            ),
            PERCENT,
            warn=0.001,
            bad=0.01,
        ),
        number(
            "Frames without a name",
            "Of the frames whose name was looked up.",
            part_of_all(increase(LOOKUPS, UNNAMED, RANGE), increase(LOOKUPS, AGENTS, RANGE)),
            PERCENT,
            warn=0.1,
            bad=0.2,
        ),
        number(
            "Waits for the store",
            "Profiles in the agents' spools.",
            or_zero(f"sum(firetower_spool_bytes{{{AGENTS}}})"),
            "bytes",
        ),
        table(
            "Builds and kernels",
            "How many agents are of each.",
            [
                (
                    "agents",
                    "short",
                    f"count by (version, kernel, cgroup_mode, unwinder) (firetower_feature_info{{{AGENTS}}} * "
                    f"on ({NODE}) group_left (version) firetower_build_info{{{AGENTS}}})",
                )
            ],
            height=5,
        ),
    ]


def cost():
    own = rate(OVERHEAD, AGENTS)
    own_over_range = by(NODE, rate(OVERHEAD, AGENTS, RANGE, END))
    budget = f"max by ({NODE}) (firetower_budget_cores{{{AGENTS}}})"
    least_budget = f"max by ({NODE}) (min_over_time(firetower_budget_cores{{{AGENTS}}}[{RANGE}]{END}))"
    exceeded = f"max by ({NODE}, resource) ({peak('firetower_budget_exceeded', AGENTS)})"
    part_exceeded = f"avg_over_time(firetower_budget_exceeded{{{AGENTS}}}[{RANGE}]{END})"
    starts = "process_start_time_seconds"
    return [
        curve(
            "CPU by agent",
            f"Cores that each agent costs, its BPF programs included. {HIGHEST}",
            query(highest(by(NODE, own), own_over_range), NODE_NAME),
            unit=CORES,
        ),
        curve(
            "CPU by part",
            "Cores by the agents' threads; bpf is what the programs cost the CPUs that they sample.",
            query(by("component", own), "{{component}}"),
            unit=CORES,
            stacked=True,
        ),
        curve(
            "Cost of what is profiled",
            f"Cores that an agent costs for each core that is in its profiles. {HIGHEST}",
            query(
                highest(
                    f"{by(NODE, own)} / {by(NODE, rate(CPU, AGENTS))}",
                    f"{own_over_range} / {by(NODE, rate(CPU, AGENTS, RANGE, END))}",
                ),
                NODE_NAME,
            ),
            unit=PERCENT,
        ),
        curve(
            "Time of a sample",
            f"Run time of the sampling program for each sample. {HIGHEST}",
            query(highest(_time_of_sample(), _time_of_sample(RANGE, END)), NODE_NAME),
            unit="s",
        ),
        curve(
            "Memory",
            f"Resident memory, and that of BPF maps, which is not in it. {HIGHEST}",
            query(_gauge("process_resident_memory_bytes"), f"{NODE_NAME} resident"),
            query(_gauge("firetower_bpf_map_bytes"), f"{NODE_NAME} BPF maps"),
            unit="bytes",
        ),
        curve(
            "Part of the budget",
            f"CPU cost as a part of the sum of the policies' limits.cpu; 0 while no policy has one. {HIGHEST}",
            query(
                highest(
                    f"{by(NODE, own)} / on ({NODE}) {budget}",
                    f"{own_over_range} / on ({NODE}) {least_budget}",
                ),
                NODE_NAME,
            ),
            unit=PERCENT,
        ),
        states(
            "Budget",
            "Whether the agent costs more than its budget. As many agents as Rows says: those that did longest over "
            "the range.",
            highest(exceeded, f"max by ({NODE}) ({part_exceeded})"),
            f"{NODE_NAME} {{{{resource}}}}",
            (0, "kept"),
            (1, "exceeded"),
        ),
        curve(
            "Policies by the rate they get",
            "Of those that ask for one or were lowered.",
            query(f"sum by (rate) (firetower_governed_policies{{{AGENTS}}})", "{{rate}}"),
        ),
        curve(
            "Open files",
            f"Of those that the agent may open. {HIGHEST}",
            query(
                highest(
                    f"{by(NODE, peak('process_open_fds', AGENTS))} / {by(NODE, peak('process_max_fds', AGENTS))}",
                    f"{by(NODE, at_most('process_open_fds', AGENTS))} / {by(NODE, at_most('process_max_fds', AGENTS))}",
                ),
                NODE_NAME,
            ),
            unit=PERCENT,
        ),
        curve(
            "Restarts",
            f"How often an agent started anew at one address. {HIGHEST}",
            query(
                highest(
                    by(NODE, f"changes({starts}{{{AGENTS}}}[{RATE}])"),
                    by(NODE, f"changes({starts}{{{AGENTS}}}[{RANGE}]{END})"),
                ),
                NODE_NAME,
            ),
        ),
    ]


def losses():
    return [
        curve(
            "Samples",
            f"Samples a second. {HIGHEST}",
            query(
                highest(
                    by(NODE, rate(SAMPLES, AGENTS)), by(NODE, rate(SAMPLES, AGENTS, RANGE, END))
                ),
                NODE_NAME,
            ),
            unit="cps",
        ),
        curve(
            "Part lost",
            f"Of the samples that should have been taken, those that were not or have no stack. {HIGHEST}",
            query(
                highest(lost_share_by_node(AGENTS), lost_share_by_node(AGENTS, RANGE, END)),
                NODE_NAME,
            ),
            unit=PERCENT,
        ),
        curve(
            "What was lost, and why",
            "Samples, stacks and records a second. Those of exec and no_cgroup are kept, without a "
            "stack of the program or a container; those of recorder are missing in captures alone.",
            query(by("reason", rate(LOST, AGENTS)), "{{reason}}"),
            unit="cps",
        ),
        curve(
            "What met a bound",
            "What the agent had no room for, a second. Its metrics' reference says each reason.",
            query(by("reason", rate("firetower_refused_total", AGENTS)), "{{reason}}"),
            unit="cps",
        ),
        curve(
            "Whose samples",
            "Part of samples by what they were attributed to; those that waited for it are counted again.",
            query(
                f"{by('result', rate(ATTRIBUTION, AGENTS))} / scalar(sum({rate(ATTRIBUTION, AGENTS)}))",
                "{{result}}",
            ),
            unit=PERCENT,
        ),
        curve(
            "Names of pods",
            "Samples of pods a second, by when their pod object was known.",
            query(by("names", rate("firetower_pod_samples_total", AGENTS)), "{{names}}"),
            unit="cps",
        ),
        curve(
            "Metrics left out",
            "Series of containers and functions that a cap refused or took away, a second.",
            query(
                by("family", rate("firetower_metric_series_dropped_total", AGENTS)), "{{family}}"
            ),
            unit="cps",
        ),
        curve(
            "Metrics",
            "Series of containers and functions.",
            query(f"sum by (family) (firetower_metric_series{{{AGENTS}}})", "{{family}}"),
        ),
    ]


def symbols():
    lookups = rate(LOOKUPS, AGENTS)
    blind = [
        ("firetower_host_pids_hidden", "no hostPID"),
        ("firetower_user_reads_refused", "kernel refuses reads"),
    ]
    return [
        curve(
            "Frames without a name by agent",
            f"Of the frames whose name was looked up. {HIGHEST}",
            query(highest(_unnamed(), _unnamed(RANGE, END)), NODE_NAME),
            unit=PERCENT,
            most=1,
        ),
        curve(
            "Frames looked up", "A second.", query(by("result", lookups), "{{result}}"), unit="cps"
        ),
        curve(
            "Stacks that were cut",
            "Of all samples, by reason; those of no_registers are among those of page.",
            query(
                f"{by('reason', rate('firetower_unwind_failures_total', AGENTS))} / scalar(sum({rate(SAMPLES, AGENTS)}))",
                "{{reason}}",
            ),
            unit=PERCENT,
        ),
        curve(
            "Code that was not known yet",
            "Samples a second in code whose unwind table was not there yet.",
            query(by("result", rate("firetower_cold_samples_total", AGENTS)), "{{result}}"),
            unit="cps",
        ),
        curve(
            "Unwind tables",
            f"Binaries whose table is in BPF memory. {HIGHEST}",
            query(_gauge("firetower_unwind_tables"), NODE_NAME),
        ),
        curve(
            "Size of unwind tables",
            f"In BPF memory. {HIGHEST}",
            query(_gauge("firetower_unwind_table_bytes"), NODE_NAME),
            unit="bytes",
        ),
        curve(
            "Agents that do not see programs",
            "Frames of programs have no names, or there are none.",
            *[query(f"sum({family}{{{AGENTS}}})", name) for family, name in blind],
            width=24,
            height=6,
        ),
    ]


def uploads():
    seconds = f"sum by (le, operation) ({rate(STORE_SECONDS + '_bucket', AGENTS)})"
    return [
        curve(
            "Store operations",
            "A second.",
            query(by("operation", rate(OPERATIONS, AGENTS)), "{{operation}}"),
            unit="ops",
        ),
        curve(
            "Store operations that failed",
            "A second.",
            query(by("operation", rate(FAILURES, AGENTS)), "{{operation}}"),
            unit="ops",
        ),
        curve(
            "Time of store operations",
            "Nineteen of twenty took less.",
            query(f"histogram_quantile(0.95, {seconds})", "{{operation}}"),
            unit="s",
        ),
        curve(
            "Spool",
            f"Profiles that wait for the store. {HIGHEST}",
            query(_gauge("firetower_spool_bytes"), NODE_NAME),
            unit="bytes",
        ),
        curve(
            "Profiles dropped",
            f"That the spool had no room for, or that the store refused for good. {HIGHEST}",
            query(
                highest(
                    by(NODE, increase(DROPPED, AGENTS)),
                    by(NODE, rate(DROPPED, AGENTS, RANGE, END)),
                ),
                NODE_NAME,
            ),
        ),
        curve(
            "Pushed profiles",
            "To the servers of --push, a second, by what came of them.",
            query(
                or_zero(by("server, result", rate("firetower_push_profiles_total", AGENTS))),
                "{{server}} {{result}}",
            ),
            unit="cps",
        ),
        curve(
            "Push requests",
            "A second, by how they ended.",
            query(
                or_zero(by("server, result", rate("firetower_push_requests_total", AGENTS))),
                "{{server}} {{result}}",
            ),
            unit="reqps",
        ),
        curve(
            "Waits to be pushed",
            "In memory.",
            query(
                or_zero(f"sum by (server) (firetower_push_queue_bytes{{{AGENTS}}})"), "{{server}}"
            ),
            unit="bytes",
        ),
    ]


def policies():
    requests, restarts = "firetower_kube_requests_total", "firetower_kube_watch_restarts_total"
    synced = f"firetower_kube_synced{{{AGENTS}}}"
    age = f"time() - max by ({NODE}, resource) (firetower_kube_last_sync_timestamp_seconds{{{AGENTS}}} > 0)"
    return [
        curve(
            "Policies",
            "By kind and state, of the agent that has most. Refused ones count by complaint, and are named in its log.",
            query(
                or_zero(f"max by (kind, state) (firetower_policies{{{AGENTS}}})"),
                "{{kind}} {{state}}",
            ),
        ),
        curve(
            "Triggers: readings",
            "Compared with a threshold, a second.",
            query(
                or_zero(
                    by(
                        "policy_namespace, policy",
                        rate("firetower_trigger_evaluations_total", AGENTS),
                    )
                ),
                "{{policy_namespace}}/{{policy}}",
            ),
            unit="cps",
        ),
        curve(
            "Triggers: captures",
            "That were made.",
            query(
                or_zero(
                    by(
                        "policy_namespace, policy",
                        increase("firetower_trigger_captures_total", AGENTS),
                    )
                ),
                "{{policy_namespace}}/{{policy}}",
            ),
        ),
        curve(
            "Triggers: captures that were not made",
            "Times that the rules held and no capture was made, by reason.",
            query(
                or_zero(by("reason", increase("firetower_trigger_suppressed_total", AGENTS))),
                "{{reason}}",
            ),
        ),
        curve(
            "Requests to the API server",
            "A second by their answer; code 0: there was none.",
            query(or_zero(by("code", rate(requests, AGENTS))), "{{code}}"),
            unit="reqps",
        ),
        curve(
            "Watches that ended",
            "And were begun anew, by reason.",
            query(
                or_zero(by("resource, reason", increase(restarts, AGENTS))),
                "{{resource}} {{reason}}",
            ),
        ),
        curve(
            "Watches behind",
            "Kinds of objects of which an agent does not know what the API server has.",
            query(or_zero(f"count by (resource) ({synced} == 0)"), "{{resource}}"),
        ),
        curve(
            "Last word of the API server",
            "How long ago it told something of a kind; of a kind that does not change this is long.",
            query(or_zero(f"max by (resource) ({age})"), "{{resource}}"),
            unit="s",
        ),
    ]


def hub():
    questions, failed = "firetower_hub_http_requests_total", f'{HUB}, code=~"5.."'
    return [
        number(
            "Leaders",
            "One hub leads: it writes the status of policies, catalogs, and deletes what is too old.",
            or_zero(f"sum(firetower_hub_leader{{{HUB}}})"),
        ),
        number(
            "Nodes that report",
            "Whose agents told the hub what they run.",
            or_zero(f"max(firetower_hub_nodes{{{HUB}}})"),
        ),
        number(
            "Rights that are missing",
            "What the hub must ask to know who may read profiles, and may not.",
            or_zero(f"count(firetower_hub_access_allowed{{{HUB}}} == 0)"),
            bad=1,
        ),
        number(
            "Questions that failed",
            "Of the requests to the hub, those that ended with 5xx.",
            f"({or_zero(total(increase(questions, failed, RANGE)))}) / "
            f"clamp_min({or_zero(total(increase(questions, HUB, RANGE)))}, 1)",
            PERCENT,
            warn=0.01,
            bad=0.05,
        ),
        number(
            "Policies of the hub",
            "That the hub knows.",
            or_zero(f"max(sum by (instance) (firetower_policies{{{HUB}}}))"),
        ),
        number(
            "Not in a catalog yet",
            "Stored profiles that the hub knows from memory.",
            or_zero(f"max(firetower_hub_recent_rows{{{HUB}}})"),
        ),
        curve(
            "Requests",
            "A second by path and how they ended.",
            query(or_zero(by("route, code", rate(questions, HUB))), "{{route}} {{code}}"),
            unit="reqps",
        ),
        curve(
            "Writes to the API server",
            "Status, Events and deletions, a second, by how they ended.",
            query(
                or_zero(by("resource, result", rate("firetower_hub_writes_total", HUB))),
                "{{resource}} {{result}}",
            ),
            unit="ops",
        ),
        curve(
            "Looks at the store",
            "By how they ended.",
            query(
                or_zero(by("result", increase("firetower_hub_catalog_rounds_total", HUB))),
                "{{result}}",
            ),
        ),
        curve(
            "Catalogs and bundles",
            "Written, merged, deleted and damaged catalogs; bundles that could not be read.",
            query(or_zero(by("event", increase("firetower_hub_catalogs_total", HUB))), "{{event}}"),
            query(
                or_zero(
                    total(
                        increase(
                            "firetower_hub_catalog_bundles_total", HUB + ', result="unreadable"'
                        )
                    )
                ),
                "unreadable bundles",
            ),
        ),
        curve(
            "Deleted as too old",
            "Objects by what came of it.",
            query(
                or_zero(by("result", increase("firetower_hub_retention_objects_total", HUB))),
                "{{result}}",
            ),
            query(
                or_zero(
                    total(
                        increase("firetower_hub_retention_sweeps_total", HUB + ', result="failed"')
                    )
                ),
                "sweeps that failed",
            ),
        ),
        curve(
            "Freed",
            "Bytes of the objects that were deleted, a second.",
            query(
                or_zero(total(rate("firetower_hub_retention_deleted_bytes_total", HUB))), "deleted"
            ),
            unit="Bps",
        ),
        curve(
            "Lease",
            "Terms that began, and looks at the lease that failed.",
            query(or_zero(total(increase("firetower_hub_terms_total", HUB))), "terms"),
            query(or_zero(total(increase("firetower_hub_lease_failures_total", HUB))), "failures"),
        ),
        curve(
            "Hub's watches behind",
            "Kinds of objects of which a hub does not know what the API server has.",
            query(
                or_zero(f"count by (resource) (firetower_kube_synced{{{HUB}}} == 0)"),
                "{{resource}}",
            ),
        ),
    ]


def dashboard():
    chosen = [
        variable(
            "hub_job", "Hub's job", "label_values(firetower_hub_leader, job)", everything=None
        ),
        variable(
            "instance",
            "Agent",
            'label_values(firetower_samples_total{job=~"$job"}, instance)',
            everything=".+",
        ),
        # `.*` is of agents without the label, too.
        variable("node", "Node", 'label_values(firetower_samples_total{job=~"$job"}, node)'),
    ]
    return made(
        "firetower-agents",
        "Firetower / Agent health",
        "What agents and hub cost, lose and refuse.",
        chosen,
        [
            ("At a glance", links.led(glance(), [links.NODES_SEEN], OF_GLANCE)),
            ("Cost", links.led(cost(), [links.NODES_SEEN, links.NODES_FLAME])),
            ("Losses", links.led(losses(), [links.NODES_LOST, links.NODES_SEEN], OF_LOSSES)),
            ("Stacks and symbols", links.led(symbols(), [links.NODES_UNNAMED], OF_SYMBOLS)),
            ("Store and uploads", links.led(uploads(), [links.NODES_STORED])),
            (
                "Policies and the API server",
                links.led(policies(), [links.NODES_BY_POD], OF_POLICIES),
            ),
            ("Hub", links.led(hub(), [links.DOCTOR, links.NODES_STORED], OF_HUB)),
        ],
    )
