#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""dashboards_test.py: what can be said of the dashboards without data: each is as hack/grafana writes it, asks for metrics
that there are, by expressions that Prometheus reads, and links to what answers. e2e.dashboards has the data.
"""

import collections
import pathlib
import re
import subprocess
import sys
import tempfile
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tests/support" / name) for name in ("dashboards", "real")]
sys.dont_write_bytecode = True

import addresses
import evidence
import families
import panels
from case import Case
from promtool import need_promtool, test

# Grafana's own, with what they are in a query.
BUILT_IN = {
    "__rate_interval": "5m",
    "__range": "1h",
    "__from": "1782899100000",
    "__to": "1782900000000",
}
HUB = "http://hub"


def variables_of(dashboard):
    return {one["name"] for one in dashboard["templating"]["list"]}


def values(dashboard):
    """Returns, for each variable, a value that is valid in a query and in an address."""
    return {**BUILT_IN, **{name: "1" for name in variables_of(dashboard)}, "firetower": HUB}


def shows_cores_in_profiles(panel):
    """Tells whether a panel shows the cores of profiled programs, not the cost of the agents."""
    return "suffix: cores" in str(panel["fieldConfig"]) and any(
        re.search("firetower_(hotspot_)?cpu_seconds_total", target["expr"])
        for target in panel["targets"]
    )


def judge_form(case, name, dashboard):
    shown = panels.panels(dashboard)
    titles = collections.Counter(panel["title"] for panel in shown)
    case.check(
        f"{name}: titles stand once",
        max(titles.values()) == 1,
        [one for one, count in titles.items() if count > 1],
    )
    ids = collections.Counter(panel["id"] for panel in dashboard["panels"])
    case.check(f"{name}: ids stand once", max(ids.values()) == 1)
    taken = collections.Counter()
    for panel in dashboard["panels"]:
        at = panel["gridPos"]
        taken.update(
            (x, y)
            for x in range(at["x"], at["x"] + at["w"])
            for y in range(at["y"], at["y"] + at["h"])
        )
    case.check(
        f"{name}: no panel covers another, or leaves the page",
        max(taken.values()) == 1 and max(x for x, _ in taken) < 24,
    )
    asking = [panel for panel in shown if panel.get("targets")]
    lacks = [panel["title"] for panel in asking if not panel["description"]]
    case.check(f"{name}: each panel says what it shows", not lacks, lacks)
    lacks = [
        panel["title"]
        for panel in asking
        if panel["datasource"]["uid"] != "${datasource}"
        or any(target["datasource"]["uid"] != "${datasource}" for target in panel["targets"])
    ]
    case.check(f"{name}: each asks the data source that is chosen", not lacks, lacks)
    lacks = [
        panel["title"]
        for panel in asking
        if "unit" not in panel["fieldConfig"]["defaults"]
        and not all(
            any(one["id"] == "unit" for one in column["properties"])
            for column in panel["fieldConfig"]["overrides"]
        )
    ]
    case.check(f"{name}: each has a unit", not lacks, lacks)
    lacks = [
        panel["title"]
        for panel in asking
        for target in panel["targets"]
        if 'job=~"$' not in target["expr"]
    ]
    case.check(f"{name}: each asks for chosen jobs alone", not lacks, lacks)
    seen = [panel for panel in asking if shows_cores_in_profiles(panel)]
    lacks = [panel["title"] for panel in seen if "Periodic" not in panel["description"]]
    case.check(f"{name}: cores in profiles are told from cores that were used", not lacks, lacks)
    case.check(f"{name}: has such panels, but for agents'", bool(seen) == (name != "agents.json"))


def judge_queries(case, name, dashboard):
    asked = [query for query in panels.queries() if query.dashboard == dashboard["title"]]
    defined = variables_of(dashboard) | BUILT_IN.keys()
    lost = [
        f"{query}: {panels.variables_in(query.expr) - defined}"
        for query in asked
        if panels.variables_in(query.expr) - defined
    ]
    case.check(f"{name}: every variable is defined", not lost, lost)
    wrong = [f"{query}: {what}" for query in asked for what in families.unknown(query.expr)]
    case.check(f"{name}: every metric and label is of the references", not wrong, wrong)
    wrong = [
        str(query) for query in asked if re.search(r"\b(vector|absent)", evidence.bare(query.expr))
    ]
    case.check(f"{name}: the 0 that queries show is told from their data", not wrong, wrong)
    # A query that selects lines is an instant figure, also within a curve.
    wrong = [
        str(query)
        for query in asked
        if (own := query.expr.replace("[$__range] @ end()", ""))
        and query.instant == ("$__rate_interval" in own)
        and "$__r" in own
    ]
    case.check(f"{name}: curves are of $__rate_interval, figures of $__range", not wrong, wrong)


def judge_lines(case, name, dashboard):
    """A line for each agent would be 5,000 of them: there are as many as Rows says, the same ones at each point."""
    lines = [
        (panel, target["expr"])
        for panel in panels.panels(dashboard)
        for target in panel.get("targets", [])
        if target["range"] and "{{instance}}" in target["legendFormat"] and "$pod" not in target["expr"]
    ]
    case.at_least(f"{name}: curves with a line for each agent", len(lines), {"pod.json": 0, "cluster.json": 2}.get(name, 16))
    chosen = re.compile(r" and on \(node, instance\) (?:topk|bottomk)\(\$top, .*@ end\(\)")
    wrong = [panel["title"] for panel, expr in lines if not chosen.search(expr)]
    case.check(f"{name}: they have no more lines than Rows says", not wrong, wrong)
    wrong = [panel["title"] for panel, _ in lines if "Rows" not in panel["description"]]
    case.check(f"{name}: they say which these are", not wrong, wrong)


def judge_syntax(case):
    """All at once: promtool reads each as a recording rule of its own."""
    lines = ["groups:", "- name: panels", "  rules:"]
    boards = {one["title"]: one for one in panels.dashboards().values()}
    for at, query in enumerate(panels.queries()):
        lines += [
            f"  - record: panel_{at}",
            f"    # {query}",
            "    expr: |",
            f"      {panels.filled(query.expr, values(boards[query.dashboard]))}",
        ]
    with tempfile.NamedTemporaryFile("w", suffix=".yaml", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
        file.flush()
        done = subprocess.run(
            ["promtool", "check", "rules", file.name],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    case.check(
        "Prometheus reads every query",
        done.returncode == 0,
        (done.stdout + done.stderr)[-2000:] if done.returncode else "",
    )


def judge_targets(case, yaml):
    """A job may have targets that are no agents, a hub say: those are neither up nor down, once they were reached."""
    series = {
        'up{job="1", instance="1"}': "1x1620",
        'firetower_samples_total{job="1", instance="1"}': "0+97x1620",
        # Agents that are down for an hour, for 25 hours, and since ever.
        'up{job="1", instance="12"}': "1x1560 0x60",
        'firetower_samples_total{job="1", instance="12"}': "0+97x1560 stale",
        'up{job="1", instance="13"}': "1x120 0x1500",
        'firetower_samples_total{job="1", instance="13"}': "0+97x120 stale",
        'up{job="1", instance="14"}': "0x1620",
        # No agents: one is up, the other is not any more.
        'up{job="1", instance="15"}': "1x1620",
        'firetower_build_info{job="1", instance="15"}': "1x1620",
        'up{job="1", instance="16"}': "1x1560 0x60",
        'up{job="other", instance="1"}': "1x1620",
        'up{job="other", instance="14"}': "0x1620",
    }
    agents = [
        {"labels": f'{{instance="{name}"}}', "value": value}
        for name, value in (("1", 1), ("12", 0), ("13", 0), ("14", 0))
    ]
    wanted = {
        "Agents up": [{"labels": "{}", "value": 1}],
        "Agents down": [{"labels": "{}", "value": 3}],
        "Agents": agents,
    }
    asked = [query for query in panels.queries() if re.search(r"\bup\{", query.expr)]
    case.check(
        "what asks for up is known here", {query.panel for query in asked} == wanted.keys(), asked
    )
    boards = {one["title"]: one for one in panels.dashboards().values()}
    chosen = {
        query: {**values(boards[query.dashboard]), "instance": "1.*", "node": ".*", "top": "10"}
        for query in asked
    }
    cases = {
        "evaluation_interval": "1m",
        "tests": [
            {
                "interval": "1m",
                "input_series": [{"series": one, "values": told} for one, told in series.items()],
                "promql_expr_test": [
                    {
                        "expr": panels.filled(query.expr, chosen[query]),
                        "eval_time": "27h",
                        "exp_samples": wanted[query.panel],
                    }
                    for query in asked
                ],
            }
        ],
    }
    with tempfile.NamedTemporaryFile("w", suffix=".yaml", encoding="utf-8") as file:
        file.write(yaml.safe_dump(cases))
        file.flush()
        done = test(file.name)
    case.check(
        "agents count, however long they are down, and what is none of a shared job does not",
        done.returncode == 0,
        (done.stdout + done.stderr)[-2000:] if done.returncode else "",
    )


def judge_links(case):
    boards = {one["title"]: one for one in panels.dashboards().values()}
    uids = {one["uid"]: one for one in boards.values()}
    wrong, led = [], set()
    for link in panels.links():
        own = values(boards[link.dashboard])
        fields = {
            name: "x"
            for name in panels.variables_in(link.url)
            if name.startswith(("__field.labels.", "__data.fields."))
        }
        try:
            url = panels.filled(link.url, {**own, **fields})
        except KeyError as error:
            wrong.append(f"{link}: no variable {error}")
            continue
        if url.startswith("/d/"):
            target = uids.get(url[3:].split("?")[0])
            known = target and {f"var-{name}" for name in variables_of(target)} | {"from", "to"}
            given = {one.split("=")[0] for one in url.partition("?")[2].split("&")}
            if not target or given - known:
                wrong.append(f"{link}: no such dashboard, or it has no {given - (known or set())}")
        elif not url.startswith(HUB):
            wrong.append(f"{link}: leads neither to the hub nor to a dashboard")
        elif addresses.wrong(url.removeprefix(HUB)):
            wrong.append(f"{link}: {addresses.wrong(url.removeprefix(HUB))}")
        if "/doctor" not in url and ("${__from}" not in link.url or "${__to}" not in link.url):
            wrong.append(f"{link}: not of the range that is shown")
        led.add((link.dashboard, url.removeprefix(HUB).split("?")[0]))
    case.check("every link leads to what there is, for the range that is shown", not wrong, wrong)
    case.check(
        "the cluster's and the pod's dashboards lead to flame graphs",
        {("Firetower / Cluster", "/explore"), ("Firetower / Pod", "/explore")} <= led,
    )


def asked_of_hub(link, own):
    """Path and query of a link to the server's page or API, its labels filled in; None where it leads elsewhere."""
    if not link.url.startswith("${firetower}/"):
        return None
    fields = {
        name: "x"
        for name in panels.variables_in(link.url)
        if name.startswith(("__field.labels.", "__data.fields."))
    }
    return panels.filled(link.url, {**own, **fields}).removeprefix(HUB)


