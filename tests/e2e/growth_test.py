#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""growth_test.py: a program that goes on, and then does more. `firetower diagnose --against` names nothing while it
goes on, and then the function that is new, the one that grew, and nothing else, by the time of their own.
"""

import json
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support" / "real"))

from case import Case
from daemon import Daemon
from group import Group

PHASE = 24
# A round of the first phase has 4 parts of steady and 1 of grows; of the second one 3 of grows and 1 of is_new.
PROGRAM = f"""
import time
def steady():
    x = 0
    for i in range(4000): x = (x * 31 + i) % 1000003
def grows():
    x = 0
    for i in range(1000): x = (x * 31 + i) % 1000003
def is_new():
    x = 0
    for i in range(1000): x = (x * 31 + i) % 1000003
begin = time.monotonic()
while True:
    steady()
    grows()
    if time.monotonic() - begin > {PHASE}:
        grows()
        grows()
        is_new()
"""


def diagnose(daemon, selector, since_s, to_s, against_s):
    told = daemon.cli("diagnose", selector, "--from", f"now-{since_s}s", "--to", f"now-{to_s}s",
                      "--against", f"{against_s}s", "-o", "json").stdout
    return json.loads(told)["findings"]


def main():
    case = Case("e2e.growth")
    case.need("/usr/bin/python3")
    with Daemon("--default-frequency-hertz", "499", window_seconds=2) as daemon:
        group = Group()
        try:
            group.run("/usr/bin/python3", "-c", PROGRAM)
            selector = f'{{container="{group.id[:12]}"}}'
            time.sleep(PHASE - 2)
            same = diagnose(daemon, selector, 10, 0, 10)
            grown = [one for one in same if one["signature"] in ("grew", "new-hotspot")]
            case.check("nothing has grown while the program goes on", not grown, same)
            time.sleep(PHASE)
            findings = diagnose(daemon, selector, 18, 0, 24)
            told = {one["signature"]: one for one in findings}
            names = {one["cause"].split(" takes ")[0].split(" of ")[0] for one in findings if " takes " in one["cause"]}
            case.check("two functions have grown", names == {"grows", "is_new"}, findings)
            case.check("one of them is new", "is_new" in told.get("new-hotspot", {"cause": ""})["cause"], findings)
            if "grew" in told:
                # 1 of 5 parts before, 3 of 8 now; what the interpreter does for it by functions of its own is theirs.
                now, before = (one["percent"] for one in told["grew"]["evidence"])
                case.check("the other one's share has grown to 1.9 times", 1.5 < now / before < 2.3, told["grew"])
            page = daemon.cli("diagnose", selector, "--since", "18s", "--against", "24s").stdout
            case.check("the page says what it was before", "where it took" in page and "cores, before" in page, page)
        finally:
            group.remove()
    case.finish()


if __name__ == "__main__":
    main()
