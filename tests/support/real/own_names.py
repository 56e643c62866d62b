# SPDX-License-Identifier: Apache-2.0
"""Names, by nm(1), of frames that the product found but has no name for: of a process that ended before its file was
read for symbols. A place that is wrong shows so under the wrong name."""

import bisect
import functools
import pathlib

from case import run


@functools.lru_cache(maxsize=None)
def _functions(path):
    rows = [line.split() for line in run("nm", "-n", "--defined-only", path).stdout.splitlines()]
    return [(int(row[0], 16), row[2]) for row in rows if len(row) == 3 and row[1] in "tTwW"]


def name_of(frame):
    """The product's name, else the file's own, else what the product has instead of one."""
    path = pathlib.Path(frame.module)
    if frame.is_named or not path.is_file():
        return frame.name
    functions = _functions(path)
    at = bisect.bisect_right(functions, (frame.address, "\x7f")) - 1
    return functions[at][1] if at >= 0 else frame.name
