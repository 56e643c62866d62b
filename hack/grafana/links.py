# SPDX-License-Identifier: Apache-2.0
"""Addresses that panels lead to: the hub's page and answers, and the other dashboards, for the range that is shown.

What Grafana fills in as it is may end an address or a value early (`#`, `&`, `+`), so that labels and cells come
percent-encoded. Chosen variables of several values cannot: names of namespaces, pods and jobs need it not.
"""

from parts import link

RANGE = "from=${__from}&to=${__to}"
VARIABLES = "${datasource:queryparam}&${job:queryparam}&${firetower:queryparam}"


def _selector(equals="%3D", also="", **labels):
    """{name=`value`}, escaped but for what Grafana fills in. Between backticks `"` and a backslash are themselves.
    `also`: one more matcher, escaped."""
    inside = [f"{name}{equals}%60{value}%60" for name, value in labels.items()]
    return "%7B" + "%2C".join([*inside, *([also] if also else [])]) + "%7D"


def _label(name):
    return "${__field.labels." + name + ":percentencode}"


def _cell(name):
    return "${__data.fields." + name + ":percentencode}"


# Parameter that finds a function by its name: the page makes a regular expression of it.
_FIND = "&find=" + _cell("function")


def _flame(selector, search="", kind="cpu"):
    """`kind`: the type of the profiles."""
    return link("Flame graph", f"${{firetower}}/explore?type={kind}&q={selector}&{RANGE}{search}")


def flame(of=_label, **fixed):
    """Links to the flame graph of a pod, from a series' labels or a table's cells, or of a namespace alone."""
    return _flame(_selector(**(fixed or {name: of(name) for name in ("namespace", "pod")})))


def top(selector):
    return link(
        "Hottest functions (JSON)", f"${{firetower}}/api/v1/top?by=functions&q={selector}&{RANGE}"
    )


def series(title, by, selector):
    """CPU time by labels, of which there may be none: an empty list, where a flame graph would be an error."""
    return link(f"{title} (JSON)", f"${{firetower}}/api/v1/series?by={by}&q={selector}&{RANGE}")


def stored(title, selector):
    """Profile by profile, of all types, as the store has them."""
    address = f"${{firetower}}/api/v1/profiles?stored=true&q={selector}&{RANGE}"
    return link(f"{title} (JSON)", address)


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


def container(kind="cpu"):
    """From a series or its label `container`, on a pod's dashboard."""
    selector = _selector(namespace="${namespace}", pod="${pod}", container=_label("container"))
    return _flame(selector, kind=kind)


def cell_container(kind="cpu"):
    """From a row of functions, which is then searched for."""
    selector = _selector(namespace="${namespace}", pod="${pod}", container=_cell("container"))
    return _flame(selector, _FIND, kind)


def of_its_pod(*by):
    """Links to the CPU time of the pod, split by labels, and to its flame graph."""
    selector = _selector(namespace="${namespace}", pod="${pod}")
    return [series("CPU time by " + ", ".join(by), ",".join(by), selector), _flame(selector)]


def of_its_namespace():
    selector = _selector(namespace="${namespace}")
    return [series("CPU time of the namespace's pods", "pod", selector), _flame(selector)]


def led(members, usual, special=None):
    """A row's panels with links at their titles: those of `special` by title, else `usual`. They want no series that was
    clicked, so that they are there where a panel has none, too."""
    special = dict(special or {})
    for panel in members:
        panel["links"] += special.pop(panel["title"], usual)
    if special:
        raise ValueError(f"links of {sorted(special)}: the row has no such panels; name one of it")
    return members


POD_OF_SERIES = [flame(), pod()]
POD_OF_ROW = [flame(_cell), pod(_cell)]
AGENTS = link("Agent health", f"/d/firetower-agents?{VARIABLES}&{RANGE}")
NAMESPACE = [flame(namespace=_label("namespace"))]
# Selector of the chosen namespaces, whatever their number: one as it is, several as alternatives, all as `.*`.
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
_CAPTURED = "capture!%3D%60%60"
CAPTURES = stored("Captures", _selector("%3D~", _CAPTURED, namespace="${namespace:regex}"))
CAPTURES_OF_NAMESPACE = stored("Captures", _selector(also=_CAPTURED, namespace="${namespace}"))
CHOSEN_BY_NODE = series("CPU time by node", "node", _CHOSEN)
CHOSEN_BY_POD = series("CPU time by pod", "namespace,pod", _CHOSEN)
# How frames without a name read, and a sample whose stack did not come.
_UNNAMED, _STACK_LOST = "&find=%2B0x", "&find=stack%20lost"
CHOSEN_UNNAMED = _flame(_CHOSEN, _UNNAMED)
CHOSEN_LOST = _flame(_CHOSEN, _STACK_LOST)
# Selector of the chosen nodes. Series of agents have no label `node` where scraping adds none, and then a link by a series'
# label would be broken; the variable is All then. With `regex` a name's points had backslashes, which addresses lose.
_NODES = {"equals": "%3D~", "node": "${node:pipe}"}
_OF_NODES = _selector(**_NODES)
NODES_SEEN = series("CPU time in profiles by node", "node", _OF_NODES)
NODES_BY_POD = series("CPU time by pod", "node,namespace,pod", _OF_NODES)
NODES_STORED = stored("Stored profiles", _OF_NODES)
NODES_CAPTURES = stored("Captures", _selector(also=_CAPTURED, **_NODES))
NODES_NAMESPACES = series("CPU time by namespace", "node,namespace", _OF_NODES)
NODES_FLAME = _flame(_OF_NODES)
NODES_UNNAMED = _flame(_OF_NODES, _UNNAMED)
NODES_LOST = _flame(_OF_NODES, _STACK_LOST)
# Its samples have the label `cut`, which the page does not show.
NODES_PPROF = profile(_OF_NODES)
# Link to the hub's checks of itself as of now: it takes no range.
DOCTOR = link("Doctor", "${firetower}/api/v1/doctor")
