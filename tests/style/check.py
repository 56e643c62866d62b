#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check.py [RULE...]: holds the tree to the house rules; without a name, to all of them.

An exception is a line of waivers.txt with the number of the ADR that argues it. How many there may
be stands in the same file and may only fall.
"""

import pathlib
import re
import sys

import include_rules
import size_rules
import source_tree
import text_rules

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
WAIVERS = "tests/style/waivers.txt"

RULES = {
    "include-direction": include_rules.direction,
    "include-spelling": include_rules.spelling,
    "own-header-first": include_rules.own_header_first,
    "third-party-headers": include_rules.third_party,
    "file-size": size_rules.files,
    "function-size": size_rules.functions,
    "folder-size": size_rules.folders,
    "licence": text_rules.licence,
    "pragma-once": text_rules.pragma_once,
    "using-namespace": text_rules.using_namespace,
    "left-for-later": text_rules.left_for_later,
    "workplace": text_rules.workplace,
    "whitespace": text_rules.whitespace,
    "units": text_rules.units,
}


class Waivers:
    """The lines of waivers.txt: `at most N` once, then `RULE PATH ADR-NNNN`."""

    def __init__(self, text):
        self.cap = None
        self.entries = {}  # (rule, path) -> ADR
        self.errors = []
        for number, line in enumerate(text.split("\n"), 1):
            words = line.split("#")[0].split()
            if not words:
                continue
            if words[:2] == ["at", "most"] and len(words) == 3 and words[2].isdigit():
                self.cap = int(words[2])
            elif len(words) == 3 and words[0] in RULES and re.fullmatch(r"ADR-\d{4}", words[2]):
                self.entries[words[0], words[1]] = words[2]
            else:
                self.errors.append(f"{WAIVERS}:{number}: neither `at most N` nor `RULE PATH ADR-NNNN`")


def check_waivers(waivers, sources, caps):
    """The complaints about the waivers themselves."""
    yield from waivers.errors
    if waivers.cap is None:
        yield f"{WAIVERS}: says nowhere `at most N`"
    elif len(waivers.entries) > waivers.cap:
        yield f"{WAIVERS}: {len(waivers.entries)} waivers, at most {waivers.cap}"
    elif caps and waivers.cap > min(caps):
        yield f"{WAIVERS}: at most {waivers.cap}, but it was {min(caps)} before and may only fall"
    adrs = [source.path for source in sources if source.path.startswith("docs/adr/")]
    for (rule, path), adr in waivers.entries.items():
        if not any(name.startswith(f"docs/adr/{adr[4:]}-") for name in adrs):
            yield f"{WAIVERS}: {rule} {path}: there is no {adr}"
        if path not in {found for found, _ in RULES[rule](sources)}:
            yield f"{WAIVERS}: {rule} {path}: not needed any more, take it out"


def check_rule(name, sources, waivers):
    """The complaints of one rule that no waiver covers."""
    for path, text in RULES[name](sources):
        if (name, path) not in waivers.entries:
            yield f"{path}:{text}" if text[:1].isdigit() and ": " in text else f"{path}: {text}"


def main(names):
    unknown = [name for name in names if name not in RULES and name != "waivers"]
    if unknown:
        print(f"no rule is called {', '.join(unknown)}; there are: waivers {' '.join(RULES)}")
        return 2
    sources = source_tree.read_tree(ROOT)
    waivers = Waivers((ROOT / WAIVERS).read_text(encoding="utf-8"))
    complaints = []
    for name in names or [*RULES, "waivers"]:
        if name == "waivers":
            found = check_waivers(waivers, sources, source_tree.earlier_caps(ROOT, WAIVERS, r"at most (\d+)"))
        else:
            found = check_rule(name, sources, waivers)
        complaints += [f"{line}  [{name}]" for line in found]
    for line in complaints:
        print(line)
    print(f"{len(sources)} files, {len(complaints)} complaints")
    return 1 if complaints or not sources else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
