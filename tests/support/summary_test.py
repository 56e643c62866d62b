#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds what summary.py promises. The JUnit texts are in ctest 3.25's own form."""

import contextlib
import io
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import summary  # noqa: E402

PASS = '<testcase name="A.Passes" status="run"><system-out>fine</system-out></testcase>'
FAIL = (
    '<testcase name="A.Fails" status="fail"><failure message="Failed"/>'
    "<system-out>expected 1, got 2</system-out></testcase>"
)
TIMEOUT = '<testcase name="A.Hangs" time="60.01" status="fail"><failure message=""/></testcase>'
GTEST_SKIP = (
    '<testcase name="K.Skips" status="notrun">'
    '<skipped message="SKIP_REGULAR_EXPRESSION_MATCHED"/>'
    "<system-out>[ RUN      ] K.Skips\n/src/k_test.cc:12: Skipped\nneeds BTF of the kernel\n\n"
    "[  SKIPPED ] K.Skips (0 ms)\n[  SKIPPED ] 1 test, listed below:\n[  SKIPPED ] K.Skips\n"
    "</system-out></testcase>"
)
SCRIPT_SKIP = (
    '<testcase name="e2e.pprof" status="notrun"><skipped message="SKIP_RETURN_CODE=77"/>'
    "<system-out>SKIP pprof: no Go toolchain\n</system-out></testcase>"
)
SILENT_SKIP = (
    '<testcase name="e2e.mute" status="notrun"><skipped message="SKIP_RETURN_CODE=77"/></testcase>'
)
PARTIAL = (
    '<testcase name="e2e.most" status="run"><system-out>ok one\nSKIP two: no runc\nok three\n'
    "</system-out></testcase>"
)
STEPS = (
    '<testcase name="e2e.way" status="run"><system-out>ok one\nSTEP e2e.way: install, 14.6 s\n'
    "ok two\nSTEP e2e.way: a pod, and more, 0.9 s\n  STEP e2e.way: no step, 1.0 s\n"
    "</system-out></testcase>"
)
NOT_BUILT = (
    '<testcase name="b_NOT_BUILT" status="notrun">'
    '<skipped message="Unable to find executable"/></testcase>'
)
DISABLED = '<testcase name="A.Off" status="disabled"><disabled/></testcase>'


