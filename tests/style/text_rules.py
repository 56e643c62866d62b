# SPDX-License-Identifier: Apache-2.0
"""Rules about the text of each file: what has to stand there and what must not."""

import re

LICENCE = "SPDX-License-Identifier: Apache-2.0"
BPF_LICENCE = "SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause"

# Spelt with brackets so that this file does not match itself.
LEFT_FOR_LATER = re.compile(r"\b(TO[D]O|FIX[M]E|X[X]X|HA[C]K)\b")
WORKPLACE = re.compile(r"\.\./s[h]ared|/w[o]rk/|\bbefore[-]stop\b|[.]l[i]brary\b", re.IGNORECASE)

_NUMBER = r"(?:u?int(?:8|16|32|64)?_t|__[us](?:8|16|32|64)|int|unsigned|long|double|float|size_t)"
UNITLESS = re.compile(
    rf"\b{_NUMBER}\s+((?:\w+_)?(?:timeout|interval|delay|duration|latency|elapsed|deadline)_?)"
    r"\s*(?=[;=,){])"
)
PLAIN_ADDRESS = re.compile(rf"\b{_NUMBER}\s+(addr_?)\s*(?=[;=,){{])")


def licence(sources):
    """The first line (the second after #!) names the licence; BPF C has its own."""
    for source in sources:
        if not source.is_code:
            continue
        line = source.lines[1:2] if source.text.startswith("#!") else source.lines[:1]
        first = line[0] if line else ""
        wanted = LICENCE
        if source.path.endswith(".bpf.c") or source.module == "bpf" and source.is_cpp:
            wanted = BPF_LICENCE
        if not first.endswith((wanted, f"{wanted} */")):
            yield source.path, f'the first line is not "{wanted}"'


def pragma_once(sources):
    """Every header guards itself: by #pragma once, BPF C also the kernel's way."""
    for source in sources:
        wanted = r"^#pragma once$"
        if source.module == "bpf":
            wanted += r"|^#ifndef (\w+)\n#define \1$"
        if source.suffix == ".h" and not re.search(wanted, source.text, re.MULTILINE):
            yield source.path, "no #pragma once"


def using_namespace(sources):
    """Names say where they come from."""
    for source in sources:
        if source.is_cpp:
            yield from _search(source, source.code, re.compile(r"\busing\s+namespace\b"))


def left_for_later(sources):
    """Code holds no reminders of unfinished work."""
    for source in sources:
        yield from _search(source, source.text, LEFT_FOR_LATER)


def workplace(sources):
    """The product stands on its own: nothing speaks of the place it was written in."""
    for source in sources:
        yield from _search(source, source.text, WORKPLACE)


def whitespace(sources):
    """No blanks at a line's end, a newline at the file's."""
    for source in sources:
        if any(folder in f"/{source.path}" for folder in ("/testdata/", "/corpus/")):
            continue
        yield from _search(source, source.text, re.compile(r"[ \t\r]+$", re.MULTILINE))
        if source.text and not source.text.endswith("\n"):
            yield source.path, "no newline at the end"


def units(sources):
    """A number that has a unit says it; an address says which kind."""
    for source in sources:
        if not source.is_cpp:
            continue
        for match in UNITLESS.finditer(source.code):
            yield source.path, f"{_line(source.code, match)}: {match.group(1)} has no unit"
        for match in PLAIN_ADDRESS.finditer(source.code):
            yield source.path, f"{_line(source.code, match)}: {match.group(1)}: which kind?"


def _line(text, match):
    return text.count("\n", 0, match.start()) + 1


def _search(source, text, pattern):
    for match in pattern.finditer(text):
        yield source.path, f"{_line(text, match)}: {match.group(0).strip() or 'blanks at the end'}"
