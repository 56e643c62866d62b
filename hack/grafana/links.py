# SPDX-License-Identifier: Apache-2.0
"""Addresses that panels lead to: the hub's page and answers, and the other dashboards, for the range that is shown.

What Grafana fills in as it is may end an address or a value early (`#`, `&`, `+`), so that labels and cells come
percent-encoded. Chosen variables of several values cannot: names of namespaces, pods and jobs need it not.
"""

from parts import link

RANGE = "from=${__from}&to=${__to}"
VARIABLES = "${datasource:queryparam}&${job:queryparam}&${firetower:queryparam}"


def _selector(equals="%3D", **labels):
    """{name=`value`}, escaped but for what Grafana fills in. Between backticks `"` and a backslash are themselves."""
    inside = "%2C".join(f"{name}{equals}%60{value}%60" for name, value in labels.items())
    return f"%7B{inside}%7D"


def _label(name):
    return "${__field.labels." + name + ":percentencode}"


def _cell(name):
    return "${__data.fields." + name + ":percentencode}"


# Of a function as it is called: the page makes a regular expression of it.
_FIND = "&find=" + _cell("function")


def _flame(selector, search=""):
    return link("Flame graph", f"${{firetower}}/?type=cpu&q={selector}&{RANGE}{search}")


def flame(of=_label, **fixed):
    """Of a pod, from a series' labels or a table's cells, or a namespace alone."""
    return _flame(_selector(**(fixed or {name: of(name) for name in ("namespace", "pod")})))


def top(selector):
    return link(
        "Hottest functions (JSON)", f"${{firetower}}/api/v1/top?by=functions&q={selector}&{RANGE}"
    )


def profile(selector):
    return link("pprof", f"${{firetower}}/api/v1/profile?q={selector}&{RANGE}")


def diff(selector):
    return link(
        "Difference to the time before (pprof)",
        f"${{firetower}}/api/v1/diff?q={selector}&{RANGE}&base-to=${{__from}}&normalize=true",
    )


def pod(of=_label):
    return link(
        "Pod",
        f"/d/firetower-pod?{VARIABLES}&var-namespace={of('namespace')}&var-pod={of('pod')}&{RANGE}",
    )


def of_pod():
    """All of it that a pod's dashboard leads to."""
    selector = _selector(namespace="${namespace}", pod="${pod}")
    return [_flame(selector), profile(selector), diff(selector), top(selector)]


def container():
    """From a series or its label `container`, on a pod's dashboard."""
    return _flame(_selector(namespace="${namespace}", pod="${pod}", container=_label("container")))


def cell_container():
    """From a row of functions, which is then searched for."""
    selector = _selector(namespace="${namespace}", pod="${pod}", container=_cell("container"))
    return _flame(selector, _FIND)


POD_OF_SERIES = [flame(), pod()]
POD_OF_ROW = [flame(_cell), pod(_cell)]
AGENTS = link("Agent health", f"/d/firetower-agents?{VARIABLES}&{RANGE}")
NAMESPACE = [flame(namespace=_label("namespace"))]
# Of the namespaces that are chosen, whatever their number: one as it is, several as alternatives, all as `.*`.
_CHOSEN = _selector("%3D~", namespace="${namespace:regex}")
CHOSEN = [_flame(_CHOSEN), top(_CHOSEN)]
CHOSEN_FUNCTION = [_flame(_CHOSEN, _FIND), top(_CHOSEN)]
POD_FUNCTION_OF_ROW = [
    _flame(_selector(namespace=_cell("namespace"), pod=_cell("pod")), _FIND),
    pod(_cell),
]
AGENT_OF_SERIES = link(
    "Agent health",
    f"/d/firetower-agents?{VARIABLES}&var-instance={_label('instance')}&{RANGE}",
)
# The node is no label that agents' own figures and profiles share, so that these lead to the agents' answers about themselves.
DOCTOR = link("Doctor", "${firetower}/api/v1/doctor")
