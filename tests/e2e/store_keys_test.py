#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""store_keys_test.py versitygw|minio: keys from a container's endpoint, and objects that the server encrypts.

In a network of its own, so that the endpoint can have the address that ECS gives it."""

import base64
import os
import pathlib
import subprocess
import sys
import tempfile

SUPPORT = pathlib.Path(__file__).resolve().parents[1] / "support"
sys.path[:0] = [str(SUPPORT / "real"), str(SUPPORT / "stores")]

import servers
from case import Case, run
from credentials_endpoint import TOKEN, CredentialsEndpoint

CASES = pathlib.Path(os.environ["FIRETOWER_BUILD"], "tests", "store_cases")
SUITES = ("Store.GivesBackWhatWasPut", "Store.Deletes", "Store.TakesLargeObjectsInPartsWithoutHoldingThem")
INSIDE = "FIRETOWER_TEST_NETWORK"
ECS = "169.254.170.2"
KMS_KEY = "firetower-kms"


class Tries:
    """The cases' process, each time below a prefix of its own, with no keys but those that its environment leads to."""

    def __init__(self, case, name, server):
        self.case, self.name, self.server, self.count = case, name, server, 0

    def run(self, suites, options, environment):
        self.count += 1
        clean = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
        url = (f"s3://{servers.BUCKET}/keys/{self.count}?region=us-east-1&proxy=none&endpoint={self.server.endpoint}"
               f"{options}")
        return subprocess.run([str(CASES), f"--gtest_filter={':'.join(suites)}"], text=True, capture_output=True, check=False,
                              env={**clean, "HOME": "/nonexistent", "FIRETOWER_STORE": url,
                                   "FIRETOWER_STORE_KIND": self.name, **environment})

    def prefix(self):
        return f"keys/{self.count}/"

    def judge_open(self, what, environment, options=""):
        done = self.run(SUITES, options, environment)
        self.case.check(f"{what}: the cases hold", done.returncode == 0 and f"[  PASSED  ] {len(SUITES)} tests" in done.stdout,
                        done.stdout[-1500:] + done.stderr[-500:] if done.returncode else "")

    def judge_closed(self, what, says, environment, options="", secrets=()):
        done = self.run(("Store.Deletes",), options, environment)
        told = [line.strip() for line in done.stdout.splitlines() if says in line]
        self.case.check(f"{what} is refused, and told", done.returncode != 0 and told, (told or [done.stdout[-800:]])[0])
        self.case.check(f"{what}: no secret is told", not any(secret in done.stdout + done.stderr for secret in secrets))


def judge_endpoint(case, tries, keys, work):
    token = work / "token"
    token.write_text(TOKEN + "\n")
    secrets = [TOKEN, "another.token", *keys[1:]]
    with CredentialsEndpoint(keys) as endpoint, CredentialsEndpoint(keys, ECS, 80) as ecs:
        full = {"AWS_CONTAINER_CREDENTIALS_FULL_URI": f"http://127.0.0.1:{endpoint.port}/v1/credentials"}
        by_file = {**full, "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": str(token)}
        tries.judge_open("a full URI and a token's file", by_file)
        case.check("which was asked for its path", set(endpoint.asked) == {"/v1/credentials"}, set(endpoint.asked))
        case.at_most("and seldom: once for each store that was opened", len(endpoint.asked), 2 * len(SUITES))
        tries.judge_open("a token in the environment", {**full, "AWS_CONTAINER_AUTHORIZATION_TOKEN": TOKEN})
        asked = len(endpoint.asked)
        case.check("nobody was refused until here", not endpoint.refused, endpoint.refused)
        case.check("nobody asked ECS's address", not ecs.asked + ecs.refused, ecs.asked + ecs.refused)
        tries.judge_open("a relative URI", {"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": "/v2/credentials/5f2a",
                                            "AWS_CONTAINER_AUTHORIZATION_TOKEN": TOKEN})
        case.check("which was asked at ECS's address", set(ecs.asked) == {"/v2/credentials/5f2a"}, set(ecs.asked))
        token.write_text("another.token\n")
        tries.judge_closed("a wrong token", f"answers 401 to the token in {token}", by_file, secrets=secrets)
        tries.judge_closed("no token", "without a token (no AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", full, secrets=secrets)
        token.unlink()
        tries.judge_closed("a token's file that is not there", str(token), by_file, secrets=secrets)
        case.check("nobody got keys for them", len(endpoint.asked) == asked and len(endpoint.refused) == 2,
                   (endpoint.asked[asked:], endpoint.refused))
        far = {"AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://192.0.2.7/v1/credentials"}
        tries.judge_closed("an endpoint that is neither near nor TLS", "allowed are https", far, secrets=secrets)
        wrong = keys[:1] + ["not-the-secret-key"] + keys[2:]
    with CredentialsEndpoint(wrong) as endpoint:
        other = {"AWS_CONTAINER_CREDENTIALS_FULL_URI": f"http://127.0.0.1:{endpoint.port}/",
                 "AWS_CONTAINER_AUTHORIZATION_TOKEN": TOKEN}
        tries.judge_closed("a key that the server does not know", f"the container endpoint http://127.0.0.1:{endpoint.port}/",
                           other, secrets=["not-the-secret-key"])


