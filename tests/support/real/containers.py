# SPDX-License-Identifier: Apache-2.0
"""Real containers by runc, in cgroups as the kubelet's cgroupfs driver names them."""

import json
import os
import pathlib
import secrets
import shutil
import subprocess
import tempfile
import uuid

from case import run
from daemon import TOYS

BUSYBOX = "/bin/busybox"
# A policy that takes every container, and nothing else of the machine.
CONTAINERS_ONLY = """apiVersion: firetower.dev/v1alpha1
kind: ClusterProfilingPolicy
metadata: {name: containers}
spec:
  mode: General
  targets: {podSelector: {matchLabels: {}}}
  profiles: [{type: CPU, frequencyHertz: 97}]
  general: {schedule: Continuous}
"""


def cgroup_root(hierarchy):
    """Returns the mount point of a hierarchy: "v2" or "v1:<controller>"; None if it is not mounted."""
    for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines():
        left, _, right = line.partition(" - ")
        kind, _, options = right.split(" ")[:3]
        if hierarchy == "v2" and kind == "cgroup2":
            return pathlib.Path(left.split(" ")[4])
        if kind == "cgroup" and hierarchy.startswith("v1:") and hierarchy[3:] in options.split(","):
            return pathlib.Path(left.split(" ")[4])
    return None


def cgroup_usage_seconds(folder):
    """CPU that the kernel accounted to a cgroup, of v1's cpuacct or of v2."""
    v1 = folder / "cpuacct.usage"
    if v1.exists():
        return int(v1.read_text()) / 1e9
    stat = (folder / "cpu.stat").read_text()
    return int(dict(line.split() for line in stat.splitlines())["usage_usec"]) / 1e6


class Container:
    def __init__(self, engine, uid, arguments, overlay=False):
        self.engine = engine
        self.uid = uid
        self.id = secrets.token_hex(32)
        self.name = self.id[:12]  # Value of the container label.
        self.path = f"/kubepods/burstable/pod{uid}/{self.id}"
        self.bundle = engine.work / self.id
        self.overlay = overlay
        self.arguments = arguments

    def _config(self):
        namespaces = [{"type": kind} for kind in ("pid", "mount", "ipc", "uts")]
        return {
            "ociVersion": "1.0.2",
            "process": {"terminal": False, "user": {"uid": 0, "gid": 0}, "args": self.arguments,
                        "env": ["PATH=/bin"], "cwd": "/", "noNewPrivileges": True},
            "root": {"path": "rootfs", "readonly": False},
            "hostname": "toy",
            "mounts": [
                {"destination": "/proc", "type": "proc", "source": "proc"},
                {"destination": "/tmp", "type": "tmpfs", "source": "tmpfs"},
                {"destination": "/dev", "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", "mode=755"]},
            ],
            "linux": {"cgroupsPath": self.path, "namespaces": namespaces},
        }

    def start(self, stdout=subprocess.DEVNULL):
        rootfs = self.bundle / "rootfs"
        rootfs.mkdir(parents=True)
        if self.overlay:
            upper, scratch = self.bundle / "upper", self.bundle / "scratch"
            upper.mkdir()
            scratch.mkdir()
            run("mount", "-t", "overlay", "overlay", "-o",
                f"lowerdir={self.engine.image},upperdir={upper},workdir={scratch}", rootfs)
        else:
            # A copy: each container's binary is a file of its own, as in different images.
            shutil.copytree(self.engine.image, rootfs, dirs_exist_ok=True)
        (self.bundle / "config.json").write_text(json.dumps(self._config()))
        # runc hands its standard streams to the container, so they must not be pipes of ours.
        log = self.bundle / "runc.log"
        done = subprocess.run([*self.engine.runc, "--log", str(log), "run", "--detach", "--bundle",
                               str(self.bundle), self.id], stdin=subprocess.DEVNULL, stdout=stdout,
                              stderr=subprocess.DEVNULL, timeout=60)
        if done.returncode != 0:
            raise RuntimeError(f"runc left with {done.returncode}: {log.read_text() if log.exists() else ''}")
        self.engine.running.append(self)
        return self

    def usage_seconds(self):
        """CPU that the kernel accounted to the container's cgroup."""
        return cgroup_usage_seconds((cgroup_root("v1:cpuacct") or cgroup_root("v2")) / self.path[1:])

    def is_running(self):
        state = run(*self.engine.runc, "state", self.id, check=False)
        return state.returncode == 0 and json.loads(state.stdout)["status"] == "running"

    def remove(self):
        run(*self.engine.runc, "delete", "--force", self.id, check=False)
        if self.overlay:
            run("umount", self.bundle / "rootfs", check=False)
        shutil.rmtree(self.bundle, ignore_errors=True)
        if self in self.engine.running:
            self.engine.running.remove(self)


class Engine:
    """Makes containers out of one small image, busybox and the toys, and takes every trace of them away."""

    def __init__(self):
        self.work = pathlib.Path(tempfile.mkdtemp(prefix="firetower-runc-"))
        self.runc = ["runc", "--root", str(self.work / "state")]
        self.image = self.work / "image"
        self.mark = secrets.token_hex(4)
        self.running = []
        self.uids = set()

    def __enter__(self):
        (self.image / "bin").mkdir(parents=True)
        os.link(BUSYBOX, self.image / "bin" / "busybox") if self._same_device() else shutil.copy(
            BUSYBOX, self.image / "bin" / "busybox")
        for toy in TOYS.iterdir():
            shutil.copy(toy, self.image / "bin" / toy.name)
        for name in ("proc", "tmp", "dev"):
            (self.image / name).mkdir()
        return self

    def marked(self, toy):
        """A toy under a name that no other test running beside this one has: what judging by function needs."""
        name = f"{toy}-{self.mark}"
        if not (self.image / "bin" / name).exists():
            shutil.copy(TOYS / toy, self.image / "bin" / name)
        return f"/bin/{name}"

    def _same_device(self):
        return os.stat(BUSYBOX).st_dev == os.stat(self.work).st_dev

    def container(self, *arguments, overlay=False, pod=None):
        uid = pod or str(uuid.uuid4())
        self.uids.add(uid)
        return Container(self, uid, [str(argument) for argument in arguments], overlay)

    def __exit__(self, *_):
        for container in list(self.running):
            container.remove()
        for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines():
            where = pathlib.Path(line.split(" ")[4])
            kind = line.partition(" - ")[2].split(" ")[0]
            if kind in ("cgroup", "cgroup2"):
                for uid in self.uids:
                    # Its parents stay: another test may be about to make a pod there.
                    self._rmdir(where / f"kubepods/burstable/pod{uid}")
        shutil.rmtree(self.work, ignore_errors=True)

    @staticmethod
    def _rmdir(path):
        try:
            path.rmdir()
        except OSError:
            pass  # Not there, or somebody else's.
