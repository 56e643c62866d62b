#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Installs our CRDs in the API server of FIRETOWER_TEST_KUBECONFIG, then runs a command: with_definitions.py COMMAND…"""

import subprocess
import sys

import kube

kube.install_definitions(kube.from_environment())
sys.exit(subprocess.run(sys.argv[1:], check=False).returncode)
