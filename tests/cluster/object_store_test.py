#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""object_store_test.py: the whole way on one cluster: agents write to a bucket, the hub reads it, people ask the hub.

Agents and hub are pods of our manifests, the bucket versitygw's, the keys those of a Kubernetes Secret: files for the
agents, an environment for the hub. For a while the server knows another key. None of it shows anywhere.
"""

import base64
import json
import os
import pathlib
import secrets
import sys
import time
import urllib.error
import urllib.request
import zipfile

SUPPORT = pathlib.Path(__file__).resolve().parents[1] / "support"
sys.path += [str(SUPPORT / "real"), str(SUPPORT / "kubernetes"), str(SUPPORT / "stores")]

import object_store
import pprof
import secrets_seen
import servers
from case import Case, run
from daemon import BIN
from daemonset_test import AgentPod
from hub_questions_test import FORWARD, LIST, PROFILES, account
from pods_test import BURN, IMAGE, Truth, deployment
from policies_test import CHECKOUT, policy
from triggers_test import limited
from whole_cluster import NETWORK, SERVER, Cluster, Proxy, wait_for

CLUSTER = "blue"
KEYS = "/etc/firetower/store"
WINDOW_SECONDS = 10
LOAD_SECONDS = 40
ARRIVAL_SECONDS = 60
REFUSED_SECONDS = 120
# Number of pods, each limited to half a CPU.
PODS = 2
AGENT = "app.kubernetes.io/component=agent"
HUB = "app.kubernetes.io/name=firetower-hub"


def store_url(server, options=""):
    return f"s3://{servers.BUCKET}/prod?region=us-east-1&proxy=none&endpoint={server.endpoint}{options}"


def of_templates(objects):
    return [one["spec"]["template"]["spec"] for one in objects if one["kind"] in ("DaemonSet", "Deployment")]


def keys_as_files(url):
    """A change of the agents' manifest."""
    def change(objects):
        for spec in of_templates(objects):
            container = spec["containers"][0]
            container["args"] = [f"--store={url}" if one.startswith("--store=") else one for one in container["args"]]
            container["volumeMounts"].append({"name": "keys", "mountPath": KEYS, "readOnly": True})
            spec["volumes"].append({"name": "keys", "secret": {"secretName": "bucket", "defaultMode": 0o400}})
        return objects
    return change


def keys_as_environment(objects):
    for spec in of_templates(objects):
        spec["containers"][0]["env"] = [
            {"name": name, "valueFrom": {"secretKeyRef": {"name": "bucket", "key": key}}}
            for name, key in (("AWS_ACCESS_KEY_ID", "access-key"), ("AWS_SECRET_ACCESS_KEY", "secret-key"))]
    return objects


def install(cluster, server):
    url = store_url(server, f"&access-key-file={KEYS}/access-key&secret-key-file={KEYS}/secret-key")
    cluster.apply(*cluster.manifest("00-namespace.yaml"))
    cluster.apply({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "bucket", "namespace": "firetower"},
                   "stringData": {"access-key": servers.ACCESS_KEY, "secret-key": server.secret_key}})
    agent = cluster.install(f"--window-seconds={WINDOW_SECONDS}", "--slice-milliseconds=500", "--log-level=debug",
                            f"--cluster={CLUSTER}", change=keys_as_files(url))
    cluster.apply(*cluster.manifest("hub-rbac.yaml"))
    cluster.apply(*keys_as_environment(cluster.manifest(
        "hub.yaml", f"--store={store_url(server)}", f"--cluster={CLUSTER}", "--log-level=debug")))
    cluster.kubectl("-n", "firetower", "rollout", "status", "deployment/firetower-hub", "--timeout=90s")
    return AgentPod(agent, None)


class Person:
    """Asks by kubectl's plugin and a kubeconfig of its own; all that it was told is kept."""

    def __init__(self, cluster, proxy, name, token, watch):
        self.token, self.watch = token, watch
        self.kubectl = f"{cluster.binaries}/kubectl"
        self.environment = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}",
                            "KUBECONFIG": str(proxy.kubeconfig(cluster.folder, name, token))}

    def ask(self, *arguments):
        done = run(self.kubectl, "firetower", *arguments, env=self.environment, check=False, timeout=60)
        self.watch.add("answers of kubectl firetower", done.stdout + done.stderr)
        return done

    def fetch(self, server, path):
        """Status and body, from a pod's own port."""
        request = urllib.request.Request(f"{server}{path}", headers={"Authorization": f"Bearer {self.token}"})
        try:
            with urllib.request.urlopen(request, timeout=30) as reply:
                return reply.status, reply.read()
        except urllib.error.HTTPError as error:
            return error.code, error.read()


