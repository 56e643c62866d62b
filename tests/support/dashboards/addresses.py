# SPDX-License-Identifier: Apache-2.0
"""Rules for addresses of the HTTP API, from its reference."""

import re
import urllib.parse

from panels import ROOT

# Parameters of the page of flame graphs that links give.
PAGE = {"type", "q", "from", "to", "s", "find"}


def _parameters():
    """Path to its parameters, by the reference's table."""
    text = (ROOT / "docs/reference/http-api.md").read_text(encoding="utf-8")
    text = text[text.index("## Parameters") :]
    every = {"profile", "profiles", "diff", "flame", "top", "series", "labels", "types"}
    found = {path: set() for path in every | {"doctor"}}
    for names, of in re.findall(
        r"^\| (`[^|]*`) \| ([^|]*) \|", text[: text.index("Times are")], re.MULTILINE
    ):
        paths = (
            every - ({"diff"} if "but diff" in of else set())
            if of.startswith(("as `q`", "all but"))
            else set(of.split())
        )
        for path in paths & every:
            found[path] |= set(re.findall(r"`([\w-]+)`", names))
    return found


def _labels():
    """Returns the labels that selectors and `by` of series may name."""
    text = (ROOT / "docs/grafana.md").read_text(encoding="utf-8")
    told = text[text.index("\nLabels are ") : text.index("Selectors are PromQL's")]
    return set(re.findall(r"`(\w+)`", told))


# A matcher of a selector, its value in any of three quotes.
_MATCHER = re.compile(r"""(\w+)(?:=~|!~|!=|=)(?:`[^`]*`|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')""")


def _wrong_values(path, given):
    """Yields wrong values of parameters, except those that hold the reader's own text."""
    selector = given.get("q", ["{}"])[0]
    inside = selector[selector.find("{") + 1 : -1]
    matched = set(_MATCHER.findall(inside))
    if not selector.endswith("}") or _MATCHER.sub("", inside).strip(", "):
        return f"{selector} is no selector"
    by = set(",".join(given.get("by", [])).split(",")) - {""}
    if path == "top":
        known_by = {"containers", "functions"}
    else:
        known_by = _labels()
    if lost := (matched - _labels()) | (by - known_by):
        return f"{path or 'the page'} knows no {', '.join(sorted(lost))}"
    if given.get("stored", ["true"])[0] not in ("true", "false"):
        return "stored is neither true nor false"
    return None


def wrong(address):
    """Returns the part of a path and its query that the server would refuse; None if it takes all."""
    parts = urllib.parse.urlsplit(address)
    try:
        given = urllib.parse.parse_qs(
            parts.query, strict_parsing=bool(parts.query), keep_blank_values=True
        )
    except ValueError as error:
        return str(error)
    path = ""
    if parts.path == "/explore":
        known = PAGE
    else:
        path = parts.path.removeprefix("/api/v1/")
        if path == parts.path or path not in _parameters():
            return f"no path {parts.path}"
        known = _parameters()[path]
    for name, values in given.items():
        if name not in known or len(values) != 1:
            return f"{parts.path} does not take {name}, or once alone"
    return _wrong_values(path, given)
