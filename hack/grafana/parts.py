# SPDX-License-Identifier: Apache-2.0
"""Parts of Grafana's dashboards, by its JSON model; schema 38 is read by Grafana 10 and later."""

import itertools

SOURCE = {"type": "prometheus", "uid": "${datasource}"}
WIDTH = 24
PERCENT = "percentunit"
CORES = "suffix: cores"
RATE = "$__rate_interval"
RANGE = "$__range"
END = " @ end()"
# Prometheus's own names of a target, and a node's where scraping adds it.
NODE = "node, instance"
NODE_NAME = "{{node}} {{instance}}"
KERNEL = 'binary="[kernel.kallsyms]"'
NAMED = 'function!="other"'
# Before Prometheus sums up it holds what a selector finds at all points of a curve, and it refuses what is more than 50 million
# samples (--query.max-samples). A curve of n points has up to 2 * n + 1, as Grafana rounds steps, over as many days as n:
# at 5,000 nodes 161 points of 60 series each, or 61 of five functions of each of 30 containers.
POINTS = 80
FEW_POINTS = 30
HIGHEST = "As many agents as Rows says: those with most over the range."


def rate(family, matchers, over=RATE, when=""):
    """`when`: an offset, for the time before."""
    return f"rate({family}{{{matchers}}}[{over}]{when})"


def increase(family, matchers, over=RATE):
    return f"increase({family}{{{matchers}}}[{over}])"


def by(labels, what):
    return f"sum by ({labels}) ({what})"


def total(what):
    return f"sum({what})"


def up(matchers, when="", over=""):
    """Whether Prometheus reaches each agent, though never yet or for days: of targets but those that were reached within
    the day and are none, for a job may have others too. `over`: a range, of which it is the part."""
    samples = f"max_over_time(firetower_samples_total{{{matchers}}}[1d]{when})"
    others = f"max_over_time(up{{{matchers}}}[1d]{when}) == 1 unless on (job, instance) {samples}"
    own = f"avg_over_time(up{{{matchers}}}[{over}]{when})" if over else f"up{{{matchers}}}{when}"
    return f"{own} unless on (job, instance) ({others})"


def or_zero(what):
    """0 where there is no series: of what happens rarely, or not to everybody."""
    return f"{what} or on() vector(0)"


def best(labels, what):
    """Returns the highest time series of the range: the same ones at each of its points."""
    return f"topk($top, {by(labels, what)})"


def highest(curve, over_range, choose="topk"):
    """Returns some of the curves that have one line for each agent, the same ones at each of
    their points. `over_range`: the value that they are chosen by, one for each agent, at END."""
    return f"{curve} and on ({NODE}) {choose}($top, {over_range})"


def peak(family, matchers, over=RATE, when=""):
    """The highest of a gauge since the point before: a curve has fewer points than there were scrapes."""
    return f"max_over_time({family}{{{matchers}}}[{over}]{when})"


def at_most(family, matchers):
    """Returns a gauge's peak over the range, for `highest`."""
    return peak(family, matchers, RANGE, END)


def query(expr, legend="", step=RATE):
    """`step` RANGE: one value, of the end of the range that is shown, and no curve."""
    return {
        "expr": expr,
        "legendFormat": legend or "__auto",
        "instant": step == RANGE,
        "range": step != RANGE,
    }


def link(title, url):
    return {"title": title, "url": url, "targetBlank": True}


def _defaults(unit, links, **more):
    return {
        "unit": unit,
        "links": links,
        "color": {"mode": "palette-classic"},
        "mappings": [],
        **more,
    }


def _panel(kind, title, description, queries, links=(), **more):
    targets = [
        {"refId": chr(ord("A") + at), "datasource": SOURCE, **one} for at, one in enumerate(queries)
    ]
    return {
        "type": kind,
        "title": title,
        "description": description,
        "datasource": SOURCE,
        "targets": targets,
        "links": list(links),
        **more,
    }


