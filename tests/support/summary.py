#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""summary.py [--ci] TIER=JUNIT_FILE...: adds up what ctest --output-junit wrote, one file a tier.

Prints the time of each tier, the ten slowest tests, how long the steps of passed tests took that tell of them, the
output of each failed test and each skip by name and reason; the last line is "N passed, N failed, N skipped". Exits 1
when a test failed, a tier left no result or ran no test, or, with --ci, when one was skipped.
"""

import argparse
import re
import sys
import xml.etree.ElementTree as xml
from dataclasses import dataclass, field

# A script says what it leaves out on a line of its own, whether it then goes on or exits with 77.
SKIP_LINE = re.compile(r"^SKIP (\S+?):? +(.+)$", re.MULTILINE)
# Case.step of tests/support/real/case.py: "STEP TEST: WHAT, 12.3 s".
STEP_LINE = re.compile(r"^STEP (\S+: .+, \d+\.\d s)$", re.MULTILINE)
# GoogleTest 1.12: "file:line: Skipped", the streamed message, then "[  SKIPPED ]".
GTEST_SKIP = re.compile(r"^\S+:\d+: Skipped\n(.*?)^\[  SKIPPED \]", re.MULTILINE | re.DOTALL)
NO_REASON = "it gave no reason"
FAILURE_LINES = 200
SLOWEST = 10


@dataclass
class Sum:
    """The results of one tier, or of all tiers."""

    passed: int = 0
    failures: list = field(default_factory=list)  # (name, output)
    skips: list = field(default_factory=list)  # (name, reason)
    steps: list = field(default_factory=list)  # as they were printed
    times: list = field(default_factory=list)  # (seconds, name) of each test
    seconds: float = 0  # from the first test's begin to the last one's end

    def add(self, other):
        self.passed += other.passed
        self.failures += other.failures
        self.skips += other.skips
        self.steps += other.steps
        self.times += other.times

    def line(self):
        return f"{self.passed} passed, {len(self.failures)} failed, {len(self.skips)} skipped"


def skips_of(name, output):
    """The (name, reason) pairs that a test's output tells of."""
    found = [(f"{name}/{what.rstrip(':')}", why.strip()) for what, why in SKIP_LINE.findall(output)]
    for why in GTEST_SKIP.findall(output):
        found.append((name, " ".join(why.split()) or NO_REASON))
    return found


def read_case(case, total):
    name = case.get("name", "?")
    output = case.findtext("system-out") or ""
    total.times.append((float(case.get("time") or 0), name))
    status = case.get("status", "run")
    if status == "fail" or case.find("failure") is not None or case.find("error") is not None:
        took = float(case.get("time") or 0)
        total.failures.append((name, f"{output.rstrip()}\n(failed after {took:.1f} s)".strip()))
        return
    skips = skips_of(name, output)
    if status == "disabled":
        total.skips.append((name, "disabled"))
    elif status == "notrun" or case.find("skipped") is not None:
        skipped = case.find("skipped")
        message = skipped.get("message", "") if skipped is not None else ""
        # ctest says in the same words that a program does not exist: that is no skip.
        if not skips and not message.startswith("SKIP_"):
            total.failures.append((name, f"not run: {message or 'no reason given'}"))
            return
        total.skips += skips or [(name, NO_REASON)]
    else:
        total.passed += 1
        total.skips += skips
        total.steps += STEP_LINE.findall(output)


def read_tier(path):
    """The sum of one JUnit file; a file that cannot be read is a failure of its own."""
    total = Sum()
    try:
        root = xml.parse(path).getroot()
        cases = list(root.iter("testcase"))
        total.seconds = float(root.get("time") or 0)
    except (OSError, xml.ParseError) as error:
        total.failures.append(("(the tier)", f"did not run: {error}"))
        return total
    for case in cases:
        read_case(case, total)
    if not cases:
        total.failures.append(("(the tier)", "ran no test"))
    return total


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ci", action="store_true", help="a skip is a failure")
    parser.add_argument("tiers", nargs="+", metavar="TIER=JUNIT_FILE")
    options = parser.parse_args(arguments)

    total = Sum()
    for tier, _, path in (word.partition("=") for word in options.tiers):
        part = read_tier(path)
        part.failures = [(f"{tier}: {name}", output) for name, output in part.failures]
        part.skips = [(f"{tier}: {name}", why) for name, why in part.skips]
        part.steps = [f"{tier}: {text}" for text in part.steps]
        print(f"{tier}: {part.line()}, {part.seconds:.0f} s")
        total.add(part)

    print("\nSlowest")
    for seconds, name in sorted(total.times, reverse=True)[:SLOWEST]:
        print(f"    {seconds:6.1f} s  {name}")
    if total.steps:
        print("\nSteps")
        for text in total.steps:
            print(f"    {text}")
    for name, output in total.failures:
        lines = output.splitlines() or ["(no output)"]
        print(f"\nFAILED {name}")
        if len(lines) > FAILURE_LINES:
            print(f"    ... {len(lines) - FAILURE_LINES} lines before these")
        for text in lines[-FAILURE_LINES:]:
            print(f"    {text}")
    if total.skips:
        print("\nSkipped" + (" (CI is set: these count as failures)" if options.ci else ""))
        for name, why in total.skips:
            print(f"    {name}: {why}")
    print(f"\n{total.line()}")
    nothing = total.passed + len(total.skips) == 0
    return 1 if total.failures or nothing or (options.ci and total.skips) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
