#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each rule can fail: every one is fed a snippet it must refuse and one it must accept."""

import unittest

import check
import size_rules
from source_tree import Source

CC = "// SPDX-License-Identifier: Apache-2.0\n"
BPF = "/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */\n"


def lines(count):
    return "int x;\n" * count


def function(body_lines):
    return f"namespace a {{\nint F(int b) {{\n{'  b++;' + chr(10)}" + "  b++;\n" * (body_lines - 1) + "}\n}\n"


# rule -> (refused trees, accepted trees); a tree is a dict of path to text.
CASES = {
    "include-direction": (
        [
            {"base/a.cc": '#include "profile/p.h"\n', "profile/p.h": ""},
            {"symbolizer/a.cc": '#include "profile/p.h"\n', "profile/p.h": ""},
            {"profile/a.h": '#include "k8s/p.h"\n', "k8s/p.h": ""},
            {"store/a.cc": '#include "symbolizer/p.h"\n', "symbolizer/p.h": ""},
            {"query/a.cc": '#include "k8s/p.h"\n', "k8s/p.h": ""},
            {"query/a.cc": '#include "daemon/p.h"\n', "daemon/p.h": ""},
            {"cli/a.cc": ' # include "daemon/p.h"\n', "daemon/p.h": ""},
            {"daemon/a.cc": '#include "cli/p.h"\n', "cli/p.h": ""},
            {"profile/a.cc": '#include "bpf/lib/p.h"\n', "bpf/lib/p.h": ""},
            {"daemon/a.cc": '#include "tests/support/p.h"\n', "tests/support/p.h": ""},
            {"store/a.cc": '#include "proto/p.pb.h"\n'},
        ],
        [
            {"query/a.cc": '#include "store/p.h"\n#include "proto/p.pb.h"\n', "store/p.h": ""},
            {"symbolizer/a.cc": '#include "bpf/abi/p.h"\n', "bpf/abi/p.h": ""},
            {"daemon/a.cc": '#include "k8s/p.h"\n#include "daemon/b.h"\n', "k8s/p.h": "", "daemon/b.h": ""},
            {"tests/unit/a.cc": '#include "cli/p.h"\n', "cli/p.h": ""},
        ],
    ),
    "include-spelling": (
        [
            {"base/a.cc": '#include "b.h"\n', "base/b.h": ""},
            {"base/a.cc": "#include <base/b.h>\n", "base/b.h": ""},
            {"base/a.cc": '#include "../profile/b.h"\n', "profile/b.h": ""},
        ],
        [{"base/a.cc": '#include <vector>\n#include "base/b.h"\n#include "p.skel.h"\n', "base/b.h": ""}],
    ),
    "own-header-first": (
        [{"base/a.cc": '#include <vector>\n#include "base/a.h"\n', "base/a.h": ""}],
        [{"base/a.cc": '#include "base/a.h"\n#include <vector>\n', "base/a.h": ""}],
    ),
    "third-party-headers": (
        [
            {"k8s/a.h": "#include <nlohmann/json.hpp>\n"},
            {"query/a.h": "#include <curl/curl.h>\n"},
            {"query/a.h": '#include "proto/p.pb.h"\n'},
            {"query/a.h": "#include <google/protobuf/message.h>\n"},
        ],
        [{"k8s/a.cc": "#include <nlohmann/json.hpp>\n"}, {"k8s/a.h": "#include <vector>\n"}],
    ),
    "file-size": (
        [
            {"base/a.cc": lines(501)},
            {"base/a.h": lines(251)},
            {"bpf/a.bpf.c": lines(401)},
            {"tests/unit/a.cc": lines(801)},
            {"tests/e2e/a.py": lines(801)},
        ],
        [{"base/a.cc": lines(500), "base/a.h": lines(250), "tests/unit/a.cc": lines(800)}],
    ),
    "function-size": (
        [{"base/a.cc": function(69)}, {"tests/a.cc": function(99)}],
        [{"base/a.cc": function(68)}, {"base/a.cc": "int t[] = {\n" + "1,\n" * 90 + "};\n"}],
    ),
    "folder-size": (
        [{f"base/f{i}.cc": "" for i in range(15)}],
        [{f"base/f{i}.{suffix}": "" for i in range(14) for suffix in ("cc", "h")}],
    ),
    "licence": (
        [
            {"base/a.cc": "\n" + CC},
            {"hack/x": "#!/bin/sh\necho\n"},
            {"bpf/a.bpf.c": CC},
            {"tests/bench/a.bpf.c": CC},
            {"base/CMakeLists.txt": "module(base)\n"},
            {"base/a.cc": ""},
        ],
        [{"base/a.cc": CC}, {"hack/x": "#!/bin/sh\n" + CC.replace("//", "#")}, {"bpf/a.bpf.c": BPF},
         {"tests/bench/a.bpf.c": BPF}],
    ),
    "pragma-once": (
        [{"base/a.h": "#ifndef A\n#define A\n"}, {"bpf/a.h": "#ifndef A\n"}],
        [{"base/a.h": "#pragma once\n"}, {"bpf/a.h": "#ifndef A\n#define A\n"}],
    ),
    "using-namespace": (
        [{"base/a.cc": "using namespace std;\n"}],
        [{"base/a.cc": "// using namespace std;\nusing std::string;\n"}],
    ),
    "left-for-later": (
        [{"base/a.cc": f"// {word}: later\n"} for word in ("TO" "DO", "FIX" "ME", "X" "XX", "HA" "CK")],
        [{"base/a.cc": "// Hackney, todos\n"}, {"README.md": "./hack/run\n"}],
    ),
    "workplace": (
        [
            {"README.md": f"see {word}\n"}
            for word in ("../" "shared/x", "/wo" "rk/main", "before" "-stop", ".lib" "rary")
        ],
        [{"README.md": "shared libraries at work\n"}],
    ),
    "whitespace": (
        [{"base/a.cc": "int a; \n"}, {"base/a.cc": "int a;\r\n"}, {"base/a.cc": "int a;"}],
        [{"base/a.cc": "int a;\n"}, {"tests/unit/testdata/a.txt": "a \n"}],
    ),
    "units": (
        [
            {"base/a.h": "int64_t timeout;\n"},
            {"base/a.h": "void F(uint32_t drain_interval, int b);\n"},
            {"base/a.h": "double window_duration_ = 0;\n"},
            {"bpf/a.bpf.c": "__u64 addr;\n"},
        ],
        [{"base/a.h": "int64_t timeout_ms; uint64_t elf_address; Duration timeout; bool timeout;\n"}],
    ),
}


