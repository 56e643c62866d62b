# SPDX-License-Identifier: Apache-2.0
"""Rules about includes: which module may include which, and how an include is spelt."""

import re

# A module sees itself and these. Tests see everything; nothing sees tests.
MAY_SEE = {
    "base": set(),
    "net": {"base"},
    "proto": set(),
    "symbolizer": {"base", "bpf/abi", "net"},
    "profile": {"base", "bpf/abi", "proto"},
    "k8s": {"base", "bpf/abi", "net"},
    "store": {"base", "bpf/abi", "net", "profile"},
    "diagnosis": {"base", "bpf/abi", "profile"},
    "query": {"base", "bpf/abi", "net", "proto", "profile", "store", "symbolizer", "diagnosis"},
    # Holds what both services, daemon and hub, need: options, metrics and rights.
    "service": {"base", "bpf/abi", "net", "profile", "k8s", "store", "query"},
    "bpf": set(),
}
_BELOW = {"base", "net", "proto", "bpf", "symbolizer", "profile", "k8s", "store", "diagnosis", "query"}
MAY_SEE.update({"daemon": _BELOW | {"service"}, "hub": _BELOW | {"service"}, "cli": _BELOW})

GENERATED = (".skel.h", ".pb.h", ".inc")  # written by the build: BPF skeletons, messages of proto/, tables

# Libraries that a module's header must not pass on to whoever includes it.
THIRD_PARTY = re.compile(
    r"^(nlohmann/|yaml-cpp/|prometheus/|zip\.h|zlib\.h|libdeflate\.h"
    r"|lzma\.h|zstd\.h|libelf\.h|gelf\.h|elfutils/|re2/|curl/|openssl/|boost/|google/|.*\.pb\.h$|pugixml|bpf/libbpf\.h|bpf/bpf\.h)"
)

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]')


def includes(source):
    """(line number, quote or angle, path) of each include."""
    for number, line in enumerate(source.lines, 1):
        match = _INCLUDE.match(line)
        if match:
            yield number, match.group(1), match.group(2)


def _allowed(module, path):
    top = path.split("/")[0]
    if top == module or top in MAY_SEE[module]:
        return True
    return path.startswith("bpf/abi/") and "bpf/abi" in MAY_SEE[module]


def direction(sources):
    """Includes go down the list of modules, never up and never sideways."""
    ours = {source.path for source in sources}
    for source in sources:
        if not source.is_cpp or source.module not in MAY_SEE:
            continue
        for number, _, path in includes(source):
            if (path in ours or path.endswith(".pb.h")) and not _allowed(source.module, path):
                yield source.path, f"{number}: {source.module} may not include {path}"


def spelling(sources):
    """Our headers are included by their path from the root, in quotes; others in angles."""
    ours = {source.path for source in sources}
    for source in sources:
        if not source.is_cpp:
            continue
        for number, mark, path in includes(source):
            if mark == "<" and path in ours:
                yield source.path, f'{number}: "{path}" is ours: quotes, not angles'
            if mark == '"' and path not in ours and not path.endswith(GENERATED):
                yield source.path, f'{number}: "{path}" is no file of ours, seen from the root'


def own_header_first(sources):
    """x.cc includes x.h before anything else, so that x.h is known to stand by itself."""
    ours = {source.path for source in sources}
    for source in sources:
        header = source.path.removesuffix(source.suffix) + ".h"
        if source.suffix != ".cc" or header not in ours:
            continue
        first = next(includes(source), (0, "", "nothing"))
        if first[2] != header:
            yield source.path, f"{first[0]}: includes {first[2]} before its own {header}"


def third_party(sources):
    """A library stays behind the module that uses it: its types are not in our headers."""
    for source in sources:
        if source.suffix != ".h" or source.module not in MAY_SEE or source.module == "bpf":
            continue
        for number, _, path in includes(source):
            if THIRD_PARTY.match(path):
                yield source.path, f"{number}: a header of ours may not include <{path}>"