def curve(
    title,
    description,
    *queries,
    unit="short",
    stacked=False,
    most=None,
    links=(),
    width=12,
    height=8,
    points=POINTS,
):
    """Time series. `most`: of the axis, 1 for parts of a whole."""
    drawn = {
        "drawStyle": "line",
        "lineWidth": 1,
        "fillOpacity": 40 if stacked else 8,
        "showPoints": "never",
        "stacking": {"mode": "normal" if stacked else "none", "group": "A"},
    }
    more = {"max": most} if most is not None else {}
    return _panel(
        "timeseries",
        title,
        description,
        queries,
        size=(width, height),
        maxDataPoints=points,
        fieldConfig={
            "defaults": _defaults(unit, list(links), custom=drawn, min=0, **more),
            "overrides": [],
        },
        options={
            "legend": {"displayMode": "table", "placement": "bottom", "calcs": ["mean", "max"]},
            "tooltip": {"mode": "multi", "sort": "desc"},
        },
    )


def _thresholds(warn, bad):
    steps = [{"color": "green", "value": None}]
    steps += [
        {"color": color, "value": at}
        for color, at in (("orange", warn), ("red", bad))
        if at is not None
    ]
    return {"mode": "absolute", "steps": steps}


def number(
    title,
    description,
    expr,
    unit="short",
    warn=None,
    bad=None,
    links=(),
    width=4,
    text="",
):
    """One figure, of now or of the range; `text`: a label to show in its place."""
    mode = {"textMode": "name"} if text else {"textMode": "auto"}
    return _panel(
        "stat",
        title,
        description,
        [query(expr, text, RANGE)],
        size=(width, 4),
        fieldConfig={
            "defaults": {
                **_defaults(unit, list(links), thresholds=_thresholds(warn, bad)),
                "color": {"mode": "thresholds"},
            },
            "overrides": [],
        },
        options={
            "reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False},
            "colorMode": "value",
            "graphMode": "none",
            **mode,
        },
    )


def bars(title, description, expr, legend, unit=PERCENT, links=(), width=12, height=10):
    return _panel(
        "bargauge",
        title,
        description,
        [query(expr, legend, RANGE)],
        size=(width, height),
        fieldConfig={"defaults": _defaults(unit, list(links), min=0), "overrides": []},
        options={
            "orientation": "horizontal",
            "displayMode": "basic",
            "showUnfilled": True,
            "reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False},
        },
    )


def states(title, description, expr, legend, good, bad, links=(), width=12, height=8):
    """Panel of states over time, each 1 or 0; `good`, `bad`: (value, text)."""
    mapped = {
        str(value): {"text": text, "color": color, "index": index}
        for index, ((value, text), color) in enumerate(zip((good, bad), ("green", "red")))
    }
    return _panel(
        "state-timeline",
        title,
        description,
        [query(expr, legend)],
        size=(width, height),
        maxDataPoints=POINTS,
        fieldConfig={
            "defaults": {
                **_defaults("short", list(links)),
                "custom": {"fillOpacity": 70},
                "mappings": [{"type": "value", "options": mapped}],
            },
            "overrides": [],
        },
        options={"mergeValues": True, "showValue": "never", "rowHeight": 0.8},
    )


def table(title, description, columns, links=(), width=24, height=10):
    """`columns`: (name, unit, expression), of one set of labels; sorted by the first."""
    names = {f"Value #{chr(ord('A') + at)}": name for at, (name, _, _) in enumerate(columns)}
    overrides = [
        {
            "matcher": {"id": "byName", "options": name},
            "properties": [{"id": "unit", "value": unit}],
        }
        for name, unit, _ in columns
    ]
    if len(columns) == 1:
        names["Value"] = columns[0][0]
    return _panel(
        "table",
        title,
        description,
        [{**query(expr, "", RANGE), "format": "table"} for _, _, expr in columns],
        size=(width, height),
        fieldConfig={"defaults": {"links": list(links), "mappings": []}, "overrides": overrides},
        options={
            "showHeader": True,
            "cellHeight": "sm",
            "sortBy": [{"displayName": columns[0][0], "desc": True}],
        },
        transformations=[
            {"id": "merge", "options": {}},
            {"id": "organize", "options": {"excludeByName": {"Time": True}, "renameByName": names}},
        ],
    )


