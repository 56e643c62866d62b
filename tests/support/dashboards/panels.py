# SPDX-License-Identifier: Apache-2.0
"""The dashboards as Grafana would show them: their panels, queries and links, with variables filled in."""

import dataclasses
import json
import pathlib
import re
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parents[3]
CHART = ROOT / "charts/firetower"
_VARIABLE = re.compile(r"\$\{([\w.]+)(?::(\w+))?\}|\$(\w+)")
# Names in queries that an agent without an API server cannot answer.
_OF_CLUSTERS = re.compile(r"\$hub_job|firetower_(?:kube|workload)_")


@dataclasses.dataclass(frozen=True)
class Query:
    dashboard: str
    panel: str
    letter: str
    expr: str
    instant: bool
    legend: str

    def __str__(self):
        return f"{self.dashboard} / {self.panel} / {self.letter}"

    @property
    def needs_cluster(self):
        """An API server: of the hub, and of what agents ask that server."""
        return _OF_CLUSTERS.search(self.expr) is not None


@dataclasses.dataclass(frozen=True)
class Link:
    dashboard: str
    panel: str
    title: str
    url: str

    def __str__(self):
        return f"{self.dashboard} / {self.panel} / link {self.title!r}"


def dashboards():
    """File name to what it holds."""
    return {
        path.name: json.loads(path.read_text(encoding="utf-8"))
        for path in sorted(CHART.glob("dashboards/*.json"))
    }


def panels(dashboard):
    return [one for one in dashboard["panels"] if one["type"] != "row"]


def queries():
    return [
        Query(
            dashboard["title"],
            panel["title"],
            target["refId"],
            target["expr"],
            target["instant"],
            target["legendFormat"],
        )
        for dashboard in dashboards().values()
        for panel in panels(dashboard)
        for target in panel.get("targets", [])
    ]


def query(dashboard, panel, letter="A"):
    wanted = (dashboard, panel, letter)
    return next(one for one in queries() if (one.dashboard, one.panel, one.letter) == wanted)


def links():
    found = []
    for dashboard in dashboards().values():
        for panel in panels(dashboard):
            given = panel["links"] + panel.get("fieldConfig", {}).get("defaults", {}).get(
                "links", []
            )
            content = panel.get("options", {}).get("content", "")
            given += [
                {"title": title, "url": url}
                for title, url in re.findall(r"\[([^]]*)\]\(([^)\s]*)\)", content)
            ]
            found += [
                Link(dashboard["title"], panel["title"], one["title"], one["url"]) for one in given
            ]
    return found


def variables_in(text):
    return {match.group(1) or match.group(3) for match in _VARIABLE.finditer(text)}


def filled(text, values):
    """`values`: of each variable. One that is not there is a KeyError: Grafana would leave it as it stands."""

    def value(match):
        name, form = match.group(1) or match.group(3), match.group(2)
        # A variable's value is one that stands in a query already; a cell's is text. Without a form Grafana escapes
        # what can stand nowhere in an address (encodeURI), and not what has a meaning there.
        own = values[name]
        if form == "percentencode":
            return urllib.parse.quote(own, safe="-_.~")
        if form == "regex" and name.startswith("__"):
            return re.sub(r"([\\^$*+?.()|\[\]{}/])", r"\\\1", own)
        if not form and name.startswith("__"):
            return urllib.parse.quote(own, safe="-_.~!*'();/?:@&=+$,#")
        return f"var-{name}={own}" if form == "queryparam" else own

    return _VARIABLE.sub(value, text)
