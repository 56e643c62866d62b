# SPDX-License-Identifier: Apache-2.0
"""buildah with a storage of its own, and a Debian to build on that no registry was asked for."""

import json
import pathlib
import shutil
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BASE = "localhost/debian:12"


def run(*command, timeout=600):
    done = subprocess.run([str(one) for one in command], capture_output=True, text=True, timeout=timeout, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))[:200]} left with {done.returncode}: {done.stdout[-2000:]}{done.stderr[-4000:]}")
    return done.stdout


class Builder:
    """Everything of it is gone after a `with`."""

    def __enter__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="firetower-image-"))
        return self

    def __exit__(self, *_):
        for container in self.buildah("containers", "-q").split():
            subprocess.run([*self._command(), "umount", container], capture_output=True, check=False)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _command(self):
        # overlayfs on overlayfs is refused in many sandboxes; copies work everywhere.
        return ["buildah", "--root", str(self.folder / "root"), "--runroot", str(self.folder / "run"),
                "--storage-driver", "vfs"]

    def buildah(self, *arguments, timeout=600):
        return run(*self._command(), *arguments, timeout=timeout)

    def base(self, packages):
        """A Debian 12 with these packages, under the name BASE."""
        archive = self.folder / "base.tar"
        run("mmdebstrap", "--quiet", "--variant=apt", "--aptopt=APT::Install-Recommends \"false\"",
            f"--include={','.join(packages)}", "bookworm", archive)
        container = self.buildah("from", "scratch").strip()
        self.buildah("add", container, archive, "/")
        self.buildah("commit", "-q", "--rm", container, BASE)
        archive.unlink()

    def build(self, name, context, epoch, *arguments, timeout=600):
        self.buildah("build", "--isolation", "chroot", "--pull-never", "--no-cache", "--timestamp", epoch,
                     "--build-arg", f"BASE={BASE}", "--build-arg", f"SOURCE_DATE_EPOCH={epoch}", *arguments,
                     "-t", f"localhost/{name}", context, timeout=timeout)

    def config(self, name):
        return json.loads(self.buildah("inspect", "--type", "image", f"localhost/{name}"))["OCIv1"]

    def files(self, name):
        """Mounts the image's files for reading and returns their folder."""
        container = self.buildah("from", "--pull-never", name if "/" in name else f"localhost/{name}").strip()
        return pathlib.Path(self.buildah("mount", container).strip())


def context(folder, build=None):
    """A context of the sources as they are here; of a build the programs are in `prebuilt`, and no source goes along."""
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                            capture_output=True, check=True).stdout.decode().split("\0")
    for path in filter(None, listed):
        if (ROOT / path).is_file() and (build is None or path.startswith("hack/") or path in (
                "Dockerfile", ".dockerignore", "CMakeLists.txt", "LICENSE", "bpf/LICENSE")):
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / path, folder / path)
    for program in ("firetowerd", "firetower-hub", "firetower") if build else ():
        (folder / "prebuilt/bin").mkdir(parents=True, exist_ok=True)
        run("strip", "--strip-debug", "-o", folder / "prebuilt/bin" / program, pathlib.Path(build) / "bin" / program)
    return folder
