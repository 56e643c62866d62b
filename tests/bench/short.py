# SPDX-License-Identifier: Apache-2.0
"""The short form of a bench, which CI runs as bench-once.NAME: every step once and on little, no limit judged.

FIRETOWER_BENCH_SHORT=1 asks for it. Figures are printed as always, with the verdict `shown`; what shows that the bench
itself is broken (a wrong answer, a step that failed) fails in both forms. pairs.h is the same for C++.
"""

import os
import shutil
import tempfile

SHORT = os.environ.get("FIRETOWER_BENCH_SHORT") == "1"

_MEMORY, _LEAST_FREE = "/dev/shm", 512 << 20


def pick(long, brief):
    """Returns how much of something this form takes."""
    return brief if SHORT else long


def keep_files_in_memory():
    """Puts temporary files into memory, if this is the short form and memory has room: it waits for no disk."""
    if SHORT and os.access(_MEMORY, os.W_OK) and shutil.disk_usage(_MEMORY).free >= _LEAST_FREE and _has_attributes(_MEMORY):
        tempfile.tempdir = _MEMORY


def _has_attributes(folder):
    """Returns whether files there have extended attributes of users, which versitygw needs (tmpfs: Linux 6.6)."""
    with tempfile.NamedTemporaryFile(dir=folder) as file:
        try:
            os.setxattr(file.name, b"user.firetower", b"1")
        except OSError:
            return False
    return True


def verdict(holds):
    """Returns the word for a figure that is, or is not, within its limit: `ok`, `FAIL` or `shown`."""
    return "shown" if SHORT else "ok" if holds else "FAIL"


def passes(holds):
    """Returns whether a bench may go on to succeed with such a figure."""
    return bool(holds) or SHORT