def bucket_folder(server):
    return server.data / servers.BUCKET / "prod"


def stored_until(server):
    """The end of the newest window in the bucket, s since 1970, by the profiles in its bundles."""
    ends = [0.0]
    for path in bucket_folder(server).rglob("bundle/**/*.zip"):
        with zipfile.ZipFile(path) as bundle:
            for name in pprof.profile_names(bundle):
                profile = pprof.parse(bundle.read(name))
                ends.append((profile.time_nanos + profile.duration_nanos) / 1e9)
    return max(ends)


def run_load(case, cluster):
    """The pods' CPU from one time to another, both s since 1970."""
    truth = Truth(cluster)
    cluster.apply(limited(deployment("checkout", PODS, "3600"), cpu="500m"), policy("checkout", CHECKOUT))
    pods = wait_for(lambda: len(truth.running("app=checkout")) == PODS and truth.running("app=checkout"))
    time.sleep(5)  # from kubectl apply to its pods in profiles, at most
    begin, before = time.time(), sum(truth.cpu_seconds(one) for one in pods.values())
    time.sleep(LOAD_SECONDS)
    spent = sum(truth.cpu_seconds(one) for one in pods.values()) - before
    case.figure("CPU s of the load", f"{spent:.2f}")
    return sorted(pods), begin, time.time(), spent


def judge_reader(case, cluster, reader, load):
    names, begin, end, spent = load
    window = ("-n", "shop", "--from", f"{begin:.0f}", "--to", f"{end:.0f}")
    path = cluster.folder / "load.pb.gz"
    done = reader.ask("get", '{workload="checkout"}', *window, "-f", path)
    if not case.check("kubectl firetower get answers", done.returncode == 0, done.stderr):
        return
    reader.watch.add("profiles", path.read_bytes())
    profile = pprof.parse(path.read_bytes())
    # Windows that the question's ends fall into are in the answer whole.
    edge = (end - begin + 2 * WINDOW_SECONDS) / (end - begin)
    case.at_least(f"CPU s in it, of {spent:.2f}", profile.total("cpu") / 1e9, 0.8 * spent)
    case.at_most(f"and no more than with two more windows of {WINDOW_SECONDS} s", profile.total("cpu") / 1e9,
                 1.15 * edge * spent)
    told = run("go", "tool", "pprof", "-symbolize=none", "-sample_index=cpu", "-top", path, check=False, timeout=120)
    rows = [line.split() for line in told.stdout.partition("flat%")[2].splitlines()[1:]]
    case.check("go tool pprof: its top function is the load's", bool(rows) and rows[0][5:6] == ["burn"],
               rows[:2] or told.stderr)
    top = reader.ask("top", "functions", *window, "-o", "json")
    functions = json.loads(top.stdout)["rows"] if top.returncode == 0 else [top.stderr]
    case.check("kubectl firetower top: the same", top.returncode == 0 and "burn" in json.dumps(functions[0]), functions[:1])
    top = reader.ask("top", *window, "-o", "json")
    case.check("and both pods are in it, nothing else", top.returncode == 0 and
               sorted(row["pod"] for row in json.loads(top.stdout)["rows"]) == names, top.stdout[:300] + top.stderr)


def judge_visitor(case, cluster, visitor, hub):
    """The visitor may reach the hub and read no profiles."""
    path = cluster.folder / "none.pb.gz"
    done = visitor.ask("get", '{workload="checkout"}', "-n", "shop", "-f", path)
    case.check("without the right get is refused, and writes nothing", done.returncode == 5 and "refuses" in done.stderr
               and not path.exists(), done.stderr)
    done = visitor.ask("top", "-n", "shop")
    case.check("so is top", done.returncode == 5 and "refuses" in done.stderr and not done.stdout, done.stderr)
    for what in ("profile", "profiles", "diff", "top", "series", "labels", "types", "flame"):
        base = "&base-from=2h" if what == "diff" else ""
        status, body = visitor.fetch(hub, f"/api/v1/{what}?q=%7Bnamespace%3D%22shop%22%7D{base}")
        case.check(f"/api/v1/{what} is 403 to them", status == 403, f"{status} {body[:200]}")
        visitor.watch.add("answers of the hub", body)


