# SPDX-License-Identifier: Apache-2.0
"""Content of dashboards with a Prometheus: variables are chosen as by Grafana, queries asked, links followed."""

import re
import time
import urllib.error
import urllib.parse
import urllib.request

import panels

# Ranges for a Prometheus that has scraped every second for less than a minute.
RATE_SECONDS = 8
RANGE_SECONDS = 16
# A label of the target that relabelling may add, and one that policies of the cluster have not.
OPTIONAL_LABELS = {"node", "policy_namespace"}
_LEGEND_LABEL = re.compile(r"\{\{(\w+)\}\}")


def choose(prometheus, dashboard, wanted, address):
    """Each variable's value: of `wanted`, else All, else the first there is."""
    now_ms = int(time.time() * 1000)
    values = {
        "__rate_interval": f"{RATE_SECONDS}s",
        "__range": f"{RANGE_SECONDS}s",
        "__from": str(now_ms - 60_000),
        "__to": str(now_ms),
        "firetower": address,
    }
    for one in dashboard["templating"]["list"]:
        name = one["name"]
        if name in wanted:
            values[name] = wanted[name]
        elif one["type"] == "query":
            found = prometheus.choices(one["definition"], lambda text: panels.filled(text, values))
            everything = one.get("allValue") or "|".join(map(re.escape, found))
            values[name] = everything if one["includeAll"] else (found or [""])[0]
        else:
            values.setdefault(name, one["current"].get("value", ""))
    return values


class Shown:
    """`wanted`: values of variables that are not All; `address`: of the server of profiles."""

    def __init__(self, prometheus, wanted, address):
        self.prometheus = prometheus
        self.boards = {one["title"]: one for one in panels.dashboards().values()}
        self.values = {
            title: choose(prometheus, board, wanted, address)
            for title, board in self.boards.items()
        }
        self.answers = {}

    def ask(self, query, expr=None):
        """(labels, value) of each series."""
        filled = panels.filled(expr or query.expr, self.values[query.dashboard])
        return self.prometheus.values(filled, query.instant, RANGE_SECONDS)

    def wait(self, queries, seconds, form=lambda expr: expr):
        """Until all have data, asked in that form, or for that long; those that have none."""
        end = time.monotonic() + seconds
        empty = list(queries)
        while True:
            empty = [query for query in empty if not self.ask(query, form(query.expr))]
            if not empty or time.monotonic() > end:
                break
            time.sleep(1)
        self.answers |= {query: self.ask(query) for query in queries}
        return empty

    def lacks(self, query, expr):
        """Labels that its legend shows, and no series of the expression's has."""
        found = self.ask(query, expr)
        labels = set().union(*(labels for labels, _ in found))
        return sorted(set(_LEGEND_LABEL.findall(query.legend)) - labels - OPTIONAL_LABELS)

    def answer(self, dashboard, panel, letter="A"):
        """Returns (labels, value) of each series in the answer to one query."""
        found = [
            one
            for one in self.answers
            if (one.dashboard, one.panel, one.letter) == (dashboard, panel, letter)
        ]
        return self.answers[found[0]]

    def follow(self, link):
        """None when a link's address is answered, else why not; the labels are those of its panel's first series."""
        fields = {}
        for query, answer in self.answers.items():
            if (query.dashboard, query.panel) == (link.dashboard, link.panel) and answer:
                for name, value in answer[0][0].items():
                    fields |= {f"__field.labels.{name}": value, f"__data.fields.{name}": value}
        url = panels.filled(link.url, {**self.values[link.dashboard], **fields})
        url = urllib.parse.quote(url, safe="%/:?&=$~+,;@!'()*|#")  # as a browser does
        if url.startswith("/d/"):
            return None
        parts = urllib.parse.urlsplit(url)
        if parts.path == "/":
            # The page asks this of the server when it is open, and searches by itself.
            query = re.sub(r"&(s|find)=[^&]*", "", parts.query)
            asked = _fetch(
                urllib.parse.urlunsplit(parts._replace(path="/api/v1/flame", query=query))
            )
            return _fetch(url, "text/html") or asked
        return _fetch(url)


def _fetch(url, accept="*/*"):
    try:
        with urllib.request.urlopen(
            urllib.request.Request(url, headers={"Accept": accept}), timeout=30
        ) as reply:
            return None if reply.status == 200 else f"{url}: {reply.status}"
    except urllib.error.HTTPError as error:
        return f"{url}: {error.code} {error.read()[:200]}"
