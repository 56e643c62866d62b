# SPDX-License-Identifier: Apache-2.0
"""Receivers of others, each on a loopback port, and what they were sent, in one form for both."""

import contextlib
import json
import pathlib
import socket
import subprocess
import tempfile
import time

_BUILD = pathlib.Path(__file__).resolve().parent / "build-receivers"


def built(name):
    """The receiver's program, built if it has not been yet (minutes), or None and why where that cannot be."""
    done = subprocess.run([_BUILD, name], capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return pathlib.Path(done.stdout.splitlines()[-1], name), ""
    return None, " ".join(done.stderr.split())[-300:]


class Receiver:
    def __init__(self, url, out):
        self.url = url
        self._out = out

    def lines(self):
        return [json.loads(line) for line in self._out.read_text().splitlines()]


@contextlib.contextmanager
def running(name, program, unavailable=0):
    with tempfile.TemporaryDirectory(prefix=f"firetower-{name}-") as work:
        out, log = pathlib.Path(work, "out"), pathlib.Path(work, "log")
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        with out.open("w") as written, log.open("w") as told:
            process = subprocess.Popen([str(program), "-listen", f"127.0.0.1:{port}", "-unavailable", str(unavailable)],
                                       stdout=written, stderr=told)
        try:
            _await_port(port, process, log)
            yield Receiver(f"{name}+http://127.0.0.1:{port}?proxy=none", out)
        finally:
            process.kill()
            process.wait()


def _await_port(port, process, log, seconds=60):
    end = time.monotonic() + seconds
    while time.monotonic() < end and process.poll() is None:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.05)
    raise RuntimeError(f"{process.args[0]} does not listen: {log.read_text()[-2000:]}")


class Otlp:
    """One request in OTLP/JSON (opentelemetry-proto), with indices resolved. int64 values are strings there."""

    def __init__(self, request):
        self.request = request
        self.tables = request["dictionary"]

    def text(self, index):
        return self.tables["stringTable"][int(index)]

    def value(self, one):
        """Returns an AnyValue; a text may stand in the table of texts, where the Collector puts it."""
        (kind, value), = one.items()
        return self.text(value) if kind == "stringValueStrindex" else value

    def value_type(self, one):
        return f"{self.text(one.get('typeStrindex', 0))}/{self.text(one.get('unitStrindex', 0))}"

    def attributes(self, indices):
        found = {}
        for index in indices:
            one = self.tables["attributeTable"][index]
            found[self.text(one.get("keyStrindex", 0))] = self.value(one["value"])
        return found

    def locations(self, sample):
        stack = self.tables["stackTable"][sample.get("stackIndex", 0)]
        return [self.tables["locationTable"][index] for index in stack.get("locationIndices", [])]

    def names(self, sample):
        """Leaf first."""
        functions = self.tables["functionTable"]
        return [self.text(functions[line["functionIndex"]]["nameStrindex"])
                for location in self.locations(sample) for line in location.get("lines", [])]

    def profiles(self):
        """(resource attributes, profile) of each."""
        for resource in self.request["resourceProfiles"]:
            attributes = {one.get("key") or self.text(one["keyStrindex"]): self.value(one["value"])
                          for one in resource["resource"].get("attributes", [])}
            for scope in resource["scopeProfiles"]:
                for profile in scope.get("profiles", []):
                    yield attributes, profile
