# SPDX-License-Identifier: Apache-2.0
"""Loads in cgroups that are named like containers', without a container runtime."""

import contextlib
import os
import secrets
import subprocess
import time
import uuid

from containers import cgroup_root


class Group:
    """A cgroup with the name of a container, in which a load runs."""

    def __init__(self):
        self.id = secrets.token_hex(32)
        path = f"kubepods/burstable/pod{uuid.uuid4()}/{self.id}"
        roots = [cgroup_root("v1:memory"), cgroup_root("v2")]
        self.folders = [root / path for root in roots if root]
        for folder in self.folders:
            folder.mkdir(parents=True)

    def limit_memory(self, size):
        first = self.folders[0]
        v1 = first / "memory.limit_in_bytes"
        (v1 if v1.exists() else first / "memory.max").write_text(str(size))

    def run(self, *command):
        def join():
            for folder in self.folders:
                (folder / "cgroup.procs").write_text("0")
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                        start_new_session=True, preexec_fn=join)
        return self

    def remove(self):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, 9)
        self.process.wait()
        for folder in self.folders:
            for part in (folder, folder.parent):
                for _ in range(50):
                    with contextlib.suppress(OSError):
                        part.rmdir()
                        break
                    time.sleep(0.1)
