# SPDX-License-Identifier: Apache-2.0
"""Many binaries that differ in layout and build id, without frame pointers: nobody has seen them before."""

from case import run
from daemon import ROOT

SOURCES = ROOT / "tests" / "programs" / "truth"


def build(work, count, prefix):
    """Binaries of one source, each with its code at a place of its own and so a build id of its own."""
    objects = []
    for source in ("main.c", "chain.c"):
        objects.append(work / f"{source}.o")
        run("gcc", "-O2", "-fomit-frame-pointer", f"-I{ROOT}", "-DSHAPE=kChain", '-DBUILD=""', "-c", SOURCES / source,
            "-o", objects[-1])
    files = []
    for number in range(count):
        files.append(work / f"{prefix}{number}")
        padding = work / "padding.s"
        padding.write_text(f".text\n.skip {16 * number + 16}, 0x90\n.section .rodata\n.ascii \"{prefix}{number}\"\n"
                           ".section .note.GNU-stack\n")
        run("gcc", "-o", files[-1], padding, *objects)
    return files
