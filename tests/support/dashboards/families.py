# SPDX-License-Identifier: Apache-2.0
"""Which metrics there are, and their labels, by the references; and which a query asks for."""

import re

from panels import ROOT

# Prometheus has these of every target; node and cluster, where scraping adds them.
TARGET_LABELS = {"job", "instance", "node", "cluster"}
_USE = re.compile(r"\b((?:firetower|process)_\w+)(?:\{([^}]*)\})?")
_MATCHER = re.compile(r'(\w+)\s*(?:=~|!~|!=|=)\s*"')
_VALUES = re.compile(r'(\w+)\s*(?:=~|!~|!=|=)\s*"([^"]*)"')
_LIST = re.compile(r"\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([\w, ]*)\)")


def of_agents():
    """Name to labels."""
    text = (ROOT / "docs/reference/metrics.md").read_text(encoding="utf-8")
    return {
        name: {one for one in labels.strip("`").split(",") if one}
        for name, labels in re.findall(r"^\| `(\w+)` \| \w+ \| ([^|]*?) \|", text, re.MULTILINE)
    }


def of_hub():
    """Name to labels."""
    text = (ROOT / "docs/reference/hub.md").read_text(encoding="utf-8")
    return {
        name: {one for one in labels.split(",") if one}
        for name, labels in re.findall(r"`(firetower_\w+)(?:{([\w,]+)})?`", text)
    }


def used(expr):
    """(name, labels that are matched) of each family that a query asks for."""
    return [(name, set(_MATCHER.findall(matchers or ""))) for name, matchers in _USE.findall(expr)]


def values_asked(expr):
    """(name, label, value) of each value that a matcher has in so many words, among others or alone."""
    for name, matchers in _USE.findall(expr):
        for label, values in _VALUES.findall(matchers or ""):
            for value in values.split("|"):
                if value and not re.search(r"[$.*+]", value.replace("[kernel.kallsyms]", "")):
                    yield name, label, value


def base(name):
    """The family that a histogram's series is of."""
    return re.sub(r"_(bucket|sum|count)$", "", name)


def unknown(expr):
    """Yields the names in a query that nobody has."""
    agents, hub = of_agents(), of_hub()
    there = TARGET_LABELS | {"le"}
    for name, labels in used(expr):
        if base(name) not in agents and name not in hub:
            yield f"{name}: no such metric"
            continue
        own = agents.get(base(name), set()) | hub.get(name, set())
        there |= own
        if lost := labels - own - TARGET_LABELS - {"le"}:
            yield f"{name}: no label {', '.join(sorted(lost))}"
    listed = {
        one.strip() for names in _LIST.findall(expr) for one in names.split(",") if one.strip()
    }
    if used(expr) and listed - there:
        yield f"no label {', '.join(sorted(listed - there))} is of any of its metrics"
