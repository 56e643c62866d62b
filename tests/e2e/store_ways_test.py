#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""store_ways_test.py versitygw|minio: ways to a server: TLS by a CA of one's own, a bucket that is a host, proxies.

Cases of tests/e2e/store_cases.cc over each way, and what is said where one is closed.
"""

import os
import pathlib
import subprocess
import sys
import tempfile

SUPPORT = pathlib.Path(__file__).resolve().parents[1] / "support"
sys.path[:0] = [str(SUPPORT / "real"), str(SUPPORT / "stores")]

import servers
from case import Case, run
from connect_proxy import PASSWORD, ConnectProxy

CASES = pathlib.Path(os.environ["FIRETOWER_BUILD"], "tests", "store_cases")
SUITES = ":".join(("Store.GivesBackWhatWasPut", "Store.ReadsTails", "Store.Deletes", "Store.TakesEveryCharacterThatAKeyMayHold",
                   "Store.TakesLargeObjectsInPartsWithoutHoldingThem", "S3.ListsWhatOthersPutThere",
                   "S3.LearnsTheTimeOfTheServer"))
# libcurl takes every name below it for this machine, whatever a resolver says (RFC 6761).
HOST = "localhost"


def make_certificate(folder):
    """An authority, and a certificate by it for the host and the bucket's; their three files."""
    authority, certificate, key = (folder / name for name in ("authority.pem", "public.crt", "private.key"))
    run("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=own authority", "-keyout",
        folder / "authority.key", "-out", authority)
    run("openssl", "req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=store", "-keyout", key, "-out", folder / "csr")
    names = folder / "names"
    names.write_text(f"subjectAltName=DNS:{HOST},DNS:{servers.BUCKET}.{HOST},IP:127.0.0.1\n")
    run("openssl", "x509", "-req", "-days", "2", "-in", folder / "csr", "-CA", authority, "-CAkey",
        folder / "authority.key", "-CAcreateserial", "-extfile", names, "-out", certificate)
    return authority, certificate, key


class Ways:
    def __init__(self, case, name, server):
        self.case, self.name, self.server, self.count = case, name, server, 0

    def try_one(self, suites, options, **environment):
        """The cases' process over that way; each has a folder of its own."""
        self.count += 1
        clean = {name: value for name, value in os.environ.items()
                 if not name.startswith("AWS_") and not name.lower().endswith("_proxy") and not name.startswith("SSL_")}
        url = (f"s3://{servers.BUCKET}/way/{self.count}?region=us-east-1&endpoint=https://{HOST}:{self.server.port}"
               f"&{options}")
        return subprocess.run(
            [str(CASES), f"--gtest_filter={suites}"], text=True, capture_output=True, check=False,
            env={**clean, "AWS_ACCESS_KEY_ID": servers.ACCESS_KEY, "AWS_SECRET_ACCESS_KEY": servers.SECRET_KEY,
                 "FIRETOWER_STORE": url, "FIRETOWER_STORE_KIND": self.name, **environment})

    def judge_open(self, what, options, **environment):
        done = self.try_one(SUITES, options, **environment)
        self.case.check(f"{what}: the cases hold", done.returncode == 0 and "[  PASSED  ] 7 tests" in done.stdout,
                        done.stdout[-1500:] + done.stderr[-500:] if done.returncode else "")

    def judge_closed(self, what, says, options, **environment):
        done = self.try_one("Store.Deletes", options, **environment)
        told = [line.strip() for line in done.stdout.splitlines() if says in line]
        self.case.check(f"{what} is refused, and told", done.returncode != 0 and told, (told or [done.stdout[-800:]])[0])
        self.case.check(f"{what}: no password is told", PASSWORD not in done.stdout + done.stderr)


def judge(case, name, server, proxy, authority):
    ways = Ways(case, name, server)
    ca = f"ca-file={authority}"
    ways.judge_open("own CA", f"{ca}&proxy=none")
    ways.judge_open("own CA by AWS_CA_BUNDLE", "proxy=none", AWS_CA_BUNDLE=str(authority))
    ways.judge_open("the bucket is a host", f"{ca}&proxy=none&path-style=false")
    case.check("until here nobody asked the proxy", not proxy.asked and not proxy.refused, proxy.asked + proxy.refused)
    ways.judge_open("through a proxy", ca, https_proxy=proxy.url())
    case.check("which was asked for the server", set(proxy.asked) == {f"{HOST}:{server.port}"}, set(proxy.asked))
    case.at_most("and seldom: tunnels for some 600 requests of nine stores", len(proxy.asked), 20)
    ways.judge_open("through a proxy, and the bucket is a host", f"{ca}&path-style=false", https_proxy=proxy.url())
    case.check("which was asked for the bucket", f"{servers.BUCKET}.{HOST}:{server.port}" in proxy.asked, set(proxy.asked))
    case.check("it saw nothing but tunnels", not proxy.refused, proxy.refused)
    before = len(proxy.asked)
    ways.judge_open("no_proxy", ca, https_proxy=proxy.url(), no_proxy=HOST)
    case.check("goes around it", len(proxy.asked) == before)
    ways.judge_closed("a server by an unknown CA", "certificate", "proxy=none")
    ways.judge_closed("a proxy without its password", "give it in https_proxy", f"{ca}&proxy={proxy.bare_url()}")
    ways.judge_closed("a proxy with a wrong password", "give it in https_proxy", ca, https_proxy=proxy.url(PASSWORD + "!"))
    case.check("no tunnel was made for them, and none asked for again", len(proxy.asked) == before and
               len(proxy.refused) == 2, proxy.refused)


def main(name):
    case = Case(f"e2e.store-ways-{name}")
    case.need("openssl", "curl")
    folder, why = servers.built(name)
    if folder is None:
        case.skip(f"tests/support/stores/build-stores {name} fails: {why}")
    with tempfile.TemporaryDirectory(prefix="firetower-ways-") as work:
        authority, certificate, key = make_certificate(pathlib.Path(work))
        with servers.started(name, folder, certificate=(certificate, key), domain=HOST) as server, \
                ConnectProxy(server.port) as proxy:
            judge(case, name, server, proxy, authority)
    case.finish()


if __name__ == "__main__":
    main(sys.argv[1])
