# SPDX-License-Identifier: Apache-2.0
"""Facts from dpkg about files and packages of this machine."""

import pathlib
import subprocess

# Code of theirs is in the programs, from archives or headers, without a library that they load.
COMPILED_IN = ("libboost1.74-dev", "libboost1.83-dev", "libbpf-dev", "libiberty-dev", "libprotobuf-dev",
               "nlohmann-json3-dev")
FIELDS = ("Package", "Architecture", "Version", "source:Package", "source:Version", "Maintainer", "Homepage")


def _ask(*arguments):
    try:
        return subprocess.run(["dpkg-query", *arguments], capture_output=True, text=True, check=True).stdout
    except FileNotFoundError:
        raise RuntimeError("dpkg-query is missing: an image is made of Debian's packages, on Debian") from None


def owner(path, here):
    """The package that a file belongs to, which dpkg may know by its path from before /lib became /usr/lib."""
    for known in (path, str(here), str(here).removeprefix("/usr")):
        try:
            # "libc6:amd64: /lib/x86_64-linux-gnu/libc.so.6"
            return _ask("--search", known).split("\n")[0].split(": ")[0].split(":")[0]
        except subprocess.CalledProcessError:
            continue
    raise RuntimeError(f"no Debian package owns {path}, which a program loads: the image could not say what it holds")


class Package:
    def __init__(self, name):
        self.status = _ask("--status", name).encode()
        told = _ask("--show", "-f", "\t".join(f"${{{field}}}" for field in FIELDS) + "\n", name).split("\n")[0]
        (self.name, self.architecture, self.version, self.source, self.source_version, self.maintainer,
         self.homepage) = told.split("\t")

    @property
    def copyright(self):
        return pathlib.Path("/usr/share/doc", self.name, "copyright").read_bytes()


def compiled_in():
    """Returns those of COMPILED_IN that are installed here; a machine that only packs programs may lack them."""
    packages = []
    for name in COMPILED_IN:
        try:
            packages.append(Package(name))
        except subprocess.CalledProcessError:
            continue
    return packages


def identity():
    """Returns the files that tell a scanner the distribution, and the licences that copyright files mention."""
    files = {"/etc/os-release": pathlib.Path("/etc/os-release").resolve()}
    for path in pathlib.Path("/usr/share/common-licenses").iterdir():
        files[str(path)] = path.resolve()
    return files


def release():
    told = dict(line.split("=", 1) for line in pathlib.Path("/etc/os-release").read_text(encoding="utf-8").splitlines()
                if "=" in line)
    return f"{told['ID']}-{told['VERSION_ID']}".replace('"', "")


def architecture():
    return subprocess.run(["dpkg", "--print-architecture"], capture_output=True, text=True, check=True).stdout.strip()
