#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""pgo_test.py: a Go program that is profiled for its next build. The compiler takes the file and inlines the hot call
that it does not inline without one, as it does by the program's own profile (runtime/pprof) of the same run. Calls that
are hardly made are asked of neither: whether one of package time is inlined depends on a single sample that meets it.
"""

import contextlib
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

SUPPORT = pathlib.Path(__file__).resolve().parents[1] / "support" / "real"
sys.path.insert(0, str(SUPPORT))

from case import Case, run
from daemon import Daemon
from group import Group

SECONDS = 12
# `mixes` is too large to be inlined without a profile (a budget of 80), and `coldly` is as large and hardly called.
SOURCE = """package main

import (
	"os"
	"runtime/pprof"
	"strconv"
	"time"
)

type Table struct{ rows [4096]uint64 }

func (t *Table) mixes(at, with uint64) uint64 {
	a, b := t.rows[at&4095], t.rows[with&4095]
	a ^= b<<13 | b>>51
	b += a*7 + with
	a ^= b<<17 | b>>47
	b += a*11 + at
	a ^= b<<5 | b>>59
	if a&1 == 0 {
		t.rows[at&4095] = a + b
	} else {
		t.rows[with&4095] = a ^ b
	}
	return a + b*3
}

func (t *Table) coldly(at, with uint64) uint64 {
	a, b := t.rows[at&4095], t.rows[with&4095]
	a ^= b<<11 | b>>53
	b += a*5 + with
	a ^= b<<19 | b>>45
	b += a*13 + at
	a ^= b<<3 | b>>61
	if a&1 == 0 {
		t.rows[at&4095] = a + b
	} else {
		t.rows[with&4095] = a ^ b
	}
	return a + b*5
}

//go:noinline
func (t *Table) run(rounds uint64) (sum uint64) {
	for i := uint64(0); i < rounds; i++ {
		sum += t.mixes(i, sum)
	}
	return sum + t.coldly(rounds, sum)
}

func main() {
	seconds, _ := strconv.Atoi(os.Args[1])
	file, _ := os.Create(os.Args[2])
	pprof.StartCPUProfile(file)
	table := &Table{}
	sum := uint64(0)
	for end := time.Now().Add(time.Duration(seconds) * time.Second); time.Now().Before(end); {
		sum += table.run(1 << 20)
	}
	pprof.StopCPUProfile()
	os.WriteFile(os.Args[2]+".sum", []byte(strconv.FormatUint(sum, 10)), 0o600)
}
"""


def build(folder, name, *flags):
    """Builds the program with the compiler's reasons; what it inlined."""
    environment = {**os.environ, "GOFLAGS": "-mod=mod", "GOTOOLCHAIN": "local", "CGO_ENABLED": "0"}
    done = subprocess.run(["go", "build", *flags, "-gcflags=-m=1", "-o", str(folder / name), "."], cwd=folder,
                          env=environment, capture_output=True, text=True, timeout=200)
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    return set(re.findall(r"inlining call to (\S+)", done.stderr))


def of_the_program(inlined):
    """Without the calls into Go's own library."""
    return {name for name in inlined if name.startswith("(*Table)")}


def main():
    case = Case("e2e.pgo")
    case.need("go")
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        (folder / "main.go").write_text(SOURCE)
        (folder / "go.mod").write_text("module pgotest\n\ngo 1.21\n")
        without = build(folder, "program", "-pgo=off")
        case.check("without a profile the call is not inlined", "(*Table).mixes" not in without, without)
        daemon = stack.enter_context(Daemon("--symbols", "full", window_seconds=60))
        group = Group()
        stack.callback(group.remove)
        group.run(str(folder / "program"), str(SECONDS), str(folder / "own.pgo"))
        time.sleep(SECONDS - 1)
        selector = f'{{container="{group.id[:12]}"}}'
        done = daemon.cli("get", selector, "-o", "pgo", "-f", str(folder / "ours.pgo"))
        group.process.wait(30)
        case.figure("the command says", done.stderr.strip())
        by_own = build(folder, "by-own", f"-pgo={folder / 'own.pgo'}")
        by_ours = build(folder, "by-ours", f"-pgo={folder / 'ours.pgo'}")
        case.check("by ours it is", "(*Table).mixes" in by_ours, sorted(by_ours - without))
        case.check("and the call that is hardly made is not", "(*Table).coldly" not in by_ours)
        case.check("by the program's own profile the same is inlined", of_the_program(by_own) == of_the_program(by_ours),
                   sorted(by_own ^ by_ours))
        names = run("go", "tool", "pprof", "-top", str(folder / "ours.pgo")).stdout
        case.check("only its own code is in it", "main.(*Table).mixes" in names and "do_syscall" not in names, names)
        refused = daemon.cli("get", "-o", "pgo", "--binary", "none", "-f", str(folder / "none.pgo"), check=False)
        case.check("a binary that is not there is named", refused.returncode != 0 and "no binary 'none'" in refused.stderr,
                   refused.stderr)
    case.finish()


if __name__ == "__main__":
    main()
