#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""wide_build_test.py [SECONDS]: a machine that compiles C++, the page's default view of it, and the command's.

The daemon samples all that runs here while this tree's own sources are compiled (600 s unless told otherwise). Then
Chromium opens the page, which asks for the last 15 minutes. Once the last window is closed, the page and `firetower
flame` draw one range: the totals and all bars that both show agree to the nanosecond.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support" / "real"))

from case import Case
from daemon import BUILD, ROOT, Daemon
from wide_test import MIB, MOST_BYTES, forget_peak, peak_bytes

WEB = pathlib.Path(__file__).resolve().parent / "web"


def compile_for(seconds):
    """Compiles this tree's sources on all CPUs, one after another, until the time is over."""
    commands = [entry for entry in json.loads((BUILD / "compile_commands.json").read_text())
                if entry["file"].endswith(".cc")]
    end = time.monotonic() + seconds
    running, done = [], 0
    while time.monotonic() < end:
        running = [process for process in running if process.poll() is None]
        while len(running) < os.cpu_count():
            entry = commands[done % len(commands)]
            words = entry["command"].split()
            words[words.index("-o") + 1] = "/dev/null"
            words = [word for word in words if "ccache" not in word and not word.startswith("CCACHE") and word != "env"]
            running.append(subprocess.Popen(words, cwd=entry["directory"], stdout=subprocess.DEVNULL,
                                            stderr=subprocess.DEVNULL))
            done += 1
        time.sleep(0.1)
    for process in running:
        process.kill()
        process.wait()
    return done


def bars_of(flame):
    """{path: (total, self)} of the bars of functions, of the form with levels."""
    paths, bars = [()], {}
    starts = [(0, flame["total"])]
    for level in flame["levels"]:
        at, new_paths, new_starts, parent = 0, [], [], 0
        for i in range(0, len(level), 4):
            gap, total, self_value, name = level[i:i + 4]
            begin = at + gap
            at = begin + total
            while not (starts[parent][0] <= begin and at <= starts[parent][1]):
                parent += 1
            module = flame["modules"][flame["name_modules"][name]]
            path = (*paths[parent], (flame["names"][name], flame["kinds"][name], module))
            new_paths.append(path)
            new_starts.append((begin, at))
            if flame["kinds"][name] != "5":
                bars[path] = (total, self_value)
        paths, starts = new_paths, new_starts
    return bars


def main():
    case = Case("soak.wide-build")
    case.need()
    if not shutil.which("chromium") or not shutil.which("npm"):
        case.skip("chromium and npm open the page: hack/bootstrap --tests installs them")
    seconds = int(sys.argv[1]) if len(sys.argv) > 1 else 600
    web = subprocess.run([ROOT / "tests/support/web/fetch-web"], capture_output=True, text=True, check=True).stdout.strip()
    with Daemon(window_seconds=60) as daemon:
        begin = time.time()
        case.figure("compiler runs", compile_for(seconds))
        end = time.time()
        answer, picture = daemon.work / "flame.json", daemon.work / "page.png"

        def draw(address):
            forget_peak(daemon.process)
            shown = subprocess.run(["node", WEB / "wide_page.mjs", address, answer, picture], capture_output=True,
                                   text=True,
                                   env={**os.environ, "FIRETOWER_WEB": web, "CHROMIUM": shutil.which("chromium")})
            case.check("the page draws", shown.returncode == 0, (shown.stdout + shown.stderr).strip())
            case.at_most("peak memory of the answer, MiB", peak_bytes(daemon.process) / MIB, MOST_BYTES / MIB)

        draw(daemon.url + "/")  # the default view
        if os.environ.get("FIRETOWER_KEEP"):
            shutil.copy(picture, os.environ["FIRETOWER_KEEP"])
        # A window counts whole, and the one at the end still grew: once more when it is closed.
        time.sleep(70)
        draw(f"{daemon.url}/?from={int(begin * 1000)}&to={int(end * 1000)}")
        page = json.loads(answer.read_text())
        command_file = daemon.work / "command.json"
        said = daemon.cli("flame", "--from", str(page["from_ms"]), "--to", str(page["to_ms"]), "-f", str(command_file))
        command = json.loads(command_file.read_text())
        case.figure("firetower flame says", said.stderr.strip() or "nothing")
        case.check("totals agree", page["total"] == command["total"], f"{page['total']} and {command['total']}")
        ours, theirs = bars_of(page), bars_of(command)
        both = ours.keys() & theirs.keys()
        differ = [path for path in both if ours[path][0] != theirs[path][0]]
        case.at_least("bars that both show", len(both), len(ours) * 0.99)
        case.check("each has the same value in both", not differ, differ[:3] or f"{len(both)} bars")
        case.figure("bars of the page, nodes it cut, largest that may be missing",
                    (len(ours), page["cut_nodes"], page.get("max_hidden")))
    case.finish()


if __name__ == "__main__":
    main()
