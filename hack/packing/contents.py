# SPDX-License-Identifier: Apache-2.0
"""Contents of an image: the programs, the libraries that they name, and the files that tell their origin."""

import os
import pathlib
import re
import subprocess
import tempfile

from packing import debian, spdx

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = ("firetowerd", "firetower-hub", "firetower")
FOLDERS = ("etc/ssl/certs", "host", "proc", "run", "sys", "tmp", "usr/bin", "var/lib/firetower", "var/run")
# debuginfod servers are asked over TLS; the API server's CA comes with the pod's token.
CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt"
SBOM = "usr/share/sbom/firetower.spdx.json"
# The chart's hub runs as this user, and whoever does not say.
PASSWD = b"root:x:0:0:root:/:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/:/sbin/nologin\n"
GROUP = b"root:x:0:\nnonroot:x:65532:\n"


def libraries(program):
    """Returns the paths at which the loader finds a program's libraries; the loader itself is among them."""
    said = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    if "not found" in said:
        raise RuntimeError(f"{program}: {said}")
    return set(re.findall(r"(?:=> |^\t)(/\S+)", said, re.MULTILINE))


def stripped(program):
    """Debug information stays here; symbol tables go along, by which the daemon names its own frames."""
    with tempfile.NamedTemporaryFile() as out:
        subprocess.run(["strip", "--strip-debug", "-o", out.name, program], check=True)
        return pathlib.Path(out.name).read_bytes()


class File:
    def __init__(self, data, executable=False):
        self.data = data
        self.mode = 0o755 if executable else 0o644


def libraries_of(programs):
    """Path -> file here."""
    found = set()
    for program in programs:
        found |= libraries(program)
    return {path: pathlib.Path(path).resolve() for path in found}


def contents(build, epoch):
    """Path in the image -> File."""
    programs = [build / "bin" / name for name in PROGRAMS if (build / "bin" / name).exists()]
    if not any(program.name == "firetowerd" for program in programs):
        raise RuntimeError(f"{build}/bin has no firetowerd: build it first")
    files = {f"usr/bin/{program.name}": File(stripped(program), True) for program in programs}
    of_others = libraries_of(programs)
    packages = {debian.owner(path, here) for path, here in of_others.items()}
    if os.path.exists(CERTIFICATES):
        # Made of that package's files when it is installed, so that it is no package's own.
        of_others[CERTIFICATES] = pathlib.Path(CERTIFICATES).resolve()
        packages.add("ca-certificates")
    for path, here in (*of_others.items(), *debian.identity().items()):
        files[path.lstrip("/")] = File(here.read_bytes(), os.access(here, os.X_OK))
    told = [debian.Package(name) for name in sorted(packages | {"base-files"})]
    for package in told:
        files[f"var/lib/dpkg/status.d/{package.name}"] = File(package.status)
        files[f"usr/share/doc/{package.name}/copyright"] = File(package.copyright)
    files["usr/share/doc/firetower/copyright"] = File((ROOT / "LICENSE").read_bytes())
    files["usr/share/doc/firetower/copyright-bpf"] = File((ROOT / "bpf/LICENSE").read_bytes())
    files["etc/passwd"], files["etc/group"] = File(PASSWD), File(GROUP)
    files[SBOM] = File(spdx.document(version(), told, debian.compiled_in(), debian.release(), epoch))
    return files


def version():
    text = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    return re.search(r"^project\(firetower VERSION (\S+)", text, re.MULTILINE).group(1)


def folders(files):
    """All folders, parents first."""
    paths = (*files, *(f"{one}/x" for one in FOLDERS))
    return sorted({str(parent) for path in paths for parent in pathlib.PurePath(path).parents} - {"."})
