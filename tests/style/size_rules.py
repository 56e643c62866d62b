# SPDX-License-Identifier: Apache-2.0
"""Files, functions and folders stay small enough to hold one idea."""

import collections
import pathlib
import re

FILE_CAPS = {".bpf.c": 400, ".h": 250, ".cc": 500, ".c": 400}
TEST_FILE_CAP = 800
FUNCTION_CAP = 70
TEST_FUNCTION_CAP = 100
FOLDER_CAP = 14  # About a dozen.

_SCOPE = re.compile(r"\b(namespace|class|struct|union|enum)\b|\bextern\s*\"\"")
_ACCESS = re.compile(r"^((public|protected|private):\s*)+")
_GROUP = re.compile(r"\([^()]*\)")
_ATTRIBUTE_OR_TEMPLATE = re.compile(r"\btemplate\s*<.*?>|\[\[.*?\]\]", re.DOTALL)


def _cap(source):
    if source.is_test:
        return TEST_FILE_CAP
    return next(cap for suffix, cap in FILE_CAPS.items() if source.path.endswith(suffix))


def files(sources):
    """No file outgrows its idea."""
    for source in sources:
        if not source.is_cpp and not (source.is_code and source.is_test):
            continue
        count, cap = source.text.count("\n"), _cap(source)
        if count > cap:
            yield source.path, f"{count} lines, at most {cap}"


def _opens_function(statement):
    """Whether the text between the last ; { or } and a { is the head of a function."""
    flat = _ATTRIBUTE_OR_TEMPLATE.sub("", statement)
    if "(" not in flat:
        return False
    while _GROUP.search(flat):
        flat = _GROUP.sub(" ", flat)
    # `x = {…}` is a table. A class may carry an attribute macro with brackets, so look for scopes
    # only after brackets are gone; a function returning `struct x` has its name after that.
    if re.search(r"(?<![=!<>])=(?!=)", re.sub(r"\boperator\s*\S+", "", flat)):
        return False
    return not (_SCOPE.match(flat.strip()) and not re.match(r"\s*(struct|enum)\s+\w+\s*\*?\s*\w+", flat))


def function_lengths(code):
    """(line, lines, head) of each function in blanked C++ text; a rough count of braces."""
    scopes = []  # For each open brace: (is a function's, line it began on, its head).
    statement, statement_line = "", 1
    inside = 0  # Open braces that belong to functions.
    for line, text in enumerate(code.split("\n"), 1):
        if text.lstrip().startswith("#"):
            continue
        for char in text + "\n":
            if char == "{":
                is_function = inside > 0 or _opens_function(statement)
                inside += is_function
                scopes.append((is_function and inside == 1, statement_line, statement))
                statement = ""
            elif char == "}" and scopes:
                outermost, began, head = scopes.pop()
                inside -= inside > 0
                if outermost:
                    yield began, line - began + 1, _ACCESS.sub("", " ".join(head.split()))
                statement = ""
            elif char == ";":
                statement = ""
            elif statement or not char.isspace():
                if not statement:
                    statement_line = line
                statement += char


def functions(sources):
    """A function fits a screen."""
    for source in sources:
        if not source.is_cpp:
            continue
        cap = TEST_FUNCTION_CAP if source.is_test else FUNCTION_CAP
        for line, length, head in function_lengths(source.code):
            if length > cap:
                yield source.path, f"{line}: {length} lines, at most {cap}: {head[-60:]}"


def folders(sources):
    """A folder holds about a dozen things; a header and its source are one."""
    units = collections.defaultdict(set)
    for source in sources:
        if source.is_cpp:
            units[source.folder].add(pathlib.PurePosixPath(source.path).name.split(".")[0])
    for folder, names in sorted(units.items()):
        if len(names) > FOLDER_CAP:
            yield folder, f"{len(names)} things, at most {FOLDER_CAP}: make a subfolder"
