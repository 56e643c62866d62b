#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a command with FIRETOWER_TEST_KUBECONFIG naming a real API server of its own, and ends that.

with_api_server.py NAME COMMAND…    NAME is the test's
"""

import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support" / "kubernetes"))

from api_server import ApiServer, find_binaries


def main():
    name, *command = sys.argv[1:]
    binaries = find_binaries()
    if binaries is None:
        print(f"SKIP {name}: no etcd and kube-apiserver: set KUBEBUILDER_ASSETS to a folder that holds them")
        return 77
    with ApiServer(binaries) as server:
        environment = {**os.environ, "FIRETOWER_TEST_KUBECONFIG": str(server.kubeconfig),
                       "FIRETOWER_TEST_BINARIES": binaries}
        return subprocess.run(command, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
