# SPDX-License-Identifier: Apache-2.0
"""The files that the rules look at, and C++ text with comments and strings blanked out."""

import functools
import os
import pathlib
import re
import subprocess

CPP_SUFFIXES = (".cc", ".h", ".c")
SCRIPT_SUFFIXES = (".py", ".sh", ".cmake")
# Other people's formats and data, which no rule about our own code fits.
DATA_FOLDERS = ("/testdata/", "/corpus/")

# A comment, a raw string, a string or a character; a quote inside a number is no character.
_LITERAL = re.compile(
    r"//[^\n]*|/\*.*?\*/"
    r'|R"(?P<mark>[^()\\\s]*)\(.*?\)(?P=mark)"'
    r'|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])+'",
    re.DOTALL,
)


def _blank(match):
    """Returns as many empty lines; strings keep their quotes so that `= ""` stays an expression."""
    text = match.group(0)
    newlines = "\n" * text.count("\n")
    return newlines if text.startswith("/") else f'""{newlines}'


class Source:
    """One text file: its path from the root, its text and what is derived from it."""

    def __init__(self, path, text):
        self.path = path
        self.text = text

    @property
    def suffix(self):
        return pathlib.PurePosixPath(self.path).suffix

    @property
    def folder(self):
        return str(pathlib.PurePosixPath(self.path).parent)

    @property
    def module(self):
        """The top-level folder, or "" for a file at the root."""
        return self.path.split("/")[0] if "/" in self.path else ""

    @property
    def is_cpp(self):
        return self.suffix in CPP_SUFFIXES

    @property
    def is_test(self):
        return self.module == "tests"

    @property
    def is_code(self):
        """Whether it is code of ours, with a licence line."""
        if any(folder in f"/{self.path}" for folder in DATA_FOLDERS):
            return False
        return (
            self.is_cpp
            or self.suffix in SCRIPT_SUFFIXES
            or self.path.endswith("CMakeLists.txt")
            or self.text.startswith("#!")
        )

    @functools.cached_property
    def lines(self):
        return self.text.split("\n")

    @functools.cached_property
    def code(self):
        """The text with comments and literals blanked; line numbers stay."""
        return _LITERAL.sub(_blank, self.text)


def earlier_caps(root, path, line):
    """Every cap in a committed version of a file; `line` is a pattern of the lines that set it, with one group."""
    log = subprocess.run(
        ["git", "-C", str(root), "log", "-p", "--format=", "--", path],
        capture_output=True,
        check=False,
        text=True,
    )
    return [int(cap) for cap in re.findall(rf"^\+{line}", log.stdout, re.MULTILINE)]


def _paths(root):
    """Lists the files that git tracks or would track; every file outside build folders where git cannot say."""
    listed = subprocess.run(
        ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        capture_output=True,
        check=False,
    )
    if listed.returncode == 0:
        return sorted(set(filter(None, os.fsdecode(listed.stdout).split("\0"))))
    found = []
    for folder, folders, files in os.walk(root):
        folders[:] = [name for name in folders if name not in (".git", "build", "__pycache__")]
        found += [os.path.relpath(os.path.join(folder, name), root) for name in files]
    return sorted(found)


def read_tree(root):
    """Every text file under `root` that belongs to the project."""
    sources = []
    for path in _paths(root):
        try:
            text = pathlib.Path(root, path).read_text(encoding="utf-8")
        except (FileNotFoundError, IsADirectoryError, UnicodeDecodeError):
            continue  # Deleted but not yet committed, or binary test data.
        if "\0" not in text:
            sources.append(Source(path, text))
    return sources
