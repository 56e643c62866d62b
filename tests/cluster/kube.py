# SPDX-License-Identifier: Apache-2.0
"""A plain HTTP client of the API server that with_api_server.py started: what it says is read as it comes."""

import http.client
import json
import os
import pathlib
import ssl
import sys
import time
import urllib.parse

try:
    import yaml
except ImportError:
    print(f"SKIP {os.path.basename(sys.argv[0])}: python3-yaml is not installed")
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parents[2]
GROUP = "/apis/firetower.dev/v1alpha1"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"


IDLE_SECONDS = 30  # The server ends a connection that was idle for 90 s.


class Reply:
    def __init__(self, status, body, warnings):
        self.status = status
        self.body = body
        self.warnings = warnings

    @property
    def message(self):
        return self.body.get("message", "") if isinstance(self.body, dict) else str(self.body)


class Kube:
    def __init__(self, kubeconfig, token):
        config = yaml.safe_load(pathlib.Path(kubeconfig).read_text(encoding="utf-8"))
        cluster = config["clusters"][0]["cluster"]
        self.server = urllib.parse.urlsplit(cluster["server"])
        self.authority = str(pathlib.Path(kubeconfig).parent / cluster["certificate-authority"])
        self.token = token
        self.connection = None
        self.used = 0.0

    def as_user(self, token):
        twin = object.__new__(Kube)
        twin.__dict__ = {**self.__dict__, "token": token, "connection": None}
        return twin

    def call(self, method, path, body=None, content_type="application/json", accept="application/json"):
        if self.connection is not None and time.monotonic() - self.used > IDLE_SECONDS:
            self.connection.close()
            self.connection = None
        self.used = time.monotonic()
        if self.connection is None:
            self.connection = http.client.HTTPSConnection(
                self.server.hostname, self.server.port, timeout=30,
                context=ssl.create_default_context(cafile=self.authority))
        headers = {"Authorization": f"Bearer {self.token}", "Accept": accept}
        if body is not None:
            headers["Content-Type"] = content_type
            body = json.dumps(body)
        self.connection.request(method, path, body, headers)
        answer = self.connection.getresponse()
        text = answer.read().decode()
        try:
            return Reply(answer.status, json.loads(text), answer.headers.get_all("Warning") or [])
        except ValueError:
            return Reply(answer.status, text, [])

    def get(self, path, **more):
        return self.call("GET", path, **more)

    def create(self, path, body):
        return self.call("POST", path, body)

    def merge(self, path, body):
        return self.call("PATCH", path, body, "application/merge-patch+json")

    def apply(self, path, body, manager="test"):
        """Server-side apply."""
        return self.call("PATCH", f"{path}?fieldManager={manager}&force=true", body, "application/apply-patch+yaml")


def from_environment():
    return Kube(os.environ["FIRETOWER_TEST_KUBECONFIG"], "admin-token")


def documents(path):
    return [one for one in yaml.safe_load_all((ROOT / path).read_text(encoding="utf-8")) if one]


def definitions():
    return [documents(path.relative_to(ROOT))[0] for path in sorted((ROOT / "crd").glob("firetower.dev_*.yaml"))]


def until(holds, seconds=20):
    """Whether it came to hold: the API server takes things up one after the other."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if holds():
            return True
        time.sleep(0.05)
    return False


def install_definitions(kube):
    """The CRDs, created and served; (name, reply of the creation, conditions) each."""
    results = []
    for definition in definitions():
        path = f"{DEFINITIONS}/{definition['metadata']['name']}"
        created = kube.create(DEFINITIONS, definition)

        def conditions(path=path):
            return {one["type"]: one for one in kube.get(path).body.get("status", {}).get("conditions") or []}

        plural = definition["spec"]["names"]["plural"]
        until(lambda: conditions().get("Established", {}).get("status") == "True")
        until(lambda plural=plural: kube.get(f"{GROUP}/{plural}").status == 200)
        results.append((plural, created, conditions()))
    return results


def folder_of(document):
    """Returns the path where objects of a manifest's kind are created."""
    kind = document["kind"].lower()
    plural = kind[:-1] + "ies" if kind.endswith("y") else kind + "s"
    version = document["apiVersion"]
    base = f"/api/{version}" if "/" not in version else f"/apis/{version}"
    space = document["metadata"].get("namespace")
    return f"{base}/namespaces/{space}/{plural}" if space else f"{base}/{plural}"


def install_manifest(kube, path):
    for document in documents(path):
        made = kube.create(folder_of(document), document)
        if made.status != 201:
            raise RuntimeError(f"{path}: {document['kind']}: {made.message}")
