# SPDX-License-Identifier: Apache-2.0
"""Reads Prometheus text exposition."""

import re

_LINE = re.compile(r"^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})?\s+(\S+)(?:\s+\S+)?$")
_LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"')
_ESCAPES = {"\\n": "\n", '\\"': '"', "\\\\": "\\"}


class Metrics:
    def __init__(self, text):
        self.text = text
        self.series = []  # (name, labels, value)
        for line in text.splitlines():
            match = _LINE.match(line)
            if line.startswith("#") or not match:
                continue
            labels = {key: re.sub(r'\\[n"\\]', lambda m: _ESCAPES[m.group()], value)
                      for key, value in _LABEL.findall(match.group(2) or "")}
            self.series.append((match.group(1), labels, float(match.group(3))))

    def find(self, name, **labels):
        """(labels, value) of each series of the family that carries the given labels."""
        return [(found, value) for family, found, value in self.series
                if family == name and all(found.get(key) == want for key, want in labels.items())]

    def sum(self, name, **labels):
        return sum(value for _, value in self.find(name, **labels))

    def lost(self):
        """Samples lost for any reason but exec, which has stacks of its own kind, by reason."""
        return {labels.get("reason", "?"): value for labels, value in self.find("firetower_samples_lost_total")
                if value > 0 and labels.get("reason") != "exec"}
