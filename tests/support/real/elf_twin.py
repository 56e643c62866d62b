# SPDX-License-Identifier: Apache-2.0
"""Finds a function in a library that has no name for it, by its likeness to one that has a name."""

import re

from case import run


def instructions(file, begin, end):
    """Returns the names of the instructions of [begin, end), without their operands: these differ by addresses."""
    told = run("objdump", "-d", "--no-show-raw-insn", f"--start-address={begin}", f"--stop-address={end}", file).stdout
    return [line.split("\t")[1].split()[0] for line in told.splitlines() if "\t" in line]


def symbol(file, name):
    """(begin, end) of the function `name` in `file`."""
    for line in run("nm", "-S", "--defined-only", file).stdout.splitlines():
        words = line.split()
        if len(words) == 4 and words[3] == name:
            return int(words[0], 16), int(words[0], 16) + int(words[1], 16)
    raise LookupError(f"{file} has no function {name}")


def twin(library, file, name):
    """(begin, end) of the one function of `library` that has the size and instructions of `file`'s `name`.

    LookupError where there is none: the two are of different compilers, perhaps."""
    begin, end = symbol(file, name)
    wanted = instructions(file, begin, end)
    frames = run("readelf", "--debug-dump=frames", library).stdout
    ranges = {tuple(int(word, 16) for word in found) for found in
              re.findall(r" FDE .* pc=([0-9a-f]+)\.\.([0-9a-f]+)", frames)}
    like = [at for at in ranges if at[1] - at[0] == end - begin and instructions(library, *at) == wanted]
    if len(like) != 1:
        raise LookupError(f"{library} has {len(like)} functions like {name} of {file}, not one")
    return like[0]
