#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hub_profiles_test.py: a hub over a directory store answers whom the cluster's own rights let read, and no others; it
keeps catalogs and deletes what is too old. Another cluster has the same profiles in the same store: these are left alone.

The rights are those of k8s/manifests/hub-rbac.yaml and profile-readers.yaml on a real API server, the tokens its own.
"""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

import hub_parts as parts
import kube as api
import pprof
from case import Case
from daemon import BIN, BUILD

RBAC = "/apis/rbac.authorization.k8s.io/v1"
MINUTES = 6
WEB, DB, HOST = 10, 5, 2  # Samples a minute, by stored_bundles.
SHOP = '{namespace="shop"}'


class Reply:
    def __init__(self, status, headers, body):
        self.status = status
        self.headers = headers
        self.body = body

    @property
    def message(self):
        text = self.body.decode(errors="replace")
        return json.loads(text).get("message", "") if text.startswith("{") else text[:200]


def ask(hub, path, token=None, accept="*/*", **params):
    """One request, `from` a day ago where it has parameters."""
    query = "?" + urllib.parse.urlencode({"from": "now-1h", **params}) if params else ""
    request = urllib.request.Request(f"http://127.0.0.1:{hub.port}{path}{query}", headers={"Accept": accept})
    if token is not None:
        request.add_header("Authorization", f"Bearer {token}")
    try:
        with urllib.request.urlopen(request, timeout=30) as reply:
            return Reply(reply.status, reply.headers, reply.read())
    except urllib.error.HTTPError as error:
        return Reply(error.code, error.headers, error.read())


def ask_id(hub, token, profile):
    path = "/api/v1/profile?" + urllib.parse.urlencode({"id": profile})
    return ask(hub, path, token)


def account(kube, name):
    """A token of a service account of that name."""
    kube.create("/api/v1/namespaces/firetower/serviceaccounts", {"metadata": {"name": name}})
    return parts.account_token(kube, name)


def bind(kube, role, name, namespace=None, kind="ClusterRole"):
    where = f"{RBAC}/namespaces/{namespace}/rolebindings" if namespace else f"{RBAC}/clusterrolebindings"
    made = kube.create(where, {
        "metadata": {"name": f"{name}-{role}"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": role},
        "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": "firetower"}]})
    if made.status != 201:
        raise RuntimeError(f"binding {role}: {made.message}")


def samples(reply):
    return pprof.parse(reply.body).total("samples") if reply.status == 200 else reply.message


def rows(reply):
    if reply.status != 200:
        return reply.message
    return {(row["namespace"], row["pod"]): row["samples"] for row in json.loads(reply.body)["rows"]}


def judge_unknown(case, hub):
    for path in ("/api/v1/top", "/api/v1/profile", "/api/v1/profiles", "/api/v1/diff?base-from=2h", "/api/v1/flame",
                 "/api/v1/labels", "/api/v1/doctor"):
        reply = ask(hub, path)
        case.check(f"{path} without a token is 401, and says what is wanted",
                   reply.status == 401 and reply.headers["WWW-Authenticate"].startswith("Bearer"), reply.message)
    reply = ask(hub, "/api/v1/top", "nobodys-token")
    case.check("a token that the cluster does not know is 401", reply.status == 401, reply.message)
    page = ask(hub, "/", accept="text/html")
    case.check("the page itself is for everybody", page.status == 200 and b"assets/app.js?v=" in page.body)
    script = ask(hub, "/assets/app.js")
    case.check("and what it is made of", script.status == 200 and len(script.body) > 10_000)
    case.check("and so are probes and metrics", hub.answer("/readyz") == 200 and hub.answer("/livez") == 200
               and b"firetower_hub_recent_rows" in ask(hub, "/metrics").body)


def judge_team(case, hub, token):
    """A user who may read the profiles of shop gets these and no others."""
    case.check("who may read a namespace's profiles gets them",
               api.until(lambda: ask(hub, "/api/v1/profile", token, q=SHOP).status == 200, 30))
    got = samples(ask(hub, "/api/v1/profile", token, q=SHOP))
    case.check("all of them", got == WEB * MINUTES, got)
    top = rows(ask(hub, "/api/v1/top", token, q=SHOP))
    case.check("top has that namespace alone", top == {("shop", "web-1"): WEB * MINUTES}, top)
    listed = json.loads(ask(hub, "/api/v1/profiles", token, q=SHOP).body)["rows"]
    case.check("the list has its profiles alone", len(listed) == MINUTES
               and {row["namespace"] for row in listed} == {"shop"}, listed[:1])
    one = ask_id(hub, token, listed[0]["id"])
    case.check("each of which is answered by its id", samples(one) == WEB, samples(one))
    theirs = listed[0]["id"].replace(":shop/web-1/web/", ":infra/db-0/db/")
    refused = ask_id(hub, token, theirs)
    case.check("one of another namespace is 403, whether there or not", refused.status == 403, refused.message)
    others = ask_id(hub, token, listed[0]["id"].replace("/home/", "/prod/"))
    case.check("one of another cluster in the same store is 404", others.status == 404, others.message)
    diff = ask(hub, "/api/v1/diff", token, **{"q": SHOP, "base-from": "now-2h"})
    case.check("a difference of what they may read is answered", diff.status == 200 and
               diff.headers["X-Firetower-Profiles"] == f"{MINUTES},0", f"{diff.headers['X-Firetower-Profiles']} {diff.message}")
    flame = ask(hub, "/api/v1/flame", token, q=SHOP)
    case.check("the flame graph is of it", flame.status == 200 and b'"web"' in flame.body)
    for what, selector in (("another namespace", '{namespace="infra"}'), ("the hosts", '{namespace="-"}'),
                           ("all namespaces", "{}"), ("several", '{namespace=~"shop|infra"}')):
        for path in ("/api/v1/profile", "/api/v1/profiles", "/api/v1/top", "/api/v1/labels"):
            reply = ask(hub, path, token, q=selector)
            case.check(f"{path} of {what} is 403", reply.status == 403, reply.message)
        # Each side by itself: the other is what they may read.
        for sides in ({"q": selector, "base-q": SHOP}, {"q": SHOP, "base-q": selector}):
            reply = ask(hub, "/api/v1/diff", token, **sides)
            case.check(f"/api/v1/diff is 403 with {what} on one side", reply.status == 403, f"{sides}: {reply.message}")


def judge_everywhere(case, hub, pods, hosts):
    case.check("who may read all namespaces needs to name none",
               api.until(lambda: ask(hub, "/api/v1/top", pods, q="{}").status == 200, 30))
    everything = {("shop", "web-1"): WEB * MINUTES, ("infra", "db-0"): DB * MINUTES}
    top = rows(ask(hub, "/api/v1/top", pods, q="{}"))
    case.check("and gets the pods of all, not the hosts", top == everything, top)
    refused = ask(hub, "/api/v1/profile", pods, q='{namespace="-"}')
    case.check("the hosts' profiles are another right", refused.status == 403, refused.message)
    case.check("who has both gets both", api.until(lambda: ask(hub, "/api/v1/profile", hosts, q='{namespace="-"}').status == 200, 30))
    top = rows(ask(hub, "/api/v1/top", hosts, q="{}"))
    case.check("in one answer", top == {**everything, ("-", "-"): HOST * MINUTES}, top)
    checks = {one["name"]: one["status"] for one in json.loads(ask(hub, "/api/v1/doctor", pods).body)["checks"]}
    case.check("doctor finds nothing", set(checks.values()) == {"ok"}, checks)


def files(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def judge_keeping(case, hub, store):
    took = parts.wait(lambda: hub.metric("firetower_hub_catalogs_total", event="written") >= 1, 40)
    catalogs = sorted(path.name for path in (store / "v1/standard/home/catalog").rglob("*") if path.is_file())
    case.check("the leader writes catalogs", took is not None and any("ndjson" in name for name in catalogs), catalogs)
    # The old bundle, and its catalogs where the leader made them before.
    deleted = lambda: hub.metric("firetower_hub_retention_objects_total", result="deleted")
    case.check("and deletes what is too old", api.until(lambda: deleted() >= 1, 20), deleted())
    own, others = (files(store / "v1/standard" / cluster) for cluster in ("home", "prod"))
    bundles = [name for name in own if name.endswith(".zip")]
    case.check("which is gone, and nothing else", len(bundles) == MINUTES, bundles)
    case.check("what another cluster has in the store stays as it was", len(others) == MINUTES + 1
               and all(name.endswith(".zip") for name in others), others)


def lesser(kube, folder):
    """A kubeconfig of a hub's account that may not ask who asks, and what they may."""
    role = kube.get(f"{RBAC}/clusterroles/firetower-hub").body
    kube.create(f"{RBAC}/clusterroles", {"metadata": {"name": "lesser-hub"}, "rules": [
        rule for rule in role["rules"] if rule["resources"][0] not in ("tokenreviews", "subjectaccessreviews")]})
    own = account(kube, "lesser")
    bind(kube, "lesser-hub", "lesser")
    bind(kube, "firetower-hub", "lesser", "firetower", "Role")
    return parts.kubeconfig(kube, folder, "lesser", own)


