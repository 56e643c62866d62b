#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""proxied_test.py API_SERVER_TEST: that program on the API server as it is, and some of its cases through a proxy.

The ways to a proxy are those of kubectl: proxy-url of the kubeconfig, HTTPS_PROXY and NO_PROXY. The command's own way
to an https server goes through the same proxy.
"""

import http.server
import os
import pathlib
import ssl
import subprocess
import sys
import threading

SUPPORT = pathlib.Path(__file__).resolve().parents[1] / "support"
sys.path[:0] = [str(SUPPORT / "real"), str(SUPPORT / "stores")]
sys.dont_write_bytecode = True

from case import Case, run
from connect_proxy import PASSWORD, ConnectProxy

FIRETOWER = pathlib.Path(os.environ["FIRETOWER_BUILD"], "bin", "firetower")
KUBECONFIG = pathlib.Path(os.environ["FIRETOWER_TEST_KUBECONFIG"])
HOST = "kubernetes.default.svc"  # in the server's certificate, and known to no resolver here
# Lists, writes, refusals and a watch.
CASES = "*RealWatch*:RealApiServer.A*"  # what a second run on one server may repeat


def kubeconfig(case_name, **changes):
    """A copy beside the server's own file, whose paths are relative, with texts exchanged."""
    text = KUBECONFIG.read_text()
    for old, new in changes.values():
        assert old in text, old
        text = text.replace(old, new)
    path = KUBECONFIG.with_name(f"kubeconfig-{case_name}")
    path.write_text(text)
    return path


def environment(**more):
    clean = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    return {**clean, **more}


def command(*arguments, **more):
    return subprocess.run([FIRETOWER, *arguments], env=environment(**more), text=True, capture_output=True, check=False)


def judge_proxy_url(case, program, port):
    with ConnectProxy(port) as proxy:
        path = kubeconfig("proxy-url", url=("server:", f'proxy-url: "{proxy.url()}", server:'))
        done = subprocess.run([program, f"--gtest_filter={CASES}"], text=True, capture_output=True, check=False,
                              env=environment(FIRETOWER_TEST_KUBECONFIG=str(path), NO_PROXY="*"))
        case.check("proxy-url: lists, watches and writes go through it, whatever NO_PROXY says",
                   done.returncode == 0 and "[  PASSED  ]" in done.stdout, done.stdout[-1500:] if done.returncode else "")
        case.check("proxy-url: it was asked for the server alone",
                   set(proxy.asked) == {f"127.0.0.1:{port}"} and not proxy.refused, (set(proxy.asked), proxy.refused))
        path = kubeconfig("no-password", url=("server:", f'proxy-url: "{proxy.bare_url()}", server:'))
        said = command("policies", "--kubeconfig", path).stderr
        case.check("proxy-url without its password is refused, and told", "the proxy wants a password" in said, said)


def judge_environment(case, port):
    with ConnectProxy(port) as proxy:
        path = kubeconfig("named", url=("127.0.0.1", HOST))
        for name in ("HTTPS_PROXY", "https_proxy"):
            before = len(proxy.asked)
            said = command("policies", "--kubeconfig", path, **{name: proxy.url()}).stderr
            # It was reached: it says that our definitions are not there.
            case.check(f"{name}: the server is reached", "has no profilingpolicies" in said, said)
            case.check(f"{name}: through the proxy", proxy.asked[before:] and set(proxy.asked) == {f"{HOST}:{port}"}, proxy.asked)
        before = len(proxy.asked)
        for name in ("NO_PROXY", "no_proxy"):
            said = command("policies", "--kubeconfig", path, HTTPS_PROXY=proxy.url(), **{name: f"other.test,{HOST}"}).stderr
            case.check(f"{name}: nobody else knows the host", f"host '{HOST}'" in said, said)
        said = command("policies", "--kubeconfig", KUBECONFIG, HTTPS_PROXY=proxy.url()).stderr
        case.check("a server of this machine needs no NO_PROXY", "has no profilingpolicies" in said, said)
        case.check("the proxy heard of none of these", len(proxy.asked) == before, proxy.asked)
        case.check("no password was told", PASSWORD not in said and not proxy.refused, said)


class Refusing(http.server.BaseHTTPRequestHandler):
    """A server that shows who asked it."""

    def do_GET(self):
        body = f'{{"error":{{"message":"not for {self.headers["Authorization"]}"}}}}'.encode()
        self.send_response(403)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def judge_https(case, folder):
    certificate, key = folder / "hub.crt", folder / "hub.key"
    run("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=hub", "-keyout", key, "-out",
        certificate, "-addext", "subjectAltName=DNS:hub.test,IP:127.0.0.1")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Refusing)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    port = server.server_address[1]
    own = ("--certificate-authority", certificate, "--token", "mine")
    said = command("types", "--server", f"https://127.0.0.1:{port}", *own).stderr
    case.check("https with its own authority", "not for Bearer mine" in said, said)
    said = command("types", "--server", f"https://127.0.0.1:{port}").stderr
    case.check("https with an unknown authority is refused, and told",
               "certificate is not trusted" in said and "--certificate-authority" in said, said)
    with ConnectProxy(port) as proxy:
        said = command("types", "--server", "https://hub.test", *own, HTTPS_PROXY=proxy.url()).stderr
        case.check("https through a proxy", "not for Bearer mine" in said and proxy.asked == ["hub.test:443"], (said, proxy.asked))
        said = command("types", "--server", "https://hub.test", *own, HTTPS_PROXY=proxy.url(), NO_PROXY=".test").stderr
        case.check("https around it", "host 'hub.test'" in said and len(proxy.asked) == 1, said)
    server.shutdown()


def main(program):
    case = Case("cluster.api-server")
    straight = subprocess.run([program], check=False)
    case.check("the client on the server as it is", straight.returncode == 0)
    port = int(KUBECONFIG.read_text().split("https://127.0.0.1:")[1].split('"')[0])
    judge_proxy_url(case, program, port)
    judge_environment(case, port)
    judge_https(case, KUBECONFIG.parent)
    case.finish()


if __name__ == "__main__":
    main(sys.argv[1])
