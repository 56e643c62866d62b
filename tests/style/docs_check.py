#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs_check.py: what the pages say of each other and of the programs is there: links and their anchors, flags, metrics
and values of the chart; the hub's metrics, the paths of HTTP and the names in the code tour are those of the code. The other reference pages are
generated or held equal to the programs by other tests."""

import json
import pathlib
import re
import sys

import source_tree

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

FENCE = re.compile(r"^( *)(```|~~~)[^\n]*\n.*?^\1\2 *$", re.MULTILINE | re.DOTALL)
CODE_SPAN = re.compile(r"`[^`\n]+`")
LINK = re.compile(r"\[(?:[^\[\]]|\[[^\]]*\])*\]\(([^()\s]+)\)")
HEADING = re.compile(r"^#{1,6} +(.+?) *#*$", re.MULTILINE)
FLAG = re.compile(r"(?<![\w-])--[a-z][a-z-]*[a-z]")
METRIC = re.compile(r"\bfiretower_[a-z_]+[a-z]\b")
VALUE = re.compile(r"`((?:agent|hub|store|image|networkPolicy|monitoring)\.(?!yaml)[A-Za-z.]+)(?:=[^`]*)?`")
# Lines about other people's programs have other people's flags.
FOREIGN = re.compile(r"\b(kubectl(?! firetower)|helm|docker|buildah|ld-linux|mmdebstrap|aws|Node\.js|rolebinding)\b"
                     r"|`(--(user|set|set-string|build-arg|take-ownership|perf-basic-prof|pid=host)|logs --previous)\b")
# Commands of ours that such a line runs in a pod.
IN_A_POD = re.compile(r"\bexec\b[^`]*? -- firetower(?:d|-hub)?\b([^`|]*)")
# Pages that are about other people's programs as much as about ours.
OTHERS = ("docs/benchmarks.md", "docs/formats.md")
NOTES = "charts/firetower/templates/NOTES.txt"
# Endings that a histogram or a counter adds to its family's name.
SUFFIXES = ("_bucket", "_count", "_sum")
REFERENCES = ("configuration", "cli", "hub")


def slug(heading):
    """The anchor that a heading gets: GitHub's."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").replace("*", "").lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def anchors(text):
    seen, found = {}, set()
    for heading in HEADING.findall(FENCE.sub("", text)):
        name = slug(heading)
        found.add(f"{name}-{seen[name]}" if name in seen else name)
        seen[name] = seen.get(name, 0) + 1
    return found


def links(pages, exists):
    """Relative links that lead nowhere. `pages` are texts by path; `exists` tells of files that are no pages."""
    for path, text in pages.items():
        for target in LINK.findall(CODE_SPAN.sub("", FENCE.sub("", text))):
            if re.match(r"[a-z+]+:", target):
                continue
            name, _, anchor = target.partition("#")
            to = str(pathlib.PurePosixPath(_flat(pathlib.PurePosixPath(path).parent / name))) if name else path
            if to not in pages and not exists(to):
                yield f"{path}: the link {target} leads nowhere"
            elif anchor and to in pages and anchor not in anchors(pages[to]):
                yield f"{path}: the link {target}: {to} has no such heading"


def _flat(path):
    parts = []
    for part in path.parts:
        if part == "..":
            parts = parts[:-1]
        elif part != ".":
            parts.append(part)
    return "/".join(parts) or "."


def flags(pages, known):
    """Flags that no program of ours has."""
    for path, text in pages.items():
        for line in text.replace("\\\n", " ").splitlines():
            ours = " ".join(IN_A_POD.findall(line)) if FOREIGN.search(line) else line
            for flag in FLAG.findall(ours):
                if flag not in known:
                    yield f"{path}: no program has {flag}"


def names(pages, pattern, known, what):
    for path, text in pages.items():
        for name in pattern.findall(text):
            if what == "metric" and f"grep {name}" in text and any(one.startswith(name) for one in known):
                continue
            bare = next((name[: -len(end)] for end in SUFFIXES if name.endswith(end) and name[: -len(end)] in known), name)
            if bare not in known:
                yield f"{path}: there is no {what} {name}"


def values_of(text):
    """The chart's values, the objects that hold them, and what their defaults hold."""
    found = set()
    for row, default in re.findall(r"^\| `([A-Za-z.]+)` \| (?:`([^`]*)`)?", text, re.MULTILINE):
        found |= {".".join(row.split(".")[:end]) for end in range(1, row.count(".") + 2)}
        found |= set(_inside(row, json.loads(default) if default.startswith("{") else {}))
    return found


def _inside(path, value):
    for key, below in value.items() if isinstance(value, dict) else ():
        yield f"{path}.{key}"
        yield from _inside(f"{path}.{key}", below)