def judge_every_panel(case):
    """Each that shows figures leads on to the server: to what it answers of the range that is shown."""
    shown = [
        (board, panel)
        for board in panels.dashboards().values()
        for panel in panels.panels(board)
        if panel["type"] != "text"
    ]
    case.at_least("panels of figures", len(shown), 90)
    case.check("each asks for some", all(panel["targets"] for _, panel in shown))
    found = panels.links()
    ends = []
    for board, panel in shown:
        own = values(board)
        of = [one for one in found if (one.dashboard, one.panel) == (board["title"], panel["title"])]
        asked = [address for one in of if (address := asked_of_hub(one, own))]
        ranges = [
            urllib.parse.parse_qs(urllib.parse.urlsplit(address).query)
            for address in asked
            if addresses.wrong(address) is None
        ]
        wanted = ([own["__from"]], [own["__to"]])
        if wanted not in [(one.get("from"), one.get("to")) for one in ranges]:
            ends.append(f"{board['title']} / {panel['title']}: {asked}")
    case.check("each leads to what the server answers of the range", not ends, ends)


def judge_nodes(case):
    """An agent's figures have no label of the node where scraping adds none: links go by the variable, and All is any."""
    board = panels.dashboards()["agents.json"]
    every = [one for one in board["templating"]["list"] if one["name"] == "node"]
    case.check(
        "All nodes are no list of names, and what has no node too",
        [(one["includeAll"], one["allValue"], one["current"]["value"]) for one in every]
        == [(True, ".*", "$__all")],
        every,
    )
    of_board = [one for one in panels.links() if one.dashboard == board["title"]]
    asking = [one for one in of_board if "q=" in one.url]
    case.at_least("links to what nodes delivered", len(asking), 50)
    for chosen in (".*", "node-1.example|node-2.example"):
        own = {**values(board), "node": chosen}
        asked = [
            urllib.parse.parse_qs(urllib.parse.urlsplit(asked_of_hub(one, own)).query)
            for one in asking
        ]
        wrong = [one["q"] for one in asked if not one["q"][0].startswith(f"{{node=~`{chosen}`")]
        case.check(f"nodes {chosen} are asked for as they are", not wrong, wrong)
    own = [str(one) for one in of_board if "__field" in one.url or "__data" in one.url]
    case.check("no link there needs a label that there may not be", not own, own)


