# SPDX-License-Identifier: Apache-2.0
"""S3 servers of others, and moto, each on a loopback port and a folder of its own."""

import contextlib
import hashlib
import html
import os
import pathlib
import re
import socket
import subprocess
import tempfile
import time
import urllib.parse

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


class Server:
    """A server on a port and a folder that stay the same when it is stopped and started again.

    `address` is of the network namespace whose file is `network`; `secret_key` may change between two starts. With a
    `certificate`, and its key, it speaks TLS; with a `domain` it takes BUCKET.DOMAIN for that bucket. `environment` goes
    beside what it needs."""

    def __init__(self, name, folder, work, address="127.0.0.1", network=None, secret_key=SECRET_KEY, certificate=None,
                 domain=None, environment=None):
        self.name, self.folder, self.work = name, folder, pathlib.Path(work)
        self.data, self.log, self.port = self.work / "data", self.work / "server.log", free_port()
        self.address, self.secret_key = address, secret_key
        self.inside = ["nsenter", f"--net={network}"] if network else []
        self.certificate, self.domain, self.environment = certificate, domain, environment or {}
        self.endpoint = f"{'https' if certificate else 'http'}://{address}:{self.port}"
        self.data.mkdir()
        self.process = None

    def start(self):
        command, environment = self._command()
        with self.log.open("a") as out:
            self.process = subprocess.Popen([str(part) for part in command], stdout=out, stderr=out, cwd=self.work,
                                            env={**os.environ, **environment, **self.environment})
        self._await_answer()

    def make_bucket(self, seconds=60):
        """By curl, so that the bucket is not of our own making; a server may need a moment to be ready."""
        end = time.monotonic() + seconds
        while True:
            done = self._curl("-X", "PUT", "--aws-sigv4", "aws:amz:us-east-1:s3", "-K", "-", f"{self.endpoint}/{BUCKET}",
                              "-H", f"x-amz-content-sha256: {hashlib.sha256().hexdigest()}",
                              text=f"user = {ACCESS_KEY}:{self.secret_key}\n")
            if done.stdout == "200":
                return
            if time.monotonic() > end:
                raise RuntimeError(f"no bucket on {self.endpoint}: {done.stdout} {done.stderr}")
            time.sleep(0.2)

    def put(self, key, path):
        """An object, of a file."""
        self._signed("-f", "-X", "PUT", "-T", path, "-H", "Expect:", f"{self.endpoint}/{BUCKET}/{key}",
                     digest=hashlib.sha256(pathlib.Path(path).read_bytes()))

    def keys(self, prefix):
        """Returns the keys that the server lists to curl below a prefix; at most a thousand."""
        told = self._signed(f"{self.endpoint}/{BUCKET}?list-type=2&prefix={urllib.parse.quote(prefix, safe='')}")
        if "ListBucketResult" not in told:
            raise RuntimeError(f"no listing: {told}")
        return [html.unescape(key) for key in re.findall("<Key>([^<]+)</Key>", told)]

    def headers(self, key):
        """Returns the headers that the server sends curl for an object, by their lower-case names."""
        told = self._signed("-I", f"{self.endpoint}/{BUCKET}/{urllib.parse.quote(key)}")
        if " 200" not in told.splitlines()[0]:
            raise RuntimeError(f"no object {key}: {told}")
        return {name.lower(): value for name, _, value in (line.partition(": ") for line in told.splitlines()[1:])}

    def uploads(self):
        """Uploads in parts that were begun and neither completed nor aborted, as the server lists them to curl."""
        told = self._signed(f"{self.endpoint}/{BUCKET}?uploads=")
        if "ListMultipartUploadsResult" not in told:
            raise RuntimeError(f"no list of uploads: {told}")
        return re.findall("<UploadId>([^<]+)</UploadId>", told)

    def temporary_credentials(self):
        """Access key, secret key and session token for an hour, by MinIO's STS."""
        body = "Action=AssumeRole&Version=2011-06-15&DurationSeconds=3600"
        told = self._signed("--data", body, self.endpoint, digest=hashlib.sha256(body.encode()), service="sts")
        found = [re.search(f"<{name}>([^<]+)</{name}>", told) for name in ("AccessKeyId", "SecretAccessKey", "SessionToken")]
        if None in found:
            raise RuntimeError(f"no credentials: {told}")
        return [one[1] for one in found]

    def _signed(self, *arguments, digest=hashlib.sha256(), service="s3"):
        """Returns the answer to a signed request of curl's."""
        return subprocess.run(
            [*self.inside, "curl", "-sSk", "--noproxy", "*", "--aws-sigv4", f"aws:amz:us-east-1:{service}", "-K", "-", "-H",
             f"x-amz-content-sha256: {digest.hexdigest()}", *map(str, arguments)],
            input=f"user = {ACCESS_KEY}:{self.secret_key}\n", capture_output=True, text=True, check=True).stdout

    def _command(self):
        where = f"{self.address}:{self.port}"
        if self.name == "versitygw":
            environment = {"ROOT_ACCESS_KEY": ACCESS_KEY, "ROOT_SECRET_KEY": self.secret_key}
            tls = ["--cert", self.certificate[0], "--key", self.certificate[1]] if self.certificate else []
            hosts = ["--virtual-domain", f"{self.domain}:{self.port}"] if self.domain else []
            return [*self.inside, self.folder / "versitygw", "--keep-alive", "--port", where, *tls, *hosts, "posix", self.data], environment
        if self.name == "minio":
            environment = {"MINIO_ROOT_USER": ACCESS_KEY, "MINIO_ROOT_PASSWORD": self.secret_key, "MINIO_UPDATE": "off"}
            addresses = ["--address", where, "--console-address", f"{self.address}:{free_port()}"]
            # Files of these names in a folder.
            tls = ["--certs-dir", pathlib.Path(self.certificate[0]).parent] if self.certificate else []
            environment |= {"MINIO_DOMAIN": self.domain} if self.domain else {}
            return [*self.inside, self.folder / "minio", "server", *addresses, *tls, self.data], environment
        return [*self.inside, self.folder / "bin" / "moto_server", "-H", self.address, "-p", str(self.port)], {}

    def _curl(self, *arguments, text=None):
        return subprocess.run([*self.inside, "curl", "-sSk", "-o", "/dev/null", "-w", "%{http_code}", "--noproxy", "*",
                               *arguments], input=text, capture_output=True, text=True, check=False)

    def _await_answer(self, seconds=60):
        end = time.monotonic() + seconds
        while time.monotonic() < end and self.process.poll() is None:
            if self._curl(self.endpoint).returncode == 0:
                return
            time.sleep(0.05)
        raise RuntimeError(f"{self.name} does not answer: {self.log.read_text()[-2000:]}")

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


@contextlib.contextmanager
def started(name, folder, **more):
    """A Server that runs; with a bucket where it is an S3 server."""
    with tempfile.TemporaryDirectory(prefix=f"firetower-{name}-") as work:
        server = Server(name, folder, work, **more)
        try:
            server.start()
            if name != "moto":
                server.make_bucket()
            yield server
        finally:
            if server.process is not None:
                server.stop()


@contextlib.contextmanager
def running(name, folder):
    """The endpoint of such a server."""
    with started(name, folder) as server:
        yield server.endpoint
