# SPDX-License-Identifier: Apache-2.0
"""A whole Kubernetes with a kubelet and real pods, and ways to disturb how the daemon sees it."""

import base64
import ctypes
import json
import os
import pathlib
import queue
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

from case import run

HERE = pathlib.Path(__file__).resolve().parent
PROGRAMS = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubelet", "kube-proxy", "kubectl")
NETWORK = "/run/netns/firetower-cluster"
SERVER = ("10.213.0.1", 6443)
ETCD = ("127.0.0.1", 2379)
AGENT_IMAGE = "firetower.test/firetower:1"


def find_binaries():
    """The folder with all of Kubernetes' programs, or None."""
    cached = sorted(pathlib.Path("~/.cache/firetower-tests/kubernetes").expanduser().glob("*"))
    for folder in [os.environ.get("KUBEBUILDER_ASSETS", "")] + [str(path) for path in cached[::-1]]:
        if folder and all(os.access(f"{folder}/{name}", os.X_OK) for name in PROGRAMS):
            return folder
    return None


class Cluster:
    """One node, node-1. Use it in a `with`. With a `cgroup_root` ("/name") its pods stand below that, so that tests with
    containers of their own may run beside it."""

    def __init__(self, case, cgroup_root=""):
        self.cgroup_root = cgroup_root
        case.need("containerd", "runc", "iptables", "conntrack", "nsenter", "ip", "openssl", "cc")
        self.binaries = find_binaries()
        if self.binaries is None:
            case.skip("no kubelet and all the rest of Kubernetes: tests/support/kubernetes/build-kubernetes, or set "
                      "KUBEBUILDER_ASSETS")
        if not os.path.exists("/usr/lib/cni/bridge"):
            case.skip("containernetworking-plugins is not installed")
        if os.path.exists(NETWORK):
            case.skip("another cluster runs here")
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="firetower-cluster-"))

    def script(self, verb, *arguments, timeout=300):
        # Not captured by pipes: its servers would hold them open.
        with open(self.folder.with_suffix(".log"), "ab") as log:
            done = subprocess.run([HERE / "cluster", verb, self.folder, *map(str, arguments)], stdout=log, stderr=log,
                                  stdin=subprocess.DEVNULL, timeout=timeout, check=False,
                                  env={**os.environ, "KUBEBUILDER_ASSETS": self.binaries,
                                       "CGROUP_ROOT": self.cgroup_root})
        if done.returncode != 0:
            raise RuntimeError(f"cluster {verb}: {self.folder.with_suffix('.log').read_text()[-3000:]}")

    def kubectl(self, *arguments, text=None, check=True):
        return run("nsenter", f"--net={NETWORK}", f"{self.binaries}/kubectl", "--kubeconfig",
                   self.folder / "kubeconfig", *arguments, input=text, check=check, timeout=120).stdout

    def apply(self, *objects):
        self.kubectl("apply", "-f", "-", text=json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))

    def namespace(self, name):
        """Ready for pods: the API server refuses them until the controller manager has made their account."""
        self.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
        wait_for(lambda: self.kubectl("-n", name, "get", "serviceaccount", "default", check=False), 30)

    def forget(self):
        """Compacts etcd: no watch goes on from a version of before."""
        revision = self._etcd("range", {"key": "AA=="})["header"]["revision"]
        self._etcd("compaction", {"revision": revision, "physical": True})

    def remove_behind(self, key):
        """An object's record alone, as no API server would remove it."""
        encoded = base64.b64encode(f"/registry/{key}".encode()).decode()
        return int(self._etcd("deleterange", {"key": encoded}).get("deleted", 0))

    def _etcd(self, what, question):
        path = f"http://127.0.0.1:{Proxy(ETCD).port}/v3/kv/{what}"
        with urllib.request.urlopen(path, json.dumps(question).encode(), timeout=10) as reply:
            return json.load(reply)

    def pods(self, namespace, *arguments):
        return json.loads(self.kubectl("-n", namespace, "get", "pods", "-o", "json", *arguments))["items"]

    def image(self, name, program):
        """An image that holds one static program and runs it."""
        root = pathlib.Path(tempfile.mkdtemp(prefix="firetower-image-"))
        shutil.copy(program, root / "program")
        self.script("image", name, root, "/program")
        shutil.rmtree(root)

    def agent_image(self, build):
        """Our own image, of the programs of a build."""
        archive = self.folder / "firetower.tar"
        run(sys.executable, HERE.parents[2] / "hack/image", "--build", build, "-o", archive, AGENT_IMAGE, timeout=120)
        self.script("load", archive)
        archive.unlink()

    def manifest(self, name, *arguments):
        """The objects of one of our manifests, with an image that no registry has, a store of this cluster and more
        arguments for our programs."""
        import yaml

        objects = [one for one in yaml.safe_load_all((HERE.parents[2] / "k8s/manifests" / name).read_text()) if one]
        for one in objects:
            spec = one.get("spec", {}).get("template", {}).get("spec", {})
            for container in spec.get("containers", []):
                container.update(image=AGENT_IMAGE, imagePullPolicy="Never")
                container.setdefault("args", []).extend(arguments)
            for volume in spec.get("volumes", []):
                if volume.get("hostPath", {}).get("path") == "/var/lib/firetower":
                    volume["hostPath"]["path"] = str(self.folder / "firetower")
        return objects

    def install(self, *arguments, change=lambda objects: objects):
        """CRDs, rights and the DaemonSet, as `change` leaves its objects; waits for its pod and returns that."""
        self.agent_image(os.environ.get("FIRETOWER_BUILD", HERE.parents[2] / "build/dev"))
        for definition in sorted((HERE.parents[2] / "crd").glob("firetower.dev_*.yaml")):
            self.kubectl("apply", "-f", definition)
        self.kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=30s")
        for name in ("00-namespace.yaml", "agent-rbac.yaml", "own-node.yaml", "flow-schema.yaml"):
            self.apply(*self.manifest(name))
        self.apply(*change(self.manifest("agent.yaml", *arguments)))
        return self.agent_pod()

    def agent_pod(self, but=""):
        """The DaemonSet's pod once it is ready; not the one named."""

        def ready():
            for pod in self.pods("firetower", "-l", "app.kubernetes.io/component=agent"):
                conditions = {one["type"]: one["status"] for one in pod["status"].get("conditions", [])}
                if pod["metadata"]["name"] != but and conditions.get("Ready") == "True":
                    return pod
            return None

        try:
            return wait_for(ready, 90)
        except TimeoutError:
            told = self.kubectl("-n", "firetower", "describe", "pods")
            logs = self.kubectl("-n", "firetower", "logs", "-l", "app.kubernetes.io/component=agent", "--tail=50",
                                check=False)
            raise RuntimeError(f"the agent's pod is not ready: {told}\n{logs}") from None

    def __enter__(self):
        try:
            self.script("up")
        except BaseException:
            self.script("down")
            raise
        return self

    def __exit__(self, *_):
        self.script("down")
        self.folder.with_suffix(".log").unlink()


