#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""image_test.py prebuilt|source: the Dockerfile built by buildah on a Debian made from packages, without a registry.

prebuilt packs the programs of FIRETOWER_BUILD, source compiles them, which takes many minutes. Whose the image's files are
is found by their MD5 sums, which Debian's packages carry, and compared with what the image says itself.
"""

import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support/real"))
sys.dont_write_bytecode = True

import builder
from case import Case

EPOCH = 1_700_000_000
PROGRAMS = {"usr/bin/firetowerd", "usr/bin/firetower-hub", "usr/bin/firetower"}
# Packages that hack/image works with.
TOOLS = ["binutils", "ca-certificates", "libpython3-stdlib", "python3-minimal"]
# 40.1 MB when this was written.
MOST_BYTES = 50_000_000
SBOM = "usr/share/sbom/firetower.spdx.json"


def needed_packages(build, folder):
    """The packages that the programs' libraries are of, which a Debian to pack them on needs."""
    builder.run(sys.executable, ROOT / "hack/image", "--build", build, "--rootfs", folder)
    return sorted(path.name for path in (folder / "var/lib/dpkg/status.d").iterdir())


def regular(root):
    return {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file() and not path.is_symlink()}


def judge_files(case, root):
    names = regular(root)
    case.check("both daemons and the command are there", PROGRAMS <= names, sorted(PROGRAMS - names))
    runnable = {name for name in names if os.access(root / name, os.X_OK) and ".so" not in name}
    case.check("and nothing else to run: no shell, no package manager", runnable == PROGRAMS, sorted(runnable))
    size = sum((root / name).stat().st_size for name in names)
    case.at_most("bytes of its files", size, MOST_BYTES)
    times = {int((root / name).stat().st_mtime) for name in names}
    case.check("their time is SOURCE_DATE_EPOCH", times == {EPOCH}, sorted(times)[:5])
    shared = [name for name in names if (root / name).stat().st_mode & 0o6022]
    case.check("none has set-id bits, or is written by others", not shared, shared)


def judge_programs(case, root):
    """Runs each program as the image's own user, and in its own root."""
    for name in sorted(PROGRAMS):
        said = subprocess.run(["chroot", "--userspec=65532:65532", root, f"/{name}", "--help"], capture_output=True,
                              text=True, check=False, timeout=60)
        usage = pathlib.PurePath(name).name in said.stdout and not said.stderr
        case.check(f"{name} runs there", said.returncode == 0 and usage, said.stderr)


def judge_copied(case, root, folder):
    """The command as docs/install.md copies it out of the image, which a machine without its libraries runs by them."""
    page = (ROOT / "docs/install.md").read_text(encoding="utf-8")
    script = re.search(r"bin/firetower <<'SH'\n(.*?)\nSH\n", page, re.DOTALL).group(1)
    (folder / "firetower").write_text(script.replace("$HOME/.local/share/firetower", str(root)) + "\n", encoding="utf-8")
    (folder / "firetower").chmod(0o755)
    (folder / "kubectl-firetower").symlink_to("firetower")
    said = subprocess.run([folder / "firetower", "--help"], capture_output=True, text=True, check=False, timeout=60)
    case.check("copied out of the image the command runs", said.returncode == 0 and "firetower" in said.stdout, said.stderr)
    known = subprocess.run([folder / "kubectl-firetower", "top", "--kubeconfig", "/none"], capture_output=True, text=True,
                           check=False, timeout=60).stderr
    case.check("and knows when it is kubectl's", known.startswith("kubectl firetower: "), known)
    listed = subprocess.run([root / "lib64/ld-linux-x86-64.so.2", "--list", "--library-path", root / "lib/x86_64-linux-gnu",
                             root / "usr/bin/firetower"], capture_output=True, text=True, check=False).stdout
    libraries = re.findall(r"(/\S+) \(0x", listed)
    strays = [path for path in libraries if not path.startswith(f"{root}/")]
    case.check("with the image's libraries alone", libraries and not strays, strays)


