# SPDX-License-Identifier: Apache-2.0
"""Names from binutils for an ELF file: the function or linkage table that an offset of the file lies in."""

import bisect
import re

from case import run


class ElfNames:
    """`file` as it runs; `names`, the same file with its symbols, if it has been stripped."""

    def __init__(self, file, names=None):
        self._loads = []  # (file offset, end, address - offset)
        for line in run("readelf", "-lW", file).stdout.splitlines():
            words = line.split()
            if words[:1] == ["LOAD"]:
                offset, address, size = int(words[1], 16), int(words[2], 16), int(words[4], 16)
                self._loads.append((offset, offset + size, address - offset))
        self._tables = []  # (address, end) of sections of stubs
        for line in run("readelf", "-SW", file).stdout.splitlines():
            match = re.match(r"\s*\[\s*\d+\]\s+(\.plt\S*)\s+\S+\s+(\S+)\s+\S+\s+(\S+)", line)
            if match:
                address = int(match.group(2), 16)
                self._tables.append((address, address + int(match.group(3), 16)))
        self._symbols = []  # (address, end, name)
        for line in run("nm", "-S", "--defined-only", names or file, check=False).stdout.splitlines():
            words = line.split()
            if len(words) == 4 and words[2] in "tTwW":
                address = int(words[0], 16)
                self._symbols.append((address, address + int(words[1], 16), words[3]))
        self._symbols.sort()

    def add(self, begin, end, name):
        """Names the function at the addresses [begin, end)."""
        bisect.insort(self._symbols, (begin, end, name))

    def find(self, offset):
        """The name of what the file has at that offset; None if neither table nor function."""
        for begin, end, bias in self._loads:
            if begin <= offset < end:
                address = offset + bias
                break
        else:
            return None
        if any(begin <= address < end for begin, end in self._tables):
            return ".plt"
        at = bisect.bisect(self._symbols, (address, float("inf"))) - 1
        if at >= 0 and address < self._symbols[at][1]:
            return self._symbols[at][2]
        return None