def wait_for(what, seconds=60, every=0.2):
    """Waits until `what` answers with something true, and returns that."""
    deadline = time.monotonic() + seconds
    while True:
        found = what()
        if found:
            return found
        if time.monotonic() > deadline:
            raise TimeoutError(f"nothing in {seconds} s")
        time.sleep(every)


class Proxy:
    """From a port of this machine to a server in the cluster, its API server unless another is named; what that says
    may come late, or not at all."""

    def __init__(self, server=SERVER):
        self.server = server
        self.delay_seconds = 0.0
        self.closed = False
        self.connections = 0  # that were asked for, whether or not they came about
        self._sockets = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._wanted = queue.Queue()
        # A thread's network namespace is its own: the sockets it makes belong to the cluster's.
        threading.Thread(target=self._connect, daemon=True).start()
        threading.Thread(target=self._accept, daemon=True).start()

    def kubeconfig(self, folder, name="proxied", token="admin-token"):
        path = pathlib.Path(folder) / f"{name}.kubeconfig"
        path.write_text(f"""clusters: [{{name: c, cluster: {{server: "https://127.0.0.1:{self.port}", insecure-skip-tls-verify: true}}}}]
users: [{{name: one, user: {{token: "{token}"}}}}]
contexts: [{{name: c, context: {{cluster: c, user: one}}}}]
current-context: c
""")
        return path

    def close(self):
        """The server is away: connections break, and new ones are not answered."""
        self.closed = True
        for one in self._sockets:
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def open(self):
        self.closed = False

    def _connect(self):
        with open(NETWORK, "rb") as network:
            if ctypes.CDLL(None, use_errno=True).setns(network.fileno(), 0) != 0:
                raise OSError(ctypes.get_errno(), "setns")
        while True:
            client = self._wanted.get()
            try:
                server = socket.create_connection(self.server)
            except OSError:
                client.close()
                continue
            self._sockets += [client, server]
            threading.Thread(target=self._copy, args=(client, server), daemon=True).start()
            threading.Thread(target=self._copy_late, args=(server, client), daemon=True).start()

    def _accept(self):
        while True:
            client, _ = self._listener.accept()
            self.connections += 1
            if self.closed:
                client.close()
            else:
                self._wanted.put(client)

    @staticmethod
    def _copy(source, sink):
        try:
            while data := source.recv(65536):
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def _copy_late(self, source, sink):
        """Every byte waits `delay_seconds`, as that was when it came, and keeps its place."""
        waiting = queue.Queue()

        def deliver():
            try:
                while True:
                    due, data = waiting.get()
                    time.sleep(max(0.0, due - time.monotonic()))
                    if not data:
                        sink.shutdown(socket.SHUT_WR)
                        return
                    sink.sendall(data)
            except OSError:
                pass

        threading.Thread(target=deliver, daemon=True).start()
        try:
            while data := source.recv(65536):
                waiting.put((time.monotonic() + self.delay_seconds, data))
        except OSError:
            pass
        waiting.put((time.monotonic(), b""))
