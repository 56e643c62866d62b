# SPDX-License-Identifier: Apache-2.0
"""One proof: named checks with the figure each one saw. Leaves with 0, 1 (something failed) or 77 (skipped)."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time


class Case:
    def __init__(self, name):
        self.name = name
        self.failed = 0
        # Whoever ends us wants the containers and cgroups gone as well.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))

    def check(self, what, holds, seen=""):
        """States `what`, says what was seen, and remembers a failure."""
        self.failed += not holds
        print(f"{'ok  ' if holds else 'FAIL'} {self.name}: {what}{f' ({seen})' if seen != '' else ''}", flush=True)
        return holds

    def at_least(self, what, value, limit):
        return self.check(what, value >= limit, f"{value:.6g}, at least {limit:.6g}")

    def at_most(self, what, value, limit):
        return self.check(what, value <= limit, f"{value:.6g}, at most {limit:.6g}")

    def figure(self, what, value):
        print(f"     {self.name}: {what} = {value}", flush=True)

    @contextlib.contextmanager
    def step(self, what):
        """Says how long it took; hack/test repeats that. What does not come in time has failed, and the next one begins."""
        began = time.monotonic()
        try:
            yield
        except TimeoutError as error:
            self.check(f"{what}: all came in time", False, error)
        print(f"STEP {self.name}: {what}, {time.monotonic() - began:.1f} s", flush=True)

    def skip(self, reason):
        print(f"SKIP {self.name}: {reason}", flush=True)
        sys.exit(77)

    def need(self, *programs):
        if os.geteuid() != 0:
            self.skip("needs root")
        for program in programs:
            if shutil.which(program) is None:
                self.skip(f"{program} is not installed")

    def finish(self):
        print(f"{self.name}: {'FAILED' if self.failed else 'held'}", flush=True)
        sys.exit(1 if self.failed else 0)


def run(*command, timeout=60, check=True, **more):
    """Runs a command and returns its completed process, output as text unless told otherwise."""
    more.setdefault("text", True)
    more.setdefault("capture_output", True)
    done = subprocess.run([str(part) for part in command], timeout=timeout, **more)
    if check and done.returncode != 0:
        raise RuntimeError(f"{command[0]} left with {done.returncode}: {done.stdout}{done.stderr}")
    return done