class RulesTest(unittest.TestCase):
    def complaints(self, name, tree):
        sources = [Source(path, text) for path, text in tree.items()]
        return list(check.check_rule(name, sources, check.Waivers("")))

    def test_every_rule_has_cases(self):
        self.assertEqual(set(CASES), set(check.RULES))

    def test_each_rule_refuses(self):
        for name, (refused, _) in CASES.items():
            for tree in refused:
                with self.subTest(rule=name, tree=list(tree)):
                    self.assertTrue(self.complaints(name, tree))

    def test_each_rule_accepts(self):
        for name, (_, accepted) in CASES.items():
            for tree in accepted:
                with self.subTest(rule=name, tree=list(tree)):
                    self.assertEqual(self.complaints(name, tree), [])


class FunctionLengthsTest(unittest.TestCase):
    def heads(self, text):
        return [(head, length) for _, length, head in size_rules.function_lengths(Source("a.cc", text).code)]

    def test_sees_methods_lambdas_and_odd_text(self):
        text = (
            'namespace a {\nclass B : public C {\n public:\n  B() : x_{1} {}\n  void F() {\n'
            '    auto l = [] { return "}"; };\n    char c = \'{\';\n    // }\n  }\n  int x_ = 1\'000;\n};\n'
            "enum class E { kA };\nconstexpr int kT[] = {1, 2};\n"
            'static struct f *G(int a)\n{\n  return R"({)";\n}\n}  // namespace a\n'
        )
        lengths = dict(self.heads(text))
        self.assertEqual(lengths["void F()"], 5)
        self.assertEqual(lengths["static struct f *G(int a)"], 4)
        self.assertFalse([head for head in lengths if "kT" in head or "class" in head])


class WaiversTest(unittest.TestCase):
    BIG = {"base/a.cc": lines(600), "docs/adr/0007-big.md": "# Big\n"}
    LINE = "file-size base/a.cc ADR-0007\n"

    def check(self, text, tree=None, caps=()):
        sources = [Source(path, body) for path, body in (tree or self.BIG).items()]
        waivers = check.Waivers(text)
        return list(check.check_waivers(waivers, sources, list(caps))), list(
            check.check_rule("file-size", sources, waivers)
        )

    def test_covers_what_it_names(self):
        self.assertEqual(self.check("at most 1\n" + self.LINE), ([], []))

    def test_count_is_capped_and_only_falls(self):
        self.assertTrue(self.check("at most 0\n" + self.LINE)[0])
        self.assertTrue(self.check(self.LINE)[0])
        self.assertTrue(self.check("at most 3\n" + self.LINE, caps=[5, 2])[0])
        self.assertEqual(self.check("at most 2\n" + self.LINE, caps=[5, 2])[0], [])

    def test_needs_its_adr(self):
        self.assertTrue(self.check("at most 1\n" + self.LINE, {"base/a.cc": lines(600)})[0])

    def test_goes_when_not_needed(self):
        tree = {**self.BIG, "base/a.cc": lines(10)}
        self.assertTrue(self.check("at most 1\n" + self.LINE, tree)[0])

    def test_refuses_what_it_cannot_read(self):
        self.assertTrue(self.check("at most 1\nfile-size base/a.cc\n")[0])


if __name__ == "__main__":
    unittest.main()
