#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""comment_openings.py [--list]: counts the comments that begin with a bare What, Of, Where, As, Those or Who.

A comment is a whole sentence that a newcomer can read; one that begins so leaves its subject or its verb to be
guessed. AT_MOST is the count of the tree as it is now. Lower it with every comment that is rewritten; it may never
rise. --list prints each comment with its place.
"""

import io
import pathlib
import re
import sys
import tokenize

import source_tree

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SELF = "tests/style/comment_openings.py"
AT_MOST = 37

BARE = re.compile(r"(What|Of|Where|As|Those|Who)\b(?!')")
# A comment of C and C++, or a literal, which may hold what looks like one.
_CPP = re.compile(
    r"(?P<comment>//[^\n]*|/\*.*?\*/)"
    r'|R"(?P<mark>[^()\\\s]*)\(.*?\)(?P=mark)"'
    r'|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])+'",
    re.DOTALL,
)
# A # of shell and CMake begins a comment at the start of a line or behind a blank.
_HASH = re.compile(r"(?:^|(?<=[ \t]))#[^\n]*", re.MULTILINE)


def _cpp_comments(text):
    return ((match.start(), match.group("comment")) for match in _CPP.finditer(text) if match.group("comment"))


def _hash_comments(text):
    return ((match.start(), match.group()) for match in _HASH.finditer(text))


def _python_comments(text):
    """Comments, and strings that are statements of their own: docstrings."""
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    fresh = True
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT or (token.type == tokenize.STRING and fresh):
                yield starts[token.start[0] - 1] + token.start[1], token.string
            if token.type not in (tokenize.COMMENT, tokenize.NL):
                fresh = token.type in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING)
    except (tokenize.TokenError, IndentationError):
        return


def comments_of(source):
    """The offset and the text of each piece that the file's language calls a comment; a line comment is one piece."""
    if source.is_cpp:
        return _cpp_comments(source.text)
    first = source.lines[0]
    if source.suffix == ".py" or (first.startswith("#!") and "python" in first):
        return _python_comments(source.text)
    name = pathlib.PurePosixPath(source.path).name
    if source.suffix in (".sh", ".cmake") or name == "CMakeLists.txt" or first.startswith("#!"):
        return _hash_comments(source.text)
    return ()


def openings(source):
    """The line and the first words of each comment that begins with a bare word.

    Line comments on lines of their own that follow one another are one block, as are those below a comment at the end of
    a line of code; only the block's first word counts. A licence line or a #! belongs to no block.
    """
    last_line = None
    for start, piece in comments_of(source):
        line = source.text.count("\n", 0, start) + 1
        before = source.text[source.text.rfind("\n", 0, start) + 1 : start]
        is_line = piece.startswith(("//", "#"))
        follows = is_line and last_line == line - 1 and not before.strip()
        last_line = line if is_line else None
        words = re.sub(r"""\A(?://+<?!?|/\*+<?!?|\#+!?|[rbuRBU]*(?:\"{3}|'{3}|\"|'))\s*\**\s*""", "", piece)
        if "SPDX-License" in piece or piece.startswith("#!"):
            last_line = None
        elif not follows and BARE.match(words):
            yield line, words.split("\n")[0]


def find(sources):
    for source in sources:
        if not any(folder in f"/{source.path}" for folder in source_tree.DATA_FOLDERS):
            for line, words in openings(source):
                yield source.path, line, words


def complaints(count, cap, caps):
    """Yields the complaints about the count and about the cap itself."""
    if count > cap:
        yield (f"{count} comments begin with a bare word, at most {cap} may: rewrite the new ones as whole sentences "
               f"(tests/style/comment_openings.py --list shows all)")
    if caps and cap > min(caps):
        yield f"AT_MOST in {SELF} is {cap}, but it was {min(caps)} before and may only fall"


def main(arguments):
    sources = source_tree.read_tree(ROOT)
    found = list(find(sources))
    if "--list" in arguments:
        for path, line, words in found:
            print(f"{path}:{line}: {words}")
    wrong = list(complaints(len(found), AT_MOST, source_tree.earlier_caps(ROOT, SELF, r"AT_MOST = (\d+)")))
    for one in wrong:
        print(one)
    print(f"{len(found)} comments begin with a bare What, Of, Where, As, Those or Who; at most {AT_MOST} may"
          + ("; lower AT_MOST" if len(found) < AT_MOST else ""))
    return 1 if wrong or not sources else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
