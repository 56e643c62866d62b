#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a command with FIRETOWER_TEST_KUBECONFIG naming a real API server of its own, and ends that.

with_api_server.py NAME COMMAND…    NAME is the test's
"""

import glob
import json
import os
import pathlib
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.request

NAME = sys.argv[1]
START_SECONDS = 90


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


def wait_for(path, process, log):
    """Until the server answers at `path`."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            sys.exit(f"{NAME}: kube-apiserver ended: {log.read_text()[-2000:]}")
        try:
            context = ssl._create_unverified_context()  # Only asked whether it is there.
            request = urllib.request.Request(path, headers={"Authorization": "Bearer admin-token"})
            with urllib.request.urlopen(request, context=context, timeout=2) as reply:
                if reply.status == 200:
                    return
        except OSError:
            pass
        time.sleep(0.1)
    sys.exit(f"{NAME}: kube-apiserver was not ready in {START_SECONDS} s: {log.read_text()[-2000:]}")


def forget(etcd):
    """Compacts etcd: versions of before are too old from now on, where no watch cache stands between (secrets)."""

    def ask(what, **question):
        request = urllib.request.Request(f"{etcd}/v3/kv/{what}", data=json.dumps(question).encode())
        with urllib.request.urlopen(request, timeout=10) as reply:
            return json.load(reply)

    revision = ask("range", key="AA==")["header"]["revision"]
    ask("compaction", revision=revision, physical=True)


def start(binaries, folder, processes):
    etcd_port, peer_port, port = free_ports(3)
    (folder / "pki").mkdir()
    subprocess.run(["openssl", "genrsa", "-out", folder / "pki/sa.key", "2048"], check=True, capture_output=True)
    (folder / "tokens.csv").write_text('admin-token,admin,1,"system:masters"\nnobody-token,nobody,2\n')

    def begin(name, *arguments):
        with open(folder / f"{name}.log", "w", encoding="utf-8") as log:
            processes.append(
                subprocess.Popen([f"{binaries}/{name}", *arguments], stdout=log, stderr=subprocess.STDOUT)
            )

    etcd, peer = f"http://127.0.0.1:{etcd_port}", f"http://127.0.0.1:{peer_port}"
    begin("etcd", "--data-dir", f"{folder}/etcd", "--unsafe-no-fsync", "--log-level=error",
          f"--listen-client-urls={etcd}", f"--advertise-client-urls={etcd}", f"--listen-peer-urls={peer}",
          f"--initial-advertise-peer-urls={peer}", f"--initial-cluster=default={peer}")
    begin("kube-apiserver", f"--etcd-servers={etcd}", "--bind-address=127.0.0.1", "--advertise-address=127.0.0.1",
          f"--secure-port={port}", f"--cert-dir={folder}/pki", "--service-cluster-ip-range=10.214.0.0/24",
          f"--token-auth-file={folder}/tokens.csv", f"--service-account-key-file={folder}/pki/sa.key",
          f"--service-account-signing-key-file={folder}/pki/sa.key", "--authorization-mode=RBAC",
          "--watch-cache-sizes=secrets#0",
          "--service-account-issuer=https://kubernetes.default.svc", "--disable-admission-plugins=ServiceAccount")
    # Ready does not say that the namespace is there.
    for path in ("/readyz", "/api/v1/namespaces/default"):
        wait_for(f"https://127.0.0.1:{port}{path}", processes[-1], folder / "kube-apiserver.log")
    forget(etcd)
    kubeconfig = folder / "kubeconfig"
    kubeconfig.write_text(
        f"""apiVersion: v1
kind: Config
clusters: [{{name: c, cluster: {{server: "https://127.0.0.1:{port}", certificate-authority: pki/apiserver.crt}}}}]
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
    return kubeconfig


def main():
    binaries = find_binaries()
    if binaries is None:
        print(f"SKIP {NAME}: no etcd and kube-apiserver: set KUBEBUILDER_ASSETS to a folder that holds them")
        return 77
    folder = pathlib.Path(tempfile.mkdtemp(prefix="firetower-api-server-"))
    processes = []
    try:
        kubeconfig = start(binaries, folder, processes)
        environment = {**os.environ, "FIRETOWER_TEST_KUBECONFIG": str(kubeconfig),
                       "FIRETOWER_TEST_BINARIES": binaries}
        return subprocess.run(sys.argv[2:], env=environment, check=False).returncode
    finally:
        for process in reversed(processes):
            process.terminate()
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
