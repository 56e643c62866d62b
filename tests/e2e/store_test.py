#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""store_test.py directory|versitygw|minio|moto: the same cases on every store (tests/e2e/store_cases.cc).

The servers are not ours; tests/support/stores/build-stores makes them. moto answers for STS and instance metadata."""

import os
import pathlib
import subprocess
import sys
import tempfile

SUPPORT = pathlib.Path(__file__).resolve().parents[1] / "support"
sys.path[:0] = [str(SUPPORT / "real"), str(SUPPORT / "stores")]

import servers
from case import Case

CASES = pathlib.Path(os.environ["FIRETOWER_BUILD"], "tests", "store_cases")


def run(suites, **variables):
    clean = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    command = [str(CASES), f"--gtest_filter={suites}"]
    return subprocess.run(command, env={**clean, **variables}, check=False).returncode


def on_server(case, name):
    folder, why = servers.built(name)
    if folder is None:
        case.skip(f"tests/support/stores/build-stores {name} fails: {why}")
    with servers.running(name, folder) as endpoint:
        if name == "moto":
            with tempfile.NamedTemporaryFile("w", suffix=".token") as token:
                token.write("a.web.token\n")
                token.flush()
                return run("StoreCredentials.*", FIRETOWER_MOTO=endpoint, FIRETOWER_TOKEN_FILE=token.name)
        return run("Store.*:S3.*", AWS_ACCESS_KEY_ID=servers.ACCESS_KEY, AWS_SECRET_ACCESS_KEY=servers.SECRET_KEY,
                   FIRETOWER_STORE=f"s3://{servers.BUCKET}/some/prefix?proxy=none&region=us-east-1&endpoint={endpoint}",
                   FIRETOWER_STORE_KIND=name)


def main(name):
    case = Case(f"e2e.store-{name}")
    if name == "directory":
        with tempfile.TemporaryDirectory(prefix="firetower-store-") as work:
            status = run("Store.*", FIRETOWER_STORE=f"file://{work}/store", FIRETOWER_STORE_KIND=name)
    else:
        status = on_server(case, name)
    case.check("every case holds", status == 0, f"exit status {status}")
    case.finish()


if __name__ == "__main__":
    main(sys.argv[1])