def judge_lesser(case, kube, folder, url, token):
    """A hub whose account may not ask says so, and answers nobody."""
    config = lesser(kube, folder)
    with parts.Hub(config, "lesser", "--store", url) as hub:
        told = api.until(lambda: b'firetower_hub_access_allowed{resource="tokenreviews"} 0' in ask(hub, "/metrics").body, 20)
        case.check("a hub that may not create tokenreviews says so in /metrics", told)
        case.check("and in its log", "resource=tokenreviews" in hub.log_path.read_text())
        reply = ask(hub, "/api/v1/top", token, q=SHOP)
        case.check("and to who asks, whose fault it is not", reply.status == 503 and "grant" in reply.message, reply.message)


def judge_without(case, config):
    with parts.Hub(config, "plain") as hub:
        reply = ask(hub, "/api/v1/top", "any")
        case.check("a hub without --store says what it would need", reply.status == 404 and "--store" in reply.message,
                   reply.message)
        told = subprocess.run([BIN / "firetower", "doctor", "--server", f"http://127.0.0.1:{hub.port}"], capture_output=True,
                              text=True, timeout=60, check=False)
        case.check("and the CLI calls it that", told.returncode == 1 and "it is a hub that was told no store" in told.stderr
                   and "fix: give it one, store.url" in told.stderr, told.stderr)


