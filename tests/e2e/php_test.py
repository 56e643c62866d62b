#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""php_test.py paths|modes [MODE...]: the functions of PHP programs by name, merged with native frames, in one walk.

In tests/programs/php/paths.php each path ends in a function of its own, so the leaf of a stack says what the whole of it must
be. `paths`: with the PHP of this machine, and with each program in FIRETOWER_PHPS, separated by colons. `modes`: one of them
after the other, with the cache of compiled code, and with each of its compilers.
"""

import pathlib
import re
import sys

SUPPORT = pathlib.Path(__file__).resolve().parents[1] / "support" / "real"
sys.path.insert(0, str(SUPPORT))

import interpreted_paths
from case import Case

CACHE = ["-d", "opcache.enable=1", "-d", "opcache.enable_cli=1", "-d", "opcache.file_update_protection=0", "-d", "opcache.jit_buffer_size=64M"]
MODES = {
    "cache": [*CACHE, "-d", "opcache.jit=0"],
    "functions": [*CACHE, "-d", "opcache.jit=function"],
    "tracing": [*CACHE, "-d", "opcache.jit=tracing"],
}


class Running(interpreted_paths.Running):
    source = pathlib.Path(__file__).resolve().parents[1] / "programs" / "php" / "paths.php"
    module = "[php]"
    loop = "execute_ex"
    compiled = ("functions", "tracing")

    def lines(self):
        """The lines of spin(). Compiled code does not say where it is: then that of spin() itself."""
        return (7,) if self.is_compiled() else range(10, 15)

    def prefix(self):
        return ["{main}", "work", "turn", "{closure}"]

    def wanted(self, leaf):
        return [*self.prefix(), *self.paths[leaf], leaf]

    def own(self, sample):
        """All functions of PHP in a sample, the outermost first."""
        return [re.sub(r"(.*::)?\{closure.*\}", "{closure}", frame.name) for frame in sample.stack if frame.module == self.module]

    def may_begin(self, stack):
        """It starts, or asks for the time."""
        return stack[:1] == ["{main}"] and len(stack) < 4


def main():
    what = sys.argv[1]
    case = Case(f"e2e.php-{what}")
    found = interpreted_paths.programs("php", "FIRETOWER_PHPS", ["-r", "echo PHP_VERSION;"])
    if not found:
        case.skip("no PHP here")
    jobs = [(version, php, []) for version, php in found.items()]
    if what == "modes":
        jobs = [(f"{version}-{mode}", php, MODES[mode]) for version, php, _ in jobs for mode in sys.argv[2:] or MODES]
    interpreted_paths.run(case, jobs, Running)


if __name__ == "__main__":
    main()