def text(title, markdown, width=24, height=3):
    return {
        "type": "text",
        "title": title,
        "size": (width, height),
        "links": [],
        "options": {"mode": "markdown", "content": markdown},
    }


def _row(title):
    return {"type": "row", "title": title, "collapsed": False, "panels": [], "size": (WIDTH, 1)}


def _placed(rows):
    """Panels from left to right, row by row."""
    panels, top = [], 0
    for title, members in rows:
        left = high = 0
        for panel in [_row(title), *members]:
            width, height = panel.pop("size")
            if left + width > WIDTH:
                top, left, high = top + high, 0, 0
            panel["gridPos"] = {"x": left, "y": top, "w": width, "h": height}
            panels.append(panel)
            left, high = left + width, max(high, height)
        top += high
    return [{"id": at, **panel} for at, panel in zip(itertools.count(1), panels)]


def variable(name, label, values, several=True, everything=".*"):
    """A choice of what the query `values` gives. `everything`: what All is, where each value by name would be too many;
    jobs have none, so that All is never another program's."""
    return {
        "type": "query",
        "name": name,
        "label": label,
        "datasource": SOURCE,
        "refresh": 2,
        "sort": 1,
        "query": {"query": values, "refId": name},
        "definition": values,
        "multi": several,
        "includeAll": several,
        **({"allValue": everything} if several and everything else {}),
        "current": {"text": "All", "value": "$__all"} if several else {},
    }


def _common():
    """Yields the variables of every dashboard: the sources of figures and profiles, and the number of rows of a list."""
    yield {
        "type": "datasource",
        "name": "datasource",
        "label": "Data source",
        "query": "prometheus",
        "current": {},
    }
    yield variable(
        "job", "Agents' job", "label_values(firetower_samples_total, job)", everything=None
    )
    yield {
        "type": "custom",
        "name": "top",
        "label": "Rows",
        "query": "5,10,20,50",
        "current": {"text": "10", "value": "10"},
        "options": [
            {"text": one, "value": one, "selected": one == "10"} for one in ("5", "10", "20", "50")
        ],
    }


def _address():
    return {
        "type": "textbox",
        "name": "firetower",
        "label": "Firetower",
        "query": "http://127.0.0.1:7080",
        "current": {"text": "http://127.0.0.1:7080", "value": "http://127.0.0.1:7080"},
        "options": [
            {"text": "http://127.0.0.1:7080", "value": "http://127.0.0.1:7080", "selected": True}
        ],
    }


def _slower(labels):
    """Marks when the hub told that a roll-out made a function slower."""
    return {
        "name": "Slower since a roll-out",
        "datasource": SOURCE,
        "enable": True,
        "iconColor": "orange",
        "expr": f"firetower_rollout_slower_function_percent{labels}",
        "step": "60s",
        "titleFormat": "{{namespace}}/{{workload}}: {{function}} is slower",
        "textFormat": "since revision {{revision}}",
        "tagKeys": "namespace,workload,revision",
    }


def made(uid, title, description, variables, rows, of_rollouts=""):
    others = {
        "type": "dashboards",
        "title": "Firetower",
        "tags": ["firetower"],
        "asDropdown": True,
        "keepTime": True,
        "includeVars": False,
        "targetBlank": False,
        "url": "",
        "icon": "external link",
        "tooltip": "",
    }
    return {
        "uid": uid,
        "title": title,
        "description": description,
        "tags": ["firetower"],
        "schemaVersion": 38,
        "version": 1,
        "editable": True,
        "graphTooltip": 1,
        "refresh": "1m",
        "timezone": "browser",
        "time": {"from": "now-1h", "to": "now"},
        "links": [others],
        "templating": {"list": [*_common(), *variables, _address()]},
        "annotations": {"list": [_slower(of_rollouts)]},
        "panels": _placed(rows),
    }
