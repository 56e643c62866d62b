# SPDX-License-Identifier: Apache-2.0
"""What addresses of the HTTP API may say, by its reference."""

import re
import urllib.parse

from panels import ROOT

# The page's parameters, of which it asks flame, types and labels.
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


def wrong(address):
    """What the server would refuse of a path with its query; None if nothing."""
    parts = urllib.parse.urlsplit(address)
    try:
        given = urllib.parse.parse_qs(
            parts.query, strict_parsing=bool(parts.query), keep_blank_values=True
        )
    except ValueError as error:
        return str(error)
    if parts.path == "/":
        known = PAGE
    else:
        path = parts.path.removeprefix("/api/v1/")
        if path == parts.path or path not in _parameters():
            return f"no path {parts.path}"
        known = _parameters()[path]
    for name, values in given.items():
        if name not in known or len(values) != 1:
            return f"{parts.path} does not take {name}, or once alone"
    return None