def judge_refusal(case, cluster, agent, server, watch):
    """The server knows another key: that is said, and the bucket gets what waited once it knows the right one again."""
    right, spool = server.secret_key, cluster.folder / "firetower/spool"
    server.stop()
    server.secret_key = secrets.token_urlsafe(30)
    server.start()

    def says():
        return "SignatureDoesNotMatch" in cluster.kubectl("-n", "firetower", "logs", "-l", AGENT, "--tail=-1")

    try:
        case.check("a key that the server does not know is told in the agent's log", wait_for(says, REFUSED_SECONDS, 2))
    except TimeoutError as error:
        case.check("a key that the server does not know is told in the agent's log", False, error)
    look_everywhere(cluster, agent, watch)
    waited = object_store.waiting(spool).keys()
    case.at_least("what it refuses waits on the node", len(waited), 1)
    server.stop()
    server.secret_key = right
    server.start()
    took = object_store.await_gone(spool, waited, ARRIVAL_SECONDS + 60)
    came = {key for key in waited if (bucket_folder(server) / key).exists()}
    case.check("with the right key again it comes", took is not None and came == waited, f"after {took or 0:.1f} s")


def look_everywhere(cluster, agent, watch):
    for label, what in ((AGENT, "agent"), (HUB, "hub")):
        for pod in cluster.pods("firetower", "-l", label):
            watch.add(f"log of the {what}", cluster.kubectl("-n", "firetower", "logs", pod["metadata"]["name"]))
    for path in ("/metrics", "/api/v1/doctor", "/api/v1/labels", "/api/v1/series", "/api/v1/types", "/"):
        watch.add("answers of the agent", agent.fetch(path))
    watch.add("doctor", cluster.kubectl("-n", "firetower", "exec", agent.name, "--", "firetower", "doctor", "-o", "json",
                                        check=False))
    for kind in ("events.events.k8s.io", "profilingpolicies", "profilingnodes"):
        watch.add("objects of the cluster", cluster.kubectl("get", kind, "-A", "-o", "yaml"))
    watch.look_at_arguments()


def judge_secrets(case, cluster, agent, admin, hubs, server, watch):
    look_everywhere(cluster, agent, watch)
    for hub in hubs:
        for path in ("/metrics", "/api/v1/doctor", "/api/v1/labels", "/api/v1/top", "/"):
            watch.add("answers of the hub", admin.fetch(hub, path)[1])
    doctor = admin.ask("doctor", "-o", "json")
    checks = {one["name"]: one["status"] for one in json.loads(doctor.stdout)["checks"]}
    case.check("doctor of the hub finds the bucket well", checks.get("store") == "ok", checks)
    for path in pathlib.Path(cluster.folder / "firetower").rglob("*"):
        if path.is_file():
            watch.add("files of the agent", path.read_bytes())
    found = watch.in_environments_of("firetower-hub")
    case.check("the secret key is in the hub's environment, where this would find it", found == {"secret key"}, found)
    watch.judge(case)


def main():
    case = Case("cluster.object-store")
    case.need("go", "curl")
    folder = object_store.built_server(case)
    # The secret has AWS's form, with characters that URLs encode.
    secret = base64.b64encode(secrets.token_bytes(27) + b"\xff\xff\xfe").decode()
    watch = secrets_seen.Watch({"secret key": secret})
    with Cluster(case) as cluster, servers.started("versitygw", folder, address=SERVER[0], network=NETWORK,
                                                   secret_key=secret) as server:
        run("cc", "-O1", "-static", "-fno-omit-frame-pointer", "-x", "c", "-o", cluster.folder / "burn", "-", input=BURN)
        cluster.image(IMAGE, cluster.folder / "burn")
        agent = install(cluster, server)
        cluster.namespace("shop")
        hubs = [f"http://127.0.0.1:{Proxy((one['status']['podIP'], 7080)).port}"
                for one in cluster.pods("firetower", "-l", HUB)]
        proxy = Proxy()
        reader, visitor, admin = (Person(cluster, proxy, name, token, watch) for name, token in (
            ("reader", account(cluster, "reader", {"firetower": [LIST, FORWARD], "shop": [PROFILES]})),
            ("visitor", account(cluster, "visitor", {"firetower": [LIST, FORWARD]})), ("admin", "admin-token")))
        load = run_load(case, cluster)
        took = time.monotonic()
        wait_for(lambda: stored_until(server) >= load[2], ARRIVAL_SECONDS, 1)
        case.figure("s until its last window was in the bucket", f"{time.monotonic() - took:.1f}")
        judge_reader(case, cluster, reader, load)
        judge_visitor(case, cluster, visitor, hubs[0])
        judge_refusal(case, cluster, agent, server, watch)
        judge_secrets(case, cluster, agent, admin, hubs, server, watch)
    case.finish()


if __name__ == "__main__":
    main()
