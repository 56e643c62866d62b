# SPDX-License-Identifier: Apache-2.0
"""The stacks that a program said it can have (tests/programs/truth/truth.h), and whether one is among them."""

import re


class Statements:
    def __init__(self, text):
        self._stacks = set()
        self.unsaid = set()
        for line in text.splitlines():
            kind, _, words = line.partition(" ")
            if kind == "stack":
                self._stacks.add(tuple(self._words(words)))
            elif kind == "unsaid":
                self.unsaid.update(words.split())
        self.names = {word for stack in self._stacks for word in stack} - {".", "*"}

    @staticmethod
    def _words(line):
        for word in line.split():
            match = re.fullmatch(r"(\w+)\{(\d+)\}", word)
            yield from [match.group(1)] * int(match.group(2)) if match else [word]

    def allow(self, names):
        """Whether `names`, the outermost frame first, are one of the stacks or its leading part."""
        names = [name if name in self.names else None for name in names]
        return bool(names) and any(self._leads(stack, names) for stack in self._stacks)

    @staticmethod
    def _leads(stack, names):
        at = 0
        for word in stack:
            if at == len(names):
                return True
            if word == "*":
                while at < len(names) and names[at] is None:
                    at += 1
            elif word == "." and names[at] is None or word == names[at]:
                at += 1
            else:
                return False
        return at == len(names)
