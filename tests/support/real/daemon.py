# SPDX-License-Identifier: Apache-2.0
"""Starts, asks and stops a real firetowerd."""

import contextlib
import os
import pathlib
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

from metrics import Metrics
import pprof

ROOT = pathlib.Path(__file__).resolve().parents[3]
BUILD = pathlib.Path(os.environ.get("FIRETOWER_BUILD", ROOT / "build" / "dev"))
BIN = BUILD / "bin"
TOYS = BUILD / "toys"


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Daemon:
    """A firetowerd of its own, with its own port, store and log. Use it in a `with`. In a cluster it is asked with `token`,
    the administrator's by default; a path is that of a file with one. `authority`: a file, with which it is asked by TLS."""

    def __init__(self, *flags, window_seconds=10, slice_milliseconds=500, prefix=(), work=None, ready_seconds=60,
                 store_url=None, standalone=True, token="admin-token", authority=None):
        self.work = pathlib.Path(work or tempfile.mkdtemp(prefix="firetower-e2e-"))
        self.owns_work = work is None
        self.store = self.work / "store"
        self.store.mkdir(parents=True, exist_ok=True)
        self.log_path = self.work / "firetowerd.log"
        self.port = free_port()
        self.url = f"{'https' if authority else 'http'}://127.0.0.1:{self.port}"
        self.context = ssl.create_default_context(cafile=authority) if authority else None
        self.ready_seconds = ready_seconds
        self.token = "" if standalone else token
        self.process = None
        self.command = [*map(str, prefix), str(BIN / "firetowerd"), f"--standalone={str(standalone).lower()}",
                        "--listen", f"127.0.0.1:{self.port}", "--store", store_url or f"file://{self.store}",
                        "--window-seconds", str(window_seconds),
                        "--slice-milliseconds", str(slice_milliseconds), *map(str, flags)]

    def launch(self):
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        return self

    def start(self):
        self.launch()
        end = time.monotonic() + self.ready_seconds
        while not self.answers("/readyz"):
            if self.process.poll() is not None:
                raise RuntimeError(f"firetowerd left with {self.process.returncode}:\n{self.log()}")
            if time.monotonic() > end:
                raise RuntimeError(f"firetowerd is not ready after {self.ready_seconds} s:\n{self.log()}")
            time.sleep(0.05)
        return self

    def answers(self, path):
        try:
            return self.fetch(path) is not None
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            return False

    def bearer(self):
        return self.token.read_text() if isinstance(self.token, pathlib.Path) else self.token

    def fetch(self, path, timeout=30):
        headers = {"Authorization": f"Bearer {self.bearer()}"} if self.token else {}
        request = urllib.request.Request(self.url + path, headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=timeout, context=getattr(self, "context", None)) as answer:
                return answer.read()
        except ConnectionError as error:
            # A daemon that has just died leaves its status a moment later.
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(1)
            status = self.process.poll()
            state = "still runs" if status is None else f"left with {status}"
            error.args = (f"{error}: {path}; firetowerd {state}; the end of its log:\n{self.log()[-3000:]}",)
            raise

    def metrics(self):
        return Metrics(self.fetch("/metrics").decode())

    def log(self):
        return self.log_path.read_text(errors="replace") if self.log_path.exists() else ""

    def perf_events(self):
        """Descriptors of perf events that it holds, by the kernel's account."""
        count = 0
        for fd in pathlib.Path(f"/proc/{self.process.pid}/fd").iterdir():
            try:
                count += os.readlink(fd) == "anon_inode:[perf_event]"
            except FileNotFoundError:
                pass  # closed meanwhile
        return count

    def cli(self, *arguments, check=True, text=True):
        done = subprocess.run([str(BIN / "firetower"), "--server", self.url, *arguments],
                              capture_output=True, text=text, timeout=60,
                              env={**os.environ, "FIRETOWER_TOKEN": self.bearer()})
        if check and done.returncode != 0:
            raise RuntimeError(f"firetower {arguments} left with {done.returncode}: {done.stderr}")
        return done

    def profile(self, selector, since="10m", kind="cpu"):
        """The merged profile of a selector and a type, over store and open window; empty if there is none."""
        done = self.cli("get", selector, "--since", since, "--type", kind, "-o", "pprof", check=False, text=False)
        return pprof.parse(done.stdout) if done.returncode == 0 and done.stdout else pprof.Profile()

    def stop(self, how=signal.SIGTERM, timeout=60):
        """Stops it and returns (exit status, seconds it took)."""
        before = time.monotonic()
        if self.process.poll() is None:
            self.process.send_signal(how)
        try:
            self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        return self.process.returncode, time.monotonic() - before

    def __enter__(self):
        return self.start()

    def __exit__(self, kind, error, trace):
        self.stop()
        if kind is not None:
            print(f"--- the end of {self.log_path}\n{self.log()[-4000:]}", file=sys.stderr)
        if self.owns_work:
            shutil.rmtree(self.work, ignore_errors=True)