def families_in(sources):
    """Metrics that C++ writes: string literals begin with their names."""
    return {name for text in sources for name in re.findall(r'"(firetower_[a-z_]+)', text)}


def paths_in(sources):
    """Paths that C++ serves: rows of a router, and constants."""
    row = r'(?:^ *\{|k\w*Path = )"(/[^"]*)"'
    return {_service(path) for text in sources for path in re.findall(row, text, re.MULTILINE)}


def _service(path):
    """Returns the service of one of Connect's methods: grafana.md lists the methods one by one."""
    return re.sub(r"(\.\w*Service/).*", r"\1", path)


def rows_of(text, begin, end, cell):
    """Returns the matches of `cell` in the first cells of a table, from one heading or word to another."""
    part = text[text.index(begin):]
    part = part[:part.index(end)] if end in part else part
    return {one for row in re.findall(r"^\| ([^|]*) \|", part, re.MULTILINE) for one in re.findall(cell, row)}


def unequal(path, what, told, there):
    for one in sorted(told ^ there):
        yield f"{path}: {what} {one} is {'not in the code' if one in told else 'not told of'}"


def surfaces(pages, sources):
    """Compares the metrics on the hub's page and the paths on the API's with the code. `sources` are texts by path."""
    hub, api = "docs/reference/hub.md", "docs/reference/http-api.md"
    of = lambda *folders: [text for path, text in sources.items() if path.startswith(folders)]
    yield from unequal(hub, "the metric", rows_of(pages[hub], "## Metrics", "\n## ", r"`(firetower_[a-z_]+)"),
                       families_in(of("hub/")))
    yield from unequal(api, "the path", {_service(one) for one in rows_of(pages[api], "| Path |", "\n## ", r"`(/[^`]*)`")},
                       paths_in(of("query/api.cc", "query/flame/file_endpoint.h", "query/mcp/", "query/pyroscope/")))


def code_names(pages, sources):
    """Types and functions that a page about the code names and the code does not have."""
    words = set(re.findall(r"\w+", "\n".join(sources)))
    for path, text in pages.items():
        for span in CODE_SPAN.findall(FENCE.sub("", text)):
            name = re.fullmatch(r"`(?:\w+::)?(\w+)`", span)
            is_code = "::" in span or re.match(r"`(ft_|[A-Z][a-z]+[A-Z])", span)
            if name and is_code and name.group(1) not in words:
                yield f"{path}: the code has no {span}"


def kept(pages):
    """Finds `helm get values` without -o yaml: its output for people begins with a line that is not YAML, so the
    file cannot be passed back to helm."""
    for path, text in pages.items():
        for line in text.replace("\\\n", " ").splitlines():
            if re.search(r"\bhelm\b.*\bget values\b.*>", line) and not re.search(r"(-o|--output)[ =]?(yaml|json)\b", line):
                yield f"{path}: values that helm keeps in a file need -o yaml: {line.strip()}"


def listed(pages, index):
    """Pages of docs/ that its index does not name."""
    for path in pages:
        at = pathlib.PurePosixPath(path)
        if str(at.parent) == "docs" and path != index and f"({at.name})" not in pages.get(index, ""):
            yield f"{index}: does not name {path}"


def main():
    tree = {one.path: one.text for one in source_tree.read_tree(ROOT)}
    pages = {path: text for path, text in tree.items() if path.endswith(".md")}
    guides = {path: text for path, text in pages.items() if re.fullmatch(r"README\.md|docs/[^/]+\.md", path)}
    reference = "\n".join(pages[f"docs/reference/{name}.md"] for name in REFERENCES)
    metrics = pages["docs/reference/metrics.md"] + pages["docs/reference/hub.md"]
    found = [*links(pages, lambda to: (ROOT / to).exists()),
             *flags({path: text for path, text in {**guides, NOTES: tree[NOTES]}.items() if path not in OTHERS},
                    set(FLAG.findall(reference)) | {"--standalone", "--help", "--version", "--for"}),
             *names(guides, METRIC, set(METRIC.findall(metrics)), "metric"),
             *names(guides, VALUE, values_of(pages["docs/reference/chart.md"]), "value of the chart"),
             *kept({**pages, NOTES: tree[NOTES]}),
             *listed(pages, "docs/README.md"),
             *code_names({path: pages[path] for path in ("docs/code-tour.md", "docs/glossary.md")},
                         [text for path, text in tree.items() if path.endswith((".cc", ".h", ".c"))]),
             *surfaces(pages, {path: text for path, text in tree.items() if path.endswith((".cc", ".h"))})]
    for one in found:
        print(one)
    print(f"{len(pages)} pages, {len(guides)} of them guides: {len(found)} wrong")
    return 1 if found or len(pages) < 20 else 0


if __name__ == "__main__":
    sys.exit(main())