def main():
    case = Case("hub.profiles")
    kube = api.from_environment()
    parts.install(kube)
    api.install_manifest(kube, "k8s/manifests/profile-readers.yaml")
    folder = pathlib.Path(tempfile.mkdtemp(prefix="firetower-hub-test-"))
    store = folder / "store"
    start = int(time.time()) // 60 * 60 - 20 * 60
    subprocess.run([BUILD / "tests/stored_bundles", store, str(start)], check=True)
    shutil.copytree(store / "v1/standard/home", store / "v1/standard/prod")
    config = parts.kubeconfig(kube, folder, "hub", parts.account_token(kube, "firetower-hub"))
    team, pods, hosts = (account(kube, name) for name in ("team", "pods", "hosts"))
    bind(kube, "firetower-profile-reader", "team", "shop")
    bind(kube, "firetower-profile-reader", "pods")
    bind(kube, "firetower-profile-reader", "hosts")
    bind(kube, "firetower-host-profile-reader", "hosts")
    url = f"file://{store}"
    with parts.Hub(config, "one", "--store", url, "--cluster", "home") as hub:
        judge_unknown(case, hub)
        judge_team(case, hub, team)
        judge_everywhere(case, hub, pods, hosts)
        judge_keeping(case, hub, store)
        top = rows(ask(hub, "/api/v1/top", team, q=SHOP))
        case.check("by catalogs it answers the same", top == {("shop", "web-1"): WEB * MINUTES}, top)
        began = time.monotonic()
        case.check("SIGTERM ends it well", hub.stop() == 0)
        case.at_most("in so many s", time.monotonic() - began, 5)
    judge_lesser(case, kube, folder, url, team)
    judge_without(case, config)
    case.finish()


if __name__ == "__main__":
    sys.exit(main())
