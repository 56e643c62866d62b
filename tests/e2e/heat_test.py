#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""heat_test.py: a program that computes for the first 100 ms of each second, and again from 500 to 540 ms. The heat map
has two stripes there and nothing between, over several windows and the one that is open; a part of each second has the
function that ran then; and the side entries are small.
"""

import contextlib
import json
import os
import pathlib
import sys
import time
import zipfile

SUPPORT = pathlib.Path(__file__).resolve().parents[1] / "support" / "real"
sys.path.insert(0, str(SUPPORT))

import pprof
from case import Case, run
from daemon import Daemon
from group import Group

BUILD = pathlib.Path(os.environ.get("FIRETOWER_BUILD", "build/dev")).resolve()
HERTZ = 499
SECONDS = 34
WINDOW = 10


def sum_of(heat, first_ms, last_ms, counts="cells"):
    rows = [i for i, name in enumerate(heat["rows"]) if first_ms <= int(name) < last_ms]
    return sum(heat[counts][column * len(heat["rows"]) + row] for column in range(heat["columns"]) for row in rows)


def share(profile, function):
    """The share of samples that have a function, and their number."""
    here = sum(sample.values[0] for sample in profile.samples if function in sample.names)
    whole = sum(sample.values[0] for sample in profile.samples)
    return (here / whole if whole else 0), whole


def judge_map(case, daemon, selector, times):
    heat = json.loads(daemon.cli("heat", selector, *times, "-o", "json").stdout)
    case.check("each second of the run is known", heat["known"].strip(".") == heat["known"].strip(".").replace("c", "t")
               and heat["known"].count("t") >= SECONDS - 3, heat["known"])
    case.check("no sample is without its time", heat["untimed_samples"] == 0, heat["untimed_samples"])
    # A busy machine delays some of it by a slot.
    burst, tick = sum_of(heat, 0, 120), sum_of(heat, 500, 560)
    case.at_least("samples of the burst", burst, 0.6 * 0.1 * HERTZ * (SECONDS - 4))
    case.at_least("the two stripes have all samples", (burst + tick) / heat["samples"], 0.95)
    case.figure("samples: burst, tick, all", (burst, tick, heat["samples"]))
    painted = json.loads(daemon.cli("heat", selector, *times, "--paint", "^tick$", "-o", "json").stdout)
    case.at_least("the painted cells are those of tick", sum_of(painted, 500, 560, "painted") / painted["painted_samples"],
                  0.95)
    case.check("no painted cell is in the burst", sum_of(painted, 0, 100, "painted") <= 0.02 * painted["painted_samples"],
               sum_of(painted, 0, 100, "painted"))
    by_thread = json.loads(daemon.cli("heat", selector, *times, "--by", "comm", "-o", "json").stdout)
    case.check("by comm the program is the first row", by_thread["rows"][0] == "pulses", by_thread["rows"])
    return heat


def judge_parts(case, daemon, selector, times):
    def part(offsets):
        done = daemon.cli("get", selector, *times, "--offsets", offsets, "-o", "pprof", text=False)
        return pprof.parse(done.stdout)
    of_burst, samples = share(part("0-100"), "burst")
    case.at_least("the first 100 ms of each second are burst's", of_burst, 0.97)
    case.at_least("of samples", samples, 500)
    of_tick, _ = share(part("500-540"), "tick")
    case.at_least("500 to 540 ms are tick's", of_tick, 0.97)
    whole = sum(sample.values[0] for sample in part("0-1000").samples)
    pieces = sum(sum(sample.values[0] for sample in part(f"{begin}-{begin + 200}").samples)
                 for begin in range(0, 1000, 200))
    case.check("the parts of a second are the whole", whole == pieces, f"{whole}, {pieces}")
    return whole


def judge_pictures(case, daemon, selector, times, folder):
    text = daemon.cli("heat", selector, *times).stdout.splitlines()
    rows = [line for line in text if " ms " in line]
    case.check("the terminal has 25 lines of two rows", len(rows) == 25, len(rows))
    filled = [sum(c not in " " for c in line.split(" ms ", 1)[1]) for line in rows]
    case.check("its stripes are at the top and in the middle", min(filled[0], filled[12]) > 10 * max(filled[4:12], default=0)
               or max(filled[4:12]) <= 2, filled)
    for name in ("map.svg", "map.html", "map.csv"):
        daemon.cli("heat", selector, *times, "-f", str(folder / name))
        case.check(f"{name} is written", (folder / name).stat().st_size > 1000, (folder / name).stat().st_size)
    run("python3", "-c", f"import xml.dom.minidom as m; m.parse({str(folder / 'map.svg')!r})")


def judge_bytes(case, daemon):
    profiles = times = samples = 0
    for path in pathlib.Path(daemon.store).rglob("bundle/**/*.zip"):
        with zipfile.ZipFile(path) as bundle:
            for entry in bundle.infolist():
                if entry.filename.endswith(".times.gz"):
                    times += entry.file_size
                else:
                    profiles += entry.file_size + len(entry.comment)
                    samples += json.loads(entry.comment)["samples"]
    case.at_most("side entries by the bytes of the profiles", times / profiles, 0.15)
    case.figure("bytes of a side entry for a sample", round(times / samples, 3))


def main():
    case = Case("e2e.heat")
    case.need("python3")
    with contextlib.ExitStack() as stack:
        daemon = stack.enter_context(Daemon("--default-frequency-hertz", str(HERTZ), window_seconds=WINDOW,
                                            slice_milliseconds=1000))
        group = Group()
        stack.callback(group.remove)
        group.run(str(BUILD / "toys" / "pulses"), str(SECONDS))
        begin = time.time()
        group.process.wait(SECONDS + 30)
        time.sleep(3)
        selector = f'{{container="{group.id[:12]}"}}'
        times = ("--from", f"{int(begin) - 1}", "--to", f"{int(time.time()) + 1}")
        heat = judge_map(case, daemon, selector, times)
        whole = judge_parts(case, daemon, selector, times)
        case.check("profile and map have the same samples", whole == heat["samples"], (whole, heat["samples"]))
        judge_pictures(case, daemon, selector, times, pathlib.Path(daemon.store))
        judge_bytes(case, daemon)
    case.finish()


if __name__ == "__main__":
    main()
