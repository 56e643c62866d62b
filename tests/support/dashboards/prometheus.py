# SPDX-License-Identifier: Apache-2.0
"""A Prometheus of one's own that scrapes every second."""

import json
import math
import pathlib
import re
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

from daemon import free_port

CONFIG = """
global: {{scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 2s}}
rule_files: [{rules}]
scrape_configs:
{jobs}"""
# Job as the page on dashboards wants it: the labels that the target gives stay.
JOB = '- {{job_name: {name}, honor_labels: true, static_configs: [{{targets: {targets}}}]{more}}}\n'


class Prometheus:
    """Scrapes each of `targets`, a job's name to its ports, by the rules of `rules`. Use it in a `with`. `past`: what it has
    from the start, as OpenMetrics with times; `flags`: more of its own; `jobs`: more of a job's configuration, by its name."""

    def __init__(self, targets, rules, past="", flags=(), jobs=None):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="firetower-prometheus-"))
        self.port = free_port()
        more = {
            name: "".join(f", {key}: {json.dumps(value)}" for key, value in one.items())
            for name, one in (jobs or {}).items()
        }
        told = "".join(
            JOB.format(
                name=name,
                targets=json.dumps([f"127.0.0.1:{port}" for port in ports]),
                more=more.get(name, ""),
            )
            for name, ports in targets.items()
        )
        config = CONFIG.format(rules=", ".join(json.dumps(str(path)) for path in rules), jobs=told)
        # The thresholds' times are of minutes, and so are the rules' ranges: nothing else of them matters here.
        (self.folder / "prometheus.yml").write_text(config, encoding="utf-8")
        self.past, self.flags = past, flags
        self.log_path = self.folder / "log"
        self.process = None

    def _write_past(self):
        (self.folder / "past").write_text(self.past, encoding="utf-8")
        promtool = ["promtool", "tsdb", "create-blocks-from", "openmetrics"]
        files = [self.folder / "past", self.folder / "data"]
        subprocess.run([*promtool, *files], capture_output=True, timeout=120, check=True)

    def __enter__(self):
        if self.past:
            self._write_past()
        with open(self.log_path, "wb") as log:
            self.process = subprocess.Popen(
                [
                    "prometheus",
                    f"--config.file={self.folder}/prometheus.yml",
                    f"--storage.tsdb.path={self.folder}/data",
                    f"--web.listen-address=127.0.0.1:{self.port}",
                    *self.flags,
                ],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        end = time.monotonic() + 60
        while not self._is_ready():
            if self.process.poll() is not None or time.monotonic() > end:
                self.__exit__()
                raise RuntimeError(f"Prometheus is not ready: {self.log[-2000:]}")
            time.sleep(0.1)
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log = self.log_path.read_text(encoding="utf-8", errors="replace")
        shutil.rmtree(self.folder, ignore_errors=True)

    def _is_ready(self):
        try:
            with urllib.request.urlopen(
                f"http://127.0.0.1:{self.port}/-/ready", timeout=5
            ) as reply:
                return reply.status == 200
        except OSError:
            return False

    def ask(self, path, **params):
        """The answer's data; RuntimeError with what Prometheus says where it refuses."""
        url = f"http://127.0.0.1:{self.port}/api/v1/{path}?{urllib.parse.urlencode(params)}"
        try:
            with urllib.request.urlopen(url, timeout=30) as reply:
                return json.load(reply)["data"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(json.load(error).get("error", str(error))) from error

    def families(self):
        """The names of series that targets told of, there or not; OpenMetrics has a family's without what its type adds."""
        names = set()
        for name, kinds in self.ask("metadata").items():
            parts = {
                "counter": ("total",),
                "info": ("info",),
                "histogram": ("bucket", "sum", "count"),
            }
            names |= {name, *(f"{name}_{part}" for part in parts.get(kinds[0]["type"], ()))}
        return names

    def values(self, expr, instant, seconds):
        """(labels, value) of each series that has a number, over the last `seconds`, or now."""
        now = time.time()
        if instant:
            return [
                (one["metric"], float(one["value"][1]))
                for one in self.ask("query", query=expr, time=now)["result"]
                if math.isfinite(float(one["value"][1]))
            ]
        found = self.ask("query_range", query=expr, start=now - seconds, end=now, step=2)["result"]
        numbers = [(one["metric"], [float(value) for _, value in one["values"]]) for one in found]
        return [
            (labels, [value for value in values if math.isfinite(value)][-1])
            for labels, values in numbers
            if any(map(math.isfinite, values))
        ]

    def label_values(self, selector, label):
        now = time.time()
        return self.ask(
            f"label/{label}/values", **{"match[]": selector, "start": now - 3600, "end": now}
        )

    def choices(self, definition, values):
        """Returns the choices of a dashboard's variable: `label_values(SELECTOR, LABEL)` as Grafana asks it."""
        selector, label = re.fullmatch(r"label_values\((.*), (\w+)\)", definition).groups()
        return self.label_values(values(selector), label)