class SummaryTest(unittest.TestCase):
    def run_tiers(self, *arguments, **tiers):
        """Exit status and printed lines for tiers given as lists of test cases."""
        with tempfile.TemporaryDirectory() as folder:
            words = list(arguments)
            for tier, cases in tiers.items():
                path = pathlib.Path(folder, f"{tier}.xml")
                if cases is not None:
                    path.write_text(f"<testsuite>{''.join(cases)}</testsuite>")
                words.append(f"{tier}={path}")
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                status = summary.main(words)
        return status, printed.getvalue().rstrip("\n").split("\n")

    def test_passes(self):
        status, lines = self.run_tiers(unit=[PASS, PASS])
        self.assertEqual((status, lines[-1]), (0, "2 passed, 0 failed, 0 skipped"))

    def test_adds_tiers(self):
        status, lines = self.run_tiers(unit=[PASS, FAIL], kernel=[PASS, GTEST_SKIP])
        self.assertEqual((status, lines[-1]), (1, "2 passed, 1 failed, 1 skipped"))
        self.assertIn("unit: 1 passed, 1 failed, 0 skipped, 0 s", lines)

    def test_failure_shows_its_output(self):
        status, lines = self.run_tiers(unit=[FAIL, TIMEOUT])
        self.assertEqual(status, 1)
        self.assertIn("FAILED unit: A.Fails", lines)
        self.assertIn("    expected 1, got 2", lines)
        self.assertIn("    (failed after 60.0 s)", lines)

    def test_gtest_skip_shows_its_reason(self):
        status, lines = self.run_tiers(kernel=[PASS, GTEST_SKIP])
        self.assertEqual((status, lines[-1]), (0, "1 passed, 0 failed, 1 skipped"))
        self.assertIn("    kernel: K.Skips: needs BTF of the kernel", lines)

    def test_script_skip_shows_its_reason(self):
        status, lines = self.run_tiers(e2e=[SCRIPT_SKIP, SILENT_SKIP])
        self.assertEqual((status, lines[-1]), (0, "0 passed, 0 failed, 2 skipped"))
        self.assertIn("    e2e: e2e.pprof/pprof: no Go toolchain", lines)
        self.assertIn(f"    e2e: e2e.mute: {summary.NO_REASON}", lines)

    def test_part_left_out_of_a_passed_test_counts(self):
        status, lines = self.run_tiers(e2e=[PARTIAL])
        self.assertEqual((status, lines[-1]), (0, "1 passed, 0 failed, 1 skipped"))
        self.assertIn("    e2e: e2e.most/two: no runc", lines)

    def test_steps_of_passed_tests_are_told_with_their_time(self):
        status, lines = self.run_tiers(unit=[PASS], e2e=[STEPS])
        self.assertEqual((status, lines[-1]), (0, "2 passed, 0 failed, 0 skipped"))
        at = lines.index("Steps")
        self.assertEqual(
            lines[at + 1 : at + 4],
            ["    e2e: e2e.way: install, 14.6 s", "    e2e: e2e.way: a pod, and more, 0.9 s", ""],
        )
        self.assertNotIn("Steps", self.run_tiers(unit=[PASS])[1])

    def test_slowest_tests_are_told_with_their_time(self):
        cases = [f'<testcase name="A.T{number}" time="{number}" status="run"/>' for number in range(1, 13)]
        _, lines = self.run_tiers(unit=cases[:6], e2e=cases[6:])
        at = lines.index("Slowest")
        self.assertEqual(lines[at + 1], "      12.0 s  A.T12")
        self.assertEqual(lines[at + 10 : at + 12], ["       3.0 s  A.T3", ""])

    def test_a_tier_is_told_with_its_time(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "unit.xml")
            path.write_text(f'<testsuite time="71">{PASS}</testsuite>')
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                summary.main([f"unit={path}"])
        self.assertIn("unit: 1 passed, 0 failed, 0 skipped, 71 s", printed.getvalue().split("\n"))

    def test_disabled_counts_as_skipped(self):
        _, lines = self.run_tiers(unit=[PASS, DISABLED])
        self.assertEqual(lines[-1], "1 passed, 0 failed, 1 skipped")

    def test_skips_fail_in_ci(self):
        for case in (GTEST_SKIP, SCRIPT_SKIP, PARTIAL, DISABLED):
            status, lines = self.run_tiers("--ci", unit=[PASS, case])
            self.assertEqual(status, 1)
            self.assertRegex(lines[-1], r"^\d passed, 0 failed, 1 skipped$")
        self.assertEqual(self.run_tiers("--ci", unit=[PASS])[0], 0)

    def test_missing_program_is_a_failure(self):
        status, lines = self.run_tiers(unit=[PASS, NOT_BUILT])
        self.assertEqual((status, lines[-1]), (1, "1 passed, 1 failed, 0 skipped"))

    def test_nothing_run_is_a_failure(self):
        self.assertEqual(self.run_tiers(unit=[PASS], bpf=[])[0], 1)
        self.assertEqual(self.run_tiers(unit=[])[0], 1)

    def test_tier_without_result_is_a_failure(self):
        status, lines = self.run_tiers(unit=[PASS], kernel=None)
        self.assertEqual((status, lines[-1]), (1, "1 passed, 1 failed, 0 skipped"))
        self.assertIn("FAILED kernel: (the tier)", lines)

    def test_damaged_result_is_a_failure(self):
        self.assertEqual(self.run_tiers(unit=["<testcase"])[0], 1)


if __name__ == "__main__":
    unittest.main()