def judge_encryption(case, tries):
    """Checks, by curl, the server's headers of each object that the cases left."""
    server = tries.server
    static = {"AWS_ACCESS_KEY_ID": servers.ACCESS_KEY, "AWS_SECRET_ACCESS_KEY": servers.SECRET_KEY}
    kms = f"&sse=aws:kms&sse-kms-key-id={KMS_KEY}"
    ways = {"no encryption": ("", None), "SSE-S3": ("&sse=AES256", "AES256"), "SSE-KMS": (kms, "aws:kms"),
            "SSE-KMS by the bucket's key": ("&sse=aws:kms", "aws:kms")}
    for what, (options, expected) in ways.items():
        tries.judge_open(what, static, options)
        keys = server.keys(tries.prefix())
        told = {key: server.headers(key) for key in keys}
        case.at_least(f"{what}: objects stay", len(keys), 2)
        wrong = {key: headers.get("x-amz-server-side-encryption") for key, headers in told.items()
                 if headers.get("x-amz-server-side-encryption") != expected}
        case.check(f"{what}: the server says {expected} of each", not wrong, wrong)
        if expected == "aws:kms":
            names = {headers.get("x-amz-server-side-encryption-aws-kms-key-id", "") for headers in told.values()}
            case.check(f"{what}: by the key of that name", all(name.endswith(KMS_KEY) for name in names) and names, names)
    tries.judge_closed("a KMS key that is not there", "set sse-kms-key-id to an existing key", static,
                       "&sse=aws:kms&sse-kms-key-id=nobodys")


def main(name):
    case = Case(f"e2e.store-keys-{name}")
    case.need("curl", "ip", "unshare")
    folder, why = servers.built(name)
    if folder is None:
        case.skip(f"tests/support/stores/build-stores {name} fails: {why}")
    if INSIDE not in os.environ:
        os.environ[INSIDE] = "1"
        os.execvp("unshare", ["unshare", "--net", sys.executable, *sys.argv])
    run("ip", "link", "set", "lo", "up")
    run("ip", "address", "add", f"{ECS}/32", "dev", "lo")
    key = base64.b64encode(os.urandom(32)).decode()
    environment = {"MINIO_KMS_SECRET_KEY": f"{KMS_KEY}:{key}"} if name == "minio" else {}
    with servers.started(name, folder, environment=environment) as server, tempfile.TemporaryDirectory() as work:
        tries = Tries(case, name, server)
        keys = server.temporary_credentials() if name == "minio" else [servers.ACCESS_KEY, servers.SECRET_KEY]
        judge_endpoint(case, tries, keys, pathlib.Path(work))
        if name == "minio":
            judge_encryption(case, tries)
    case.finish()


if __name__ == "__main__":
    main(sys.argv[1])
