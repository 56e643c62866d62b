# SPDX-License-Identifier: Apache-2.0
"""Prometheus's own reader and judge of rules."""

import re
import shutil
import subprocess


def need_promtool(case):
    if shutil.which("promtool") is None:
        case.skip("promtool is not installed: it is in Debian's package prometheus")


def check(*files):
    return subprocess.run(
        ["promtool", "check", "rules", *map(str, files)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test(*files):
    return subprocess.run(
        ["promtool", "test", "rules", *map(str, files)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def failed_cases(done):
    """(alert, whether it was to fire) of each case that did not go as written."""
    output = done.stdout + done.stderr
    return {
        (name, expected != "[]")
        for name, expected in re.findall(
            r"alertname: (\w+), time: [^\n]*\n\s*exp:(\[\]|\[)", output
        )
    }
