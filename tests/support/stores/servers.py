# SPDX-License-Identifier: Apache-2.0
"""S3 servers of others, and moto, each on a loopback port and a folder of its own."""

import contextlib
import os
import pathlib
import socket
import subprocess
import tempfile
import time

ACCESS_KEY = "firetower-test-key"
SECRET_KEY = "firetower-test-secret"
BUCKET = "profiles"

_BUILD = pathlib.Path(__file__).resolve().parent / "build-stores"


def built(name):
    """The folder of a server, built if it has not been yet (minutes), or None and why where that cannot be."""
    done = subprocess.run([_BUILD, name], capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return pathlib.Path(done.stdout.splitlines()[-1]), ""
    return None, " ".join(done.stderr.split())[-300:]


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _command(name, folder, port, data):
    if name == "versitygw":
        environment = {"ROOT_ACCESS_KEY": ACCESS_KEY, "ROOT_SECRET_KEY": SECRET_KEY}
        return [folder / "versitygw", "--keep-alive", "--port", f"127.0.0.1:{port}", "posix", data], environment
    if name == "minio":
        environment = {"MINIO_ROOT_USER": ACCESS_KEY, "MINIO_ROOT_PASSWORD": SECRET_KEY, "MINIO_UPDATE": "off"}
        addresses = ["--address", f"127.0.0.1:{port}", "--console-address", f"127.0.0.1:{free_port()}"]
        return [folder / "minio", "server", *addresses, data], environment
    return [folder / "bin" / "moto_server", "-H", "127.0.0.1", "-p", str(port)], {}


def _await_port(port, process, log, seconds=60):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if process.poll() is not None:
            break
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.05)
    raise RuntimeError(f"{process.args[0]} does not listen: {log.read_text()[-2000:]}")


def make_bucket(endpoint, seconds=60):
    """By curl, so that the bucket is not of our own making; a server may need a moment to be ready."""
    command = ["curl", "-sS", "-o", "/dev/null", "-w", "%{http_code}", "--noproxy", "*", "-X", "PUT",
               "--aws-sigv4", "aws:amz:us-east-1:s3", "--user", f"{ACCESS_KEY}:{SECRET_KEY}", f"{endpoint}/{BUCKET}",
               "-H", "x-amz-content-sha256: e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"]
    end = time.monotonic() + seconds
    while True:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.stdout == "200":
            return
        if time.monotonic() > end:
            raise RuntimeError(f"no bucket on {endpoint}: {done.stdout} {done.stderr}")
        time.sleep(0.2)


class Server:
    """A server on a port and a folder that stay the same when it is stopped and started again."""

    def __init__(self, name, folder, work):
        self.name, self.folder, self.work = name, folder, pathlib.Path(work)
        self.data, self.log, self.port = self.work / "data", self.work / "server.log", free_port()
        self.endpoint = f"http://127.0.0.1:{self.port}"
        self.data.mkdir()
        self.process = None

    def start(self):
        command, environment = _command(self.name, self.folder, self.port, self.data)
        with self.log.open("a") as out:
            self.process = subprocess.Popen([str(part) for part in command], stdout=out, stderr=out, cwd=self.work,
                                            env={**os.environ, **environment})
        _await_port(self.port, self.process, self.log)

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


@contextlib.contextmanager
def started(name, folder):
    """A Server that runs; with a bucket where it is an S3 server."""
    with tempfile.TemporaryDirectory(prefix=f"firetower-{name}-") as work:
        server = Server(name, folder, work)
        try:
            server.start()
            if name != "moto":
                make_bucket(server.endpoint)
            yield server
        finally:
            if server.process is not None:
                server.stop()


@contextlib.contextmanager
def running(name, folder):
    """The endpoint of such a server."""
    with started(name, folder) as server:
        yield server.endpoint
