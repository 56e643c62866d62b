# SPDX-License-Identifier: Apache-2.0
"""A real kube-apiserver and its etcd, without a node; it can be killed and come again."""

import base64
import glob
import json
import os
import pathlib
import shutil
import socket
import ssl
import subprocess
import tempfile
import time
import urllib.request

START_SECONDS = 90
# Ready does not say that the namespace is there.
STARTED_PATHS = ("/readyz", "/api/v1/namespaces/default")


def find_binaries():
    """The folder with etcd and kube-apiserver, or None."""
    cached = sorted(glob.glob(os.path.expanduser("~/.cache/firetower-tests/kubernetes/*")))
    for folder in [os.environ.get("KUBEBUILDER_ASSETS", "")] + cached[::-1]:
        if folder and all(os.access(f"{folder}/{name}", os.X_OK) for name in ("etcd", "kube-apiserver")):
            return folder
    return None


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


class ApiServer:
    """Ready when a `with` begins; `kubeconfig` has the users admin, nobody (without a right) and stranger (wrong token)."""

    def __init__(self, binaries):
        self.binaries = binaries
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="firetower-api-server-"))
        self.kubeconfig = self.folder / "kubeconfig"
        self.etcd_port, self.peer_port, self.port = free_ports(3)
        self.etcd = f"http://127.0.0.1:{self.etcd_port}"
        self._processes = {}

    def __enter__(self):
        try:
            self._prepare()
            self._begin_etcd()
            self.again()
            self.forget()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for process in reversed(self._processes.values()):
            process.terminate()
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def crash(self):
        process = self._processes.pop("kube-apiserver")
        process.kill()
        process.wait()

    def again(self):
        """Starts the API server, as it was before if it was, and waits until it is ready."""
        folder = self.folder
        self._begin(
            "kube-apiserver", f"--etcd-servers={self.etcd}", "--bind-address=127.0.0.1", "--advertise-address=127.0.0.1",
            f"--secure-port={self.port}", f"--cert-dir={folder}/pki", "--service-cluster-ip-range=10.214.0.0/24",
            f"--token-auth-file={folder}/tokens.csv", f"--service-account-key-file={folder}/pki/sa.key",
            f"--service-account-signing-key-file={folder}/pki/sa.key", "--authorization-mode=RBAC",
            "--watch-cache-sizes=secrets#0",
            "--service-account-issuer=https://kubernetes.default.svc", "--disable-admission-plugins=ServiceAccount")
        for path in STARTED_PATHS:
            self._wait_for(path)

    def forget(self):
        """Compacts etcd: versions of before are too old from now on, where no watch cache stands between (secrets)."""
        revision = self._ask("range", key="AA==")["header"]["revision"]
        self._ask("compaction", revision=revision, physical=True)

    def remove_behind(self, key):
        """An object's record alone, as no API server would remove it; how many there were."""
        encoded = base64.b64encode(f"/registry/{key}".encode()).decode()
        return int(self._ask("deleterange", key=encoded).get("deleted", 0))

    def _ask(self, what, **question):
        request = urllib.request.Request(f"{self.etcd}/v3/kv/{what}", data=json.dumps(question).encode())
        with urllib.request.urlopen(request, timeout=10) as reply:
            return json.load(reply)

    def _begin(self, name, *arguments):
        with open(self.folder / f"{name}.log", "w", encoding="utf-8") as log:
            self._processes[name] = subprocess.Popen([f"{self.binaries}/{name}", *arguments], stdout=log,
                                                     stderr=subprocess.STDOUT)

    def _begin_etcd(self):
        peer = f"http://127.0.0.1:{self.peer_port}"
        self._begin("etcd", "--data-dir", f"{self.folder}/etcd", "--unsafe-no-fsync", "--log-level=error",
                    f"--listen-client-urls={self.etcd}", f"--advertise-client-urls={self.etcd}",
                    f"--listen-peer-urls={peer}", f"--initial-advertise-peer-urls={peer}",
                    f"--initial-cluster=default={peer}")

    def _wait_for(self, path):
        """Until the server answers at `path`."""
        process, log = self._processes["kube-apiserver"], self.folder / "kube-apiserver.log"
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            if process.poll() is not None:
                raise RuntimeError(f"kube-apiserver ended: {log.read_text()[-2000:]}")
            try:
                context = ssl._create_unverified_context()  # Only asked whether it is there.
                request = urllib.request.Request(f"https://127.0.0.1:{self.port}{path}",
                                                 headers={"Authorization": "Bearer admin-token"})
                with urllib.request.urlopen(request, context=context, timeout=2) as reply:
                    if reply.status == 200:
                        return
            except OSError:
                pass
            time.sleep(0.1)
        raise RuntimeError(f"kube-apiserver was not ready in {START_SECONDS} s: {log.read_text()[-2000:]}")

    def _prepare(self):
        (self.folder / "pki").mkdir()
        subprocess.run(["openssl", "genrsa", "-out", self.folder / "pki/sa.key", "2048"], check=True, capture_output=True)
        (self.folder / "tokens.csv").write_text('admin-token,admin,1,"system:masters"\nnobody-token,nobody,2\n')
        self.kubeconfig.write_text(
            f"""apiVersion: v1
kind: Config
clusters: [{{name: c, cluster: {{server: "https://127.0.0.1:{self.port}", certificate-authority: pki/apiserver.crt}}}}]
users:
- {{name: admin, user: {{token: admin-token}}}}
- {{name: nobody, user: {{token: nobody-token}}}}
- {{name: stranger, user: {{token: wrong}}}}
contexts:
- {{name: admin, context: {{cluster: c, user: admin}}}}
- {{name: nobody, context: {{cluster: c, user: nobody}}}}
- {{name: stranger, context: {{cluster: c, user: stranger}}}}
current-context: admin
""",
            encoding="utf-8",
        )