# Names with characters that are special in an address, in a selector's string or in a regular expression.
HARD_CONTAINER = r"a\x2db&c#d+e\"f%25 g"
HARD_FUNCTION = r"std::vector<int>::operator+=(char const*, \"C#\" & \\n)[abi:cxx11]%s?"


def judge_filters(case):
    """Checks that links keep the chosen namespaces, pod or function."""
    lost, found = [], 0
    for name in ("cluster.json", "pod.json"):
        dashboard = panels.dashboards()[name]
        own = {**values(dashboard), "namespace": "shop", "pod": "web-0"}
        cell = {"namespace": "shop", "pod": "web-0", "container": HARD_CONTAINER, "function": HARD_FUNCTION}
        cell["instance"] = "10.0.0.1:7070"
        own |= {f"__field.labels.{key}": text for key, text in cell.items()}
        own |= {f"__data.fields.{key}": text for key, text in cell.items()}
        for link in panels.links():
            if link.dashboard != dashboard["title"] or not link.url.startswith("${firetower}/"):
                continue
            asked = urllib.parse.parse_qs(
                urllib.parse.urlsplit(panels.filled(link.url, own)).query
            )
            found += 1
            selector = asked.get("q", [""])[0]
            if not re.search("namespace=~?`shop`", selector):
                lost.append(f"{link}: q={selector}")
            if "container" in selector and not selector.endswith(f",container=`{HARD_CONTAINER}`}}"):
                lost.append(f"{link}: q={selector}")
            of_functions = re.search("unctions (that grew|of pods)$|^Hottest functions$", link.panel)
            if of_functions and "/explore?" in link.url and asked.get("find") != [HARD_FUNCTION]:
                lost.append(f"{link}: find={asked.get('find')}")
    bare = [
        link.url
        for link in panels.links()
        if re.search(r"\$\{__(field\.labels|data\.fields)\.\w+(?!\w*:percentencode\})", link.url)
    ]
    case.check("labels and cells are percent-encoded, so that they survive an address", not bare, bare)
    case.at_least("links to profiles", found, 10)
    case.check("links to profiles keep the namespace, and the function that was clicked", not lost, lost)
    board = panels.dashboards()["cluster.json"]
    chosen = {**values(board), "namespace": "(shop|blue)"}
    several = [
        panels.filled(link.url, chosen)
        for link in panels.links()
        if link.dashboard == board["title"] and link.panel == "CPU in profiles"
    ]
    case.check(
        "several namespaces are alternatives",
        several and all("q=%7Bnamespace%3D~%60(shop|blue)%60%7D&" in one for one in several),
        several,
    )


def main():
    case = Case("dashboards")
    need_promtool(case)
    try:
        import yaml
    except ImportError:
        case.skip("python3-yaml is not installed")
    done = subprocess.run(
        [ROOT / "hack/grafana/dashboards", "--check"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    case.check(
        "the dashboards are as hack/grafana/dashboards writes them",
        done.returncode == 0,
        done.stdout + done.stderr,
    )
    found = panels.dashboards()
    case.check(
        "there are three", set(found) == {"cluster.json", "pod.json", "agents.json"}, sorted(found)
    )
    for name, dashboard in found.items():
        judge_form(case, name, dashboard)
        judge_queries(case, name, dashboard)
        judge_lines(case, name, dashboard)
    judge_syntax(case)
    judge_targets(case, yaml)
    judge_links(case)
    judge_every_panel(case)
    judge_nodes(case)
    judge_filters(case)
    case.finish()


if __name__ == "__main__":
    main()
