#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""agent_access_test.py: what an agent answers to whom, over HTTP and TLS, by the rights of a real API server.

A real Prometheus scrapes one whose metrics take a right: without a token, with one that has no right, and with one that
has. Then a certificate is renewed, and a hub speaks TLS, too.
"""

import os
import pathlib
import re
import ssl
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request

SUPPORT = pathlib.Path(__file__).resolve().parents[1] / "support"
sys.path[:0] = [str(SUPPORT / "dashboards"), str(SUPPORT / "real")]
sys.dont_write_bytecode = True

import hub_parts as parts
import kube as api
from case import Case, run
from daemon import BIN, Daemon
from hub_profiles_test import account, bind
from prometheus import Prometheus

ALL = "%7B%7D"
SHOP = "%7Bnamespace%3D%22shop%22%7D"
# Between two looks of a server at its certificate (10 s), and some more.
RENEWAL_SECONDS = 15


def status(daemon, path, token=""):
    request = urllib.request.Request(daemon.url + path, headers={"Authorization": f"Bearer {token}"} if token else {})
    try:
        with urllib.request.urlopen(request, timeout=30, context=daemon.context) as reply:
            return reply.status
    except urllib.error.HTTPError as error:
        return error.code


def reviews(kube):
    """How many the API server was asked for."""
    text = kube.get("/metrics").body
    return sum(int(count) for count in re.findall(
        r'^apiserver_request_total{[^}]*resource="(?:tokenreviews|subjectaccessreviews)"[^}]*} (\d+)$', text, re.MULTILINE))


def certificate(folder, name):
    """A new pair, in the files that the programs are told of, by renaming."""
    run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1", "-subj",
        f"/CN={name}", "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost", "-keyout", folder / "new.key", "-out",
        folder / "new.crt")
    for kind in ("key", "crt"):
        (folder / f"new.{kind}").rename(folder / f"tls.{kind}")


def served(daemon):
    return ssl.get_server_certificate(("127.0.0.1", daemon.port)).strip()


def judge_answers(case, kube, daemon, tokens):
    for path in ("/livez", "/readyz", "/metrics"):
        case.check(f"{path} takes no token", status(daemon, path) == 200)
    questions = [f"/api/v1/{what}?q={ALL}" for what in ("top", "types", "labels", "series", "profiles", "flame")]
    for path in [*questions, "/api/v1/doctor", "/querier.v1.QuerierService/LabelNames"]:
        seen = [status(daemon, path, token) for token in ("", "wrong")]
        case.check(f"{path} is not answered without one, nor to a wrong one", seen == [401, 401], seen)
    before = reviews(kube)
    for token, everything, shop in (("nobody-token", 403, 403), (tokens["reader"], 403, 200), ("admin-token", 200, 200)):
        name = {one: name for name, one in tokens.items()}.get(token, token)
        for _ in range(20):
            seen = [status(daemon, f"/api/v1/series?q={what}", token) for what in (ALL, SHOP)]
        case.check(f"{name} reads of all and of shop", seen == [everything, shop], seen)
    # A token, and rights: of all, of shop, of hosts; refusals again after 10 s.
    case.at_most("reviews for 120 questions of three people", reviews(kube) - before, 20)
    told = daemon.cli("doctor", "-o", "json", check=False)
    case.check("doctor is answered to a token", '"checks"' in told.stdout, told.stderr)


def judge_own_token(case, daemon, config):
    """Reads by the token that the agent itself has, in a file, as in a shell of its pod."""
    environment = {**os.environ, "FIRETOWER_TOKEN_FILE": str(config.with_suffix(".token"))}
    done = run(BIN / "firetower", "types", "--server", daemon.url, "-o", "json", env=environment, check=False)
    case.check("who may read the agent's own token may read its node", done.returncode in (0, 4), done.stderr)
    done = run(BIN / "firetower", "types", "--server", daemon.url, check=False)
    case.check("without it the command says what is missing", done.returncode not in (0, 4) and "token" in done.stderr, done.stderr)


def judge_scrapes(case, daemon, folder, tokens):
    def job(name):
        more = {"scheme": "https", "tls_config": {"ca_file": str(folder / "tls.crt")}}
        if name != "none":
            (folder / name).write_text(tokens[name])
            more["authorization"] = {"credentials_file": str(folder / name)}
        return more

    names = ("none", "reader", "scraper")
    with Prometheus({name: [daemon.port] for name in names}, [], jobs={name: job(name) for name in names}) as prometheus:
        def targets():
            return {one["labels"]["job"]: (one["health"], one["lastError"])
                    for one in prometheus.ask("targets")["activeTargets"]}

        api.until(lambda: len(targets()) == len(names) and all(health != "unknown" for health, _ in targets().values()), 30)
        seen = targets()
        case.check("scraped without a token: 401", seen["none"][0] == "down" and "401" in seen["none"][1], seen["none"])
        case.check("with one that has no right: 403", seen["reader"][0] == "down" and "403" in seen["reader"][1], seen["reader"])
        case.check("with one that has it: up", seen["scraper"] == ("up", ""), seen["scraper"])
        up = {labels["job"]: value for labels, value in prometheus.values("up", True, 0)}
        case.check("up is 1 of that alone", up == {"none": 0, "reader": 0, "scraper": 1}, up)
        families = prometheus.families()
        case.check("its families are there", "firetower_samples_total" in families, len(families))


def judge_renewal(case, folder, servers):
    """A pair that does not fit keeps the old one; one that does is taken."""
    before = (folder / "tls.crt").read_text().strip()
    old_key = (folder / "tls.key").read_text()
    certificate(folder, "renewed")
    fresh = (folder / "tls.crt").read_text().strip()
    good = (folder / "tls.key").read_text()
    (folder / "tls.key").write_text(old_key)
    name = "firetower_tls_certificates_refused_total"
    for what, server, refused in servers:
        case.check(f"{what}: a certificate without its key is counted", api.until(lambda: refused(name) >= 1, RENEWAL_SECONDS))
        case.check(f"{what}: and the old one is served", served(server) == before)
    (folder / "tls.key").write_text(good)
    for what, server, _ in servers:
        case.check(f"{what}: with its key it is served", api.until(lambda: served(server) == fresh, RENEWAL_SECONDS))


def main():
    case = Case("cluster.agent-access")
    case.need("prometheus", "openssl")
    kube = api.from_environment()
    parts.install(kube)
    api.install_manifest(kube, "k8s/manifests/profile-readers.yaml")
    kube.create("/api/v1/nodes", {"metadata": {"name": "node-1"}})
    folder = pathlib.Path(tempfile.mkdtemp(prefix="firetower-agent-access-"))
    tokens = {name: account(kube, name) for name in ("reader", "scraper")}
    bind(kube, "firetower-profile-reader", "reader", "shop")
    roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
    kube.create(roles, {"metadata": {"name": "firetower-metrics-reader"},
                        "rules": [{"nonResourceURLs": ["/metrics"], "verbs": ["get"]}]})
    bind(kube, "firetower-metrics-reader", "scraper")
    config = parts.kubeconfig(kube, folder, "agent", "none")
    own = config.with_suffix(".token")
    own.write_text(parts.agent_token(kube, "node-1"))
    config.write_text(config.read_text().replace('token: "none"', f'tokenFile: "{own}"'))
    certificate(folder, "first")
    authority = str(folder / "first.crt")
    (folder / "first.crt").write_text((folder / "tls.crt").read_text())
    tls = ("--tls-cert-file", folder / "tls.crt", "--tls-private-key-file", folder / "tls.key")
    agent = ("--kubeconfig", config, "--node-name", "node-1")
    with Daemon(*agent, standalone=False) as daemon:
        judge_answers(case, kube, daemon, tokens)
        judge_own_token(case, daemon, config)
    of_hub = parts.kubeconfig(kube, folder, "hub", parts.account_token(kube, "firetower-hub"))
    with Daemon(*agent, *tls, "--metrics-authorize", standalone=False, authority=authority) as daemon, \
            parts.Hub(of_hub, "one", *map(str, tls), authority=authority) as hub:
        case.check("over TLS probes take no token, and metrics do",
                   [status(daemon, path) for path in ("/livez", "/readyz", "/metrics")] == [200, 200, 401])
        case.check("the hub answers over TLS", hub.answer("/livez") == 200 and hub.answer("/metrics") == 200)
        plain = subprocess.run(["curl", "-s", f"http://127.0.0.1:{daemon.port}/livez"], capture_output=True, text=True, check=False)
        case.check("a plain request is told of TLS", "this port speaks TLS" in plain.stdout, plain.stdout or plain.stderr)
        judge_scrapes(case, daemon, folder, tokens)

        def of_daemon(name):
            try:
                return daemon.metrics().sum(name)
            except OSError:
                return 0

        judge_renewal(case, folder, (("agent", daemon, of_daemon), ("hub", hub, hub.metric)))
    case.finish()


if __name__ == "__main__":
    main()
