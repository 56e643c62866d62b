# SPDX-License-Identifier: Apache-2.0
"""The spec of ProfilingPolicy and ClusterProfilingPolicy, both from one definition.

Every list and string is bounded, or CEL's cost estimate refuses the CRD. Defaults are scalars,
never a list entry nor a member whose presence means "on": server-side apply keeps what a user took
out.
"""

from schema import (array, boolean, cpu_list, dns_name, enum, integer, name, obj, quantity,
                    selector, text)

WORKLOADS = ("Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "Job", "CronJob", "Pod")
CONTAINER_METRICS = ("ContainerCPU", "ContainerCPUThrottled", "ContainerMemory",
                     "ContainerCPUPressure", "ContainerMemoryPressure", "ContainerIOPressure",
                     "OOMKill")
NODE_METRICS = ("NodeCPUUser", "NodeCPUSystem", "NodeLoad", "NodeCPUPressure",
                "NodeMemoryPressure", "NodeIOPressure", "RunQueueDelay")


def targets(cluster):
    workload = obj(
        {"kind": enum(*WORKLOADS, desc="The workload's kind."),
         "name": dns_name("The workload's name.")},
        ["kind", "name"])
    properties = {
        "podSelector": selector(
            "Pods by label. Unset: none. To take all pods write {matchLabels: {}}."),
        "workloadRefs": array(
            workload, 32, "map", ["kind", "name"],
            "Pods owned by these workloads, added to those of podSelector."),
        "containers": obj(
            {"include": array(name(), 32, "set", desc="Only these. Unset: all."),
             "exclude": array(name(), 32, "set", desc="Not these.")},
            desc="Containers by name; unset: all of a pod's."),
        "podPercent": integer(
            1, 100, 100, "Share of the matching pods, chosen by a stable hash of the pod's uid."),
    }
    rules = [(
        "!has(self.podSelector) || has(self.podSelector.matchLabels)"
        " || has(self.podSelector.matchExpressions)",
        "an empty podSelector is refused (a misspelt one is pruned to it): write matchLabels: {}"
        " for all pods", ".podSelector")]
    pods = "has(self.podSelector) || (has(self.workloadRefs) && size(self.workloadRefs) > 0)"
    if not cluster:
        rules.append((pods, "name at least one of podSelector and workloadRefs"))
        return obj(properties, rules=rules, desc="Which pods and containers.")
    properties["namespaceSelector"] = selector("Namespaces by label. Unset: all.")
    properties["hostProcesses"] = enum(
        "Exclude", "Include", default="Exclude", desc="Processes outside of every pod.")
    rules.append((pods + " || self.hostProcesses == 'Include'",
                  "name at least one of podSelector, workloadRefs and hostProcesses: Include"))
    rules.append((
        "!has(self.namespaceSelector) || has(self.namespaceSelector.matchLabels)"
        " || has(self.namespaceSelector.matchExpressions)",
        "an empty namespaceSelector is refused: leave it out for all namespaces",
        ".namespaceSelector"))
    return obj(properties, rules=rules, desc="Which pods, containers and host processes.")


def profile():
    event = obj(
        {"name": text(1, 128, "^[a-zA-Z0-9_:.-]+$",
                      desc="As perf list names it; tracepoints in the cluster kind only."),
         "period": integer(1, 1000000000, fmt="int64", desc="One sample per this many events."),
         "frequencyHertz": integer(1, 999,
                                   desc="Samples per second and CPU, the period adapting.")},
        ["name"],
        [("has(self.period) != has(self.frequencyHertz)",
          "an event needs exactly one of period and frequencyHertz")])
    return obj(
        {
            "type": enum("CPU", "OffCPU", "Lock", "Memory", "Event", desc="What is profiled."),
            "frequencyHertz": integer(1, 999, desc="CPU only. Unset: 49."),
            "minBlockMicroseconds": integer(1, 60000000, desc="OffCPU and Lock only. Unset: 1000."),
            "sampleBytes": integer(
                1024, 1073741824, fmt="int64",
                desc="Memory only: one sample per this many bytes. Unset: 524288."),
            "inUse": boolean(False, "Memory only: also what is in use, not freed yet. Costs about"
                             " three times as much. For schedule Continuous."),
            "events": array(event, 8, "map", ["name"], minItems=1, desc="Event only: which ones."),
        },
        ["type"],
        [("!has(self.frequencyHertz) || self.type == 'CPU'",
          "frequencyHertz belongs to type CPU: remove it from this entry", ".frequencyHertz"),
         ("!has(self.minBlockMicroseconds) || self.type in ['OffCPU', 'Lock']",
          "minBlockMicroseconds belongs to types OffCPU and Lock: remove it from this entry",
          ".minBlockMicroseconds"),
         ("!has(self.sampleBytes) || self.type == 'Memory'",
          "sampleBytes belongs to type Memory: remove it from this entry", ".sampleBytes"),
         ("!has(self.inUse) || !self.inUse || self.type == 'Memory'",
          "inUse belongs to type Memory: remove it from this entry", ".inUse"),
         ("has(self.events) == (self.type == 'Event')",
          "events is required for type Event, and belongs to it alone", ".events")])


def general():
    return obj(
        {
            "schedule": enum("Periodic", "Continuous", default="Periodic",
                             desc="In turns, or all the time. Metrics count what a turn sees, and are"
                             " not scaled: a rate over turns shows fewer cores than are used."),
            "periodSeconds": integer(60, 86400, 300, "Periodic: one turn begins every so often."),
            "durationSeconds": integer(5, 3600, 60, "Periodic: how long a turn lasts."),
        },
        rules=[("self.schedule == 'Continuous' || self.durationSeconds <= self.periodSeconds",
                "durationSeconds must not exceed periodSeconds: shorten it, or write schedule:"
                " Continuous", ".durationSeconds")],
        desc="When to profile in mode General. Unset: its defaults.")


def trigger_target():
    return obj(
        {
            "type": enum("Utilization", "Value",
                         desc="Percent of the limit, else of the request, else of the node; or an"
                         " absolute value."),
            "utilizationPercent": integer(1, 10000, desc="For type Utilization."),
            "value": quantity(desc="For type Value: cores, bytes, or seconds, by the metric."),
        },
        ["type"],
        [("has(self.utilizationPercent) == (self.type == 'Utilization')",
          "utilizationPercent is required for type Utilization, and belongs to it alone"),
         ("has(self.value) == (self.type == 'Value')",
          "value is required for type Value, and belongs to it alone"),
         ("!has(self.value) || (type(self.value) == int ? int(self.value) > 0"
          " : quantity(string(self.value)).isGreaterThan(quantity('0')))",
          "value must be above zero: every reading would be on one side of it")],
        desc="The threshold.")


def trigger_rule(cluster):
    metrics = CONTAINER_METRICS + NODE_METRICS if cluster else CONTAINER_METRICS
    properties = {
        "name": name("Names the rule in events and captures."),
        "metric": enum(*metrics, desc="What is measured, on the node itself."),
        "operator": enum("GreaterThan", "LessThan", desc="How it relates to the target."),
        "target": trigger_target(),
        "forSeconds": integer(0, 3600, desc="How long it must hold. Unset: 15."),
    }
    rules = [
        ("has(self.target) == (self.metric != 'OOMKill')",
         "target is required, but for OOMKill, which has no threshold", ".target"),
        ("has(self.operator) == (self.metric != 'OOMKill')",
         "operator is required, but for OOMKill, which has no threshold", ".operator"),
        ("!has(self.target) || self.target.type == 'Utilization'"
         " || !self.metric.endsWith('Pressure')",
         "pressure is given in percent of time: write type: Utilization and utilizationPercent",
         ".target"),
    ]
    if cluster:
        properties["cpus"] = enum(
            "Any", "All",
            desc="NodeCPUUser and NodeCPUSystem: any one CPU, or the whole node. Unset: All.")
        rules.append(("!has(self.cpus) || self.metric in ['NodeCPUUser', 'NodeCPUSystem']",
                      "cpus belongs to NodeCPUUser and NodeCPUSystem: remove it from this rule",
                      ".cpus"))
    return obj(properties, ["name", "metric"], rules)


def trigger(cluster):
    scopes = ("Container", "Pod", "Node") if cluster else ("Container", "Pod")
    capture = obj(
        {"preTriggerSeconds": integer(0, 300, 30, "How much of the time before is kept."),
         "durationSeconds": integer(5, 600, 60, "How long is profiled from the trigger on."),
         "frequencyHertz": integer(1, 999, 97, "CPU samples per second while capturing."),
         "scope": enum(*scopes, default="Pod", desc="Whose samples the capture holds.")},
        default={}, desc="What is captured when the trigger fires.")
    return obj(
        {
            "rules": array(trigger_rule(cluster), 8, "map", ["name"], minItems=1,
                           desc="When it fires."),
            "combine": enum("AnyOf", "AllOf", default="AnyOf", desc="How the rules combine."),
            "armedFrequencyHertz": integer(0, 99, 19, "CPU samples per second while waiting."),
            "capture": capture,
            "cooldownSeconds": integer(0, 86400, 600, "Time after a capture without another."),
            "resetPercent": integer(
                0, 100, 10, "The metric must fall this far below the target before the next one."),
            "maxCapturesPerHour": integer(1, 60, 6, "Bound of captures a node and policy."),
        },
        ["rules"],
        [("self.capture.preTriggerSeconds == 0 || self.armedFrequencyHertz > 0",
          "preTriggerSeconds above 0 needs armedFrequencyHertz above 0: nothing is sampled before"),
         ("self.combine == 'AnyOf' || !self.rules.exists(c, c.metric == 'OOMKill')",
          "OOMKill is an instant, which AllOf cannot combine: write combine: AnyOf, or two"
           " policies")],
        desc="Mode Trigger: on which thresholds, and what is captured then.")


def process_filter(cluster):
    properties = {
        "comm": text(1, 15, desc="The process's name, as in /proc/<pid>/comm."),
        "executable": text(1, 4095, "^/", desc="Path of the executable inside its container."),
        "commandLineRegex": text(
            1, 256, desc="RE2 expression found anywhere in the arguments, joined by spaces."),
    }
    any_of = "has(self.comm) || has(self.executable) || has(self.commandLineRegex)"
    if cluster:
        properties["pid"] = integer(1, 4194304, desc="Process id on the node.")
        any_of += " || has(self.pid)"
    return obj(
        properties,
        rules=[(any_of, "an empty entry would match everything: name what a process must be"),
               ("!has(self.commandLineRegex)"
                " || ''.matches(self.commandLineRegex) in [true, false]",
                "commandLineRegex must be an RE2 expression, which has no backreference and no"
                " lookaround", ".commandLineRegex")])


def process_filters(cluster):
    return obj(
        {
            "processes": array(process_filter(cluster), 16,
                               desc="Any of these; the members of one entry all hold."),
            "threads": array(text(1, 15), 16, "set",
                             desc="Thread names, as in /proc/<pid>/task/<tid>/comm."),
            "cpus": cpu_list('CPU list of the kernel, e.g. "0-3,8".'),
        },
        rules=[("(has(self.processes) && size(self.processes) > 0)"
                " || (has(self.threads) && size(self.threads) > 0) || has(self.cpus)",
                "name at least one of processes, threads and cpus")],
        desc="Required in mode Filter, which is continuous; in the other modes it narrows.")


def export():
    metrics = obj(
        {"mode": enum("TopFunctions", "Disabled", default="TopFunctions",
                      desc="Hotspot series on /metrics, or none."),
         "topFunctions": integer(1, 20, 5, "Functions a container, besides other.")},
        default={}, desc="Export to /metrics.")
    store = obj(
        {"mode": enum("Enabled", "Disabled", default="Enabled",
                      desc="Profiles in the store, or none."),
         "retentionClass": enum("Short", "Standard", "Long", default="Standard",
                                desc="How long they are kept; the platform says how many days."),
         "isolation": enum("Node", "Namespace", default="Node",
                           desc="One object a node, or one a namespace for access by prefix.")},
        default={}, desc="Export to the store. Bucket and credentials are never in a policy.")
    return obj({"metrics": metrics, "objectStore": store}, default={}, desc="Where the results go.")


SPEC_RULES = [
    ("!has(self.general) || self.mode == 'General'",
     "general belongs to mode General: remove it, or write mode: General", ".general"),
    ("has(self.trigger) == (self.mode == 'Trigger')",
     "trigger is required in mode Trigger, and belongs to it alone", ".trigger"),
    ("self.export.metrics.mode != 'Disabled' || self.export.objectStore.mode != 'Disabled'",
     "export at least one of metrics and objectStore: nobody would see the profiles", ".export"),
    ("!has(self.ttlSecondsAfterFinished) || has(self.activeDeadlineSeconds)",
     "ttlSecondsAfterFinished needs activeDeadlineSeconds: without it a policy never finishes",
     ".ttlSecondsAfterFinished"),
    ("has(self.filter) || self.mode != 'Filter'",
     "filter is required in mode Filter: it says what is profiled", ".filter"),
    ("!has(self.nodeSelector) || has(self.nodeSelector.matchLabels)"
     " || has(self.nodeSelector.matchExpressions)",
     "nodeSelector is a label selector: write matchLabels or matchExpressions", ".nodeSelector"),
]


def spec(cluster):
    limits = obj(
        {"cpu": quantity("50m", "What this policy may cost a node.")},
        rules=[("type(self.cpu) == int ? int(self.cpu) > 0"
                " : quantity(string(self.cpu)).isGreaterThan(quantity('0'))",
                "cpu must be above zero: to stop the policy write suspend: true", ".cpu")],
        desc="Bounds of the overhead.")
    return obj(
        {
            "mode": enum("General", "Trigger", "Filter",
                         desc="General: by time. Trigger: on a threshold. Filter: only the named"
                         " processes, threads or CPUs."),
            "targets": targets(cluster),
            "nodeSelector": selector("Nodes by label. Unset: all."),
            "profiles": array(profile(), 5, "map", ["type"], minItems=1, desc="Unset: type CPU."),
            "stacks": enum("UserAndKernel", "User", "Kernel", default="UserAndKernel",
                           desc="Which frames are kept."),
            "general": general(),
            "trigger": trigger(cluster),
            "filter": process_filters(cluster),
            "limits": limits,
            "export": export(),
            "suspend": boolean(False, "Stops the policy without deleting it."),
            "priority": integer(
                0, 1000, 0, "Where policies overlap and contradict, the higher one counts."),
            "activeDeadlineSeconds": integer(
                60, 2592000, fmt="int64",
                desc="The policy ends this long after it was created. Unset: never."),
            "ttlSecondsAfterFinished": integer(
                0, 604800, desc="An ended policy is deleted after this time. Unset: never."),
        },
        ["mode", "targets"], SPEC_RULES, desc="What is wanted.")
