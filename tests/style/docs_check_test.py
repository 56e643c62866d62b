#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each look of docs_check.py finds what it is for, and lets be what is right."""

import unittest

import docs_check as docs

# Two links, to a page and to a file.
NOWHERE = {"docs/a.md": "# A\n\n[b](b.md) [c](../c.cc)\n"}


class Links(unittest.TestCase):
    def wrong(self, *texts, files=()):
        pages = {f"docs/{name}.md": text for name, text in zip("ab", texts)}
        return list(docs.links(pages, lambda to: to in files))

    def test_a_file_that_is_not_there(self):
        self.assertEqual(len(list(docs.links(NOWHERE, lambda to: to == "c.cc"))), 1)
        self.assertEqual(len(list(docs.links(NOWHERE, lambda _: False))), 2)

    def test_a_heading_that_is_not_there(self):
        self.assertEqual(self.wrong("[x](b.md#what-leaves-the-node)", "## What leaves the node\n"), [])
        self.assertEqual(len(self.wrong("[x](b.md#what-leaves)", "## What leaves the node\n")), 1)
        self.assertEqual(len(self.wrong("[x](#here)\n")), 1)
        self.assertEqual(self.wrong("[x](#here)\n# Here\n"), [])

    def test_headings_as_github_spells_them(self):
        self.assertEqual(docs.anchors("# /api/v1/diff\n## Options of s3://\n## `a_b`: it, and\n## Two\n## Two\n"),
                         {"apiv1diff", "options-of-s3", "a_b-it-and", "two", "two-1"})

    def test_code_is_no_link_and_no_heading(self):
        self.assertEqual(self.wrong("```\n[x](none.md)\n# Here\n```\n`[y](none.md)`\n"), [])
        self.assertEqual(len(self.wrong("```\n# Here\n```\n[x](#here)\n")), 1)

    def test_addresses_elsewhere(self):
        self.assertEqual(self.wrong("[x](https://example.org/#y)\n"), [])


class Words(unittest.TestCase):
    def test_flags(self):
        known = {"--store", "--spool-bytes"}
        self.assertEqual(list(docs.flags({"a": "`--store URL`, `--spool-bytes`\n"}, known)), [])
        self.assertEqual(len(list(docs.flags({"a": "`--spool-byte`\n"}, known))), 1)
        self.assertEqual(list(docs.flags({"a": "helm install x --set a=b \\\n  --wait\n"}, known)), [])
        self.assertEqual(len(list(docs.flags({"a": "kubectl firetower top --wide\n"}, known))), 1)

    def test_flags_of_what_runs_in_a_pod(self):
        known = {"--since"}
        line = "kubectl -n x exec ds/y --request-timeout=5s -- firetower"
        for right in (f"{line} top --since 5m", f"`{line} doctor`, or `kubectl logs --tail=5`", f"{line}-hub | grep --count a"):
            self.assertEqual(list(docs.flags({"a": right}, known)), [], right)
        for wrong in (f"{line} top --sinse 5m", f"{line}-hub --no", f"x `{line} \\\n  top --no`", f"`{line} a`, `{line} --no`"):
            self.assertEqual(len(list(docs.flags({"a": wrong}, known))), 1, wrong)

    def test_metrics(self):
        known = {"firetower_spool_bytes", "firetower_objectstore_duration_seconds"}
        text = "firetower_spool_bytes firetower_objectstore_duration_seconds_bucket"
        self.assertEqual(list(docs.names({"a": text}, docs.METRIC, known, "metric")), [])
        self.assertEqual(len(list(docs.names({"a": "firetower_spool_byte"}, docs.METRIC, known, "metric"))), 1)

    def test_values(self):
        deep = docs.values_of('| `hub.resources` | `{"limits": {"memory": "1Gi"}}` | x |\n')
        self.assertEqual(deep, {"hub", "hub.resources", "hub.resources.limits", "hub.resources.limits.memory"})
        known = docs.values_of("| `agent.spool.size` | x |\n")
        self.assertEqual(known, {"agent", "agent.spool", "agent.spool.size"})
        self.assertEqual(list(docs.names({"a": "`agent.spool.size=1Gi` `agent.spool`"}, docs.VALUE, known, "value")), [])
        self.assertEqual(len(list(docs.names({"a": "`agent.spools.size`"}, docs.VALUE, known, "value"))), 1)

    def test_surfaces(self):
        pages = {"docs/reference/hub.md": "| `firetower_other` | x |\n## Metrics\n| `firetower_a`, `firetower_b{c}` | `firetower_no` |\n",
                 "docs/reference/http-api.md": "| Path | Answer |\n| `/` | x |\n| `/api/v1/top` | x |\n| `/q.Service/…` | x |\n"
                                               "## Parameters\n| `/no` | x |\n"}
        sources = {"hub/m.cc": 'AddHead(out, "firetower_a", ""); out += "firetower_b{c=1}";', "daemon/m.cc": '"firetower_no"',
                   "query/api.cc": '          {"/", "page", x},\nconstexpr std::string_view kTopPath = "/api/v1/top";\n',
                   "query/pyroscope/service.cc": '{"/q.Service/Get", kNothing},'}
        self.assertEqual(list(docs.surfaces(pages, sources)), [])
        more = {**sources, "hub/n.cc": '"firetower_c_total"', "query/api.cc": '          {"/", "page", x},\n'}
        self.assertEqual(list(docs.surfaces(pages, more)), [
            "docs/reference/hub.md: the metric firetower_c_total is not told of",
            "docs/reference/http-api.md: the path /api/v1/top is not in the code"])

    def test_code_names(self):
        sources = ["class Window {\n  void Add(int);\n};\nstruct FlightRecorder; struct ft_ring;"]
        right = {"a": "`Window::Add` `FlightRecorder` `ft_ring` `short` `page` `function=\"other\"`\n```\n`Window::No`\n```\n"}
        self.assertEqual(list(docs.code_names(right, sources)), [])
        for wrong in ("`Window::Put`", "`FlightRecorders`", "`ft_rings`"):
            self.assertEqual(list(docs.code_names({"a": wrong}, sources)), [f"a: the code has no {wrong}"])

    def test_values_that_are_kept(self):
        for right in ("helm -n x get values y -o yaml > v", "helm get values y", "helm get values y --output=json >v"):
            self.assertEqual(list(docs.kept({"a": right})), [], right)
        for wrong in ("helm -n x get values y > v", "helm get values y \\\n  > v", "helm get values y -o table > v"):
            self.assertEqual(len(list(docs.kept({"a": wrong}))), 1, wrong)

    def test_index(self):
        pages = {"docs/README.md": "[a](a.md)", "docs/a.md": "", "docs/b.md": "", "docs/adr/c.md": ""}
        self.assertEqual(list(docs.listed(pages, "docs/README.md")), ["docs/README.md: does not name docs/b.md"])


if __name__ == "__main__":
    unittest.main()
