#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The count of bare openings sees every kind of comment, and nothing else."""

import unittest

import comment_openings
from source_tree import Source


def lines_of(path, text):
    return [line for line, _ in comment_openings.openings(Source(path, text))]


class OpeningsTest(unittest.TestCase):
    def test_sees_each_word(self):
        for word in ("What", "Of", "Where", "As", "Those", "Who"):
            self.assertEqual(lines_of("base/a.h", f"// {word} it is.\nint a;\n"), [1])

    def test_accepts_whole_sentences(self):
        for text in ("// Returns what it is.\n", "// Offset of a row.\n", "// Whole: Of, As.\n", "// Assigns it.\n",
                     "// What's in a name is a question.\n", "//\n", "int a;\n"):
            self.assertEqual(lines_of("base/a.h", text), [])

    def test_only_the_first_word_of_a_block_counts(self):
        self.assertEqual(lines_of("a.cc", "// Returns\n// What it is.\nint a;\n  // Of b.\n  // Of c.\n"), [4])
        self.assertEqual(lines_of("a.cc", "int a;  // Returns\n        // What it is.\nint b;\n"), [])
        self.assertEqual(lines_of("a.cc", "int a;  // What a is.\nint b;  // What b is.\n"), [1, 2])
        self.assertEqual(lines_of("a.cc", "// SPDX-License-Identifier: Apache-2.0\n// What it is.\n"), [2])

    def test_sees_comments_of_c(self):
        self.assertEqual(lines_of("a.bpf.c", "/*\n * What it is.\n */\nint a; /* Of b. */\n/** Who */\n"), [1, 4, 5])

    def test_passes_over_literals(self):
        self.assertEqual(lines_of("a.cc", 'f("// What");\ng(R"(\n// What\n)");\nchar c = \'"\';  // Of c.\n'), [5])

    def test_sees_python(self):
        text = '#!/usr/bin/env python3\n"""What it does."""\n\nX = "# What"\n\n\ndef f():\n    """Of one."""\n    # As it is.\n'
        self.assertEqual(lines_of("a.py", text), [2, 8, 9])
        self.assertEqual(lines_of("hack/a", text), [2, 8, 9])

    def test_sees_shell_and_cmake(self):
        self.assertEqual(lines_of("a.sh", "#!/bin/sh\n# What it does.\nf ${a#What}  # Of a.\n"), [2, 3])
        self.assertEqual(lines_of("x/CMakeLists.txt", "# Where it is.\n"), [1])
        self.assertEqual(lines_of("a.cmake", "# Those.\n"), [1])

    def test_leaves_other_files_alone(self):
        self.assertEqual(lines_of("docs/a.md", "# What it is\n"), [])
        data = Source("tests/unit/testdata/a.py", "# What it is\n")
        self.assertEqual(list(comment_openings.find([data])), [])


class CapTest(unittest.TestCase):
    def test_refuses_more_than_the_cap(self):
        self.assertTrue(list(comment_openings.complaints(3, 2, [])))
        self.assertEqual(list(comment_openings.complaints(2, 2, [])), [])
        self.assertEqual(list(comment_openings.complaints(1, 2, [4, 2])), [])

    def test_the_cap_may_only_fall(self):
        self.assertTrue(list(comment_openings.complaints(2, 3, [5, 2])))


if __name__ == "__main__":
    unittest.main()