def judge_materials(case, root, base):
    """Each library's MD5 sum is in the list of a package that the bill of materials names, at the version installed."""
    owners = {}
    for path in (base / "var/lib/dpkg/info").glob("*.md5sums"):
        for line in path.read_text(encoding="utf-8").splitlines():
            owners.setdefault(line.split()[0], set()).add(path.name.split(".md5sums")[0].split(":")[0])
    bill = json.loads((root / SBOM).read_text(encoding="utf-8"))
    contained = {one["relatedSpdxElement"] for one in bill["relationships"] if one["relationshipType"] == "CONTAINS"}
    named = {one["name"]: one for one in bill["packages"] if one["SPDXID"] in contained}
    libraries = [name for name in regular(root) if ".so" in pathlib.PurePath(name).name]
    strays, seen = [], {"base-files", "ca-certificates"}
    for name in libraries:
        found = owners.get(hashlib.md5((root / name).read_bytes()).hexdigest(), set()) & named.keys()
        seen |= found
        if not found:
            strays.append(name)
    case.at_least("libraries", len(libraries), 20)
    case.check("each is of a package that the bill of materials names", not strays, strays)
    case.check("which names no other", named.keys() == seen, sorted(named.keys() - seen))
    installed = dict(line.split("\t") for line in builder.run(
        "dpkg-query", "--admindir", base / "var/lib/dpkg", "-W", "-f", "${Package}\t${Version}\n").splitlines())
    wrong = [name for name, one in named.items() if one["versionInfo"] != installed.get(name)]
    case.check("by the versions that dpkg has", not wrong, wrong)
    unlicensed = [name for name in named if not (root / "usr/share/doc" / name / "copyright").is_file()]
    case.check("and each has its licence in the image", not unlicensed, unlicensed)
    created = bill["creationInfo"]["created"]
    case.check("written at SOURCE_DATE_EPOCH", created == "2023-11-14T22:13:20Z", created)


def judge_config(case, config):
    case.check("its user is not root", config["config"]["User"] == "65532:65532", config["config"]["User"])
    case.check("it starts firetowerd", config["config"]["Entrypoint"] == ["/usr/bin/firetowerd"])
    case.check("it is one layer", len(config["rootfs"]["diff_ids"]) == 1, config["rootfs"]["diff_ids"])


def judge(case, made, name):
    root = made.files(name)
    judge_files(case, root)
    judge_programs(case, root)
    judge_materials(case, root, made.files(builder.BASE))
    judge_config(case, made.config(name))


def prebuilt(case, made):
    build = os.environ.get("FIRETOWER_BUILD", ROOT / "build/dev")
    folder = builder.context(made.folder / "context", build)
    made.base([*TOOLS, *needed_packages(folder / "prebuilt", made.folder / "rootfs")])
    for name in ("first", "again"):
        made.build(name, folder, EPOCH, "--build-arg", "PREBUILT=prebuilt")
    judge(case, made, "first")
    (made.folder / "copied").mkdir()
    judge_copied(case, made.files("first"), made.folder / "copied")
    layers = [made.config(name)["rootfs"]["diff_ids"] for name in ("first", "again")]
    case.check("built again it is the same bytes", layers[0] == layers[1], layers)
    # By its names: the packages here may be newer than the base's.
    here = regular(made.folder / "rootfs")
    there = regular(made.files("first"))
    case.check("hack/image without docker holds the same files", here == there, sorted(here ^ there))


def source(case, made):
    made.base(["ca-certificates"])
    made.build("first", builder.context(made.folder / "context"), EPOCH, timeout=5000)
    # The packages that the build installed are in its first stage only: the base is judged by what the image says.
    root = made.files("first")
    judge_files(case, root)
    judge_programs(case, root)
    judge_config(case, made.config("first"))


def main():
    which = {"prebuilt": prebuilt, "source": source}[sys.argv[1]]
    case = Case(f"image.{sys.argv[1]}")
    case.need("buildah", "mmdebstrap", "strip", "dpkg-query")
    with builder.Builder() as made:
        which(case, made)
    case.finish()


if __name__ == "__main__":
    main()
