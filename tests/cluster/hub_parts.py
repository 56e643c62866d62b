# SPDX-License-Identifier: Apache-2.0
"""A firetower-hub of one's own, the accounts of hub and agents, and what a test says to a cluster about policies."""

import json
import os
import pathlib
import re
import signal
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support" / "real"))
sys.dont_write_bytecode = True

import kube as api
from daemon import BIN, free_port

SHOP = f"{api.GROUP}/namespaces/shop/profilingpolicies"
NODES = f"{api.GROUP}/profilingnodes"
LEASE = "/apis/coordination.k8s.io/v1/namespaces/firetower/leases/firetower-hub"


def install(kube):
    api.install_definitions(kube)
    for name in ("firetower", "shop"):
        kube.create("/api/v1/namespaces", {"metadata": {"name": name}})
    for name in ("agent-rbac", "hub-rbac", "own-node"):
        api.install_manifest(kube, f"k8s/manifests/{name}.yaml")


def account_token(kube, account, bound=None):
    spec = {"expirationSeconds": 3600, **({"boundObjectRef": bound} if bound else {})}
    made = kube.create(f"/api/v1/namespaces/firetower/serviceaccounts/{account}/token", {
        "apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec})
    return made.body["status"]["token"]


def agent_token(kube, node):
    """Returns the token of the agent's pod on that node, as the kubelet asks for it."""
    pod = kube.create("/api/v1/namespaces/firetower/pods", {
        "metadata": {"name": f"agent-{node}"},
        "spec": {"nodeName": node, "serviceAccountName": "firetower-agent",
                 "containers": [{"name": "agent", "image": "none"}]}}).body["metadata"]
    return account_token(kube, "firetower-agent",
                         {"apiVersion": "v1", "kind": "Pod", "name": pod["name"], "uid": pod["uid"]})


def kubeconfig(kube, folder, name, token):
    path = pathlib.Path(folder) / f"{name}.kubeconfig"
    path.write_text(f"""clusters: [{{name: c, cluster: {{server: "{kube.server.geturl()}", certificate-authority: "{kube.authority}"}}}}]
users: [{{name: u, user: {{token: "{token}"}}}}]
contexts: [{{name: c, context: {{cluster: c, user: u, namespace: firetower}}}}]
current-context: c
""")
    return path


def kubectl(*arguments, text=None, check=True):
    done = subprocess.run(
        [f"{os.environ['FIRETOWER_TEST_BINARIES']}/kubectl", "--kubeconfig", os.environ["FIRETOWER_TEST_KUBECONFIG"],
         *arguments], input=text, capture_output=True, text=True, timeout=120, check=False)
    if check and done.returncode != 0:
        raise RuntimeError(f"kubectl {arguments}: {done.stderr}")
    return done


def policy(name, **spec):
    return {"apiVersion": "firetower.dev/v1alpha1", "kind": "ProfilingPolicy",
            "metadata": {"name": name, "namespace": "shop"},
            "spec": {"mode": "General", "targets": {"podSelector": {"matchLabels": {"app": "cart"}}}, **spec}}


def apply(*objects):
    kubectl("apply", "-f", "-", text=json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))


def status(kube, name):
    return kube.get(f"{SHOP}/{name}").body.get("status") or {}


def conditions(kube, name):
    """{type: "True/Reason"}"""
    return {one["type"]: f"{one['status']}/{one['reason']}" for one in status(kube, name).get("conditions") or []}


def report(node, *rows):
    return {"apiVersion": "firetower.dev/v1alpha1", "kind": "ProfilingNode", "metadata": {"name": node},
            "agent": {"version": "0.1.0"}, "policies": list(rows)}


def row(meta, state="Running", generation=None, pods=2, **more):
    return {"kind": "ProfilingPolicy", "namespace": meta["namespace"], "name": meta["name"], "uid": meta["uid"],
            "generation": generation or meta["generation"], "state": state, "pods": pods, "profiledPods": pods, **more}


class Hub:
    """A firetower-hub with its own port and log. Use it in a `with`. `authority`: a file, with which it is asked by TLS."""

    def __init__(self, config, identity, *flags, authority=None):
        self.identity = identity
        self.port = free_port()
        self.url = f"{'https' if authority else 'http'}://127.0.0.1:{self.port}"
        self.context = ssl.create_default_context(cafile=authority) if authority else None
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="firetower-hub-"))
        self.log_path = self.folder / "log"
        self.command = [str(BIN / "firetower-hub"), "--kubeconfig", str(config), "--identity", identity,
                        "--listen", f"127.0.0.1:{self.port}", *flags]
        self.process = None

    def __enter__(self):
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        if not api.until(lambda: self.answer("/readyz") == 200, 30):
            raise RuntimeError(f"the hub is not ready:\n{self.log_path.read_text()}")
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.stop()
        if os.environ.get("FIRETOWER_SHOW_LOGS"):
            print(self.log_path.read_text())

    def stop(self):
        """SIGTERM; its exit status."""
        self.process.terminate()
        return self.process.wait(timeout=30)

    def answer(self, path):
        try:
            with urllib.request.urlopen(f"{self.url}{path}", timeout=5, context=self.context) as reply:
                return reply.status
        except urllib.error.HTTPError as error:
            return error.code
        except OSError:
            return 0

    def metric(self, name, **labels):
        """The sum of the series that have these labels."""
        with urllib.request.urlopen(f"{self.url}/metrics", timeout=5, context=self.context) as reply:
            text = reply.read().decode()
        total = 0.0
        for series, value in re.findall(rf"^{name}(?:{{(.*)}})? (\S+)$", text, re.MULTILINE):
            if all(f'{key}="{wanted}"' in series for key, wanted in labels.items()):
                total += float(value)
        return total

    def leads(self):
        return self.metric("firetower_hub_leader") == 1

    def writes(self, **labels):
        return self.metric("firetower_hub_writes_total", **labels)

    def resident_mib(self):
        for line in pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) / 1024
        return 0.0

    def cpu_seconds(self):
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def wait(holds, seconds):
    """How long it took to come to hold; None when it did not."""
    began = time.monotonic()
    return time.monotonic() - began if api.until(holds, seconds) else None
