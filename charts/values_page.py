# SPDX-License-Identifier: Apache-2.0
"""docs/reference/chart.md: the chart's values, of its schema and their defaults."""

import json

import yaml

from manifests import CHART

HEAD = """# Values of the chart

Written by `charts/generate` from `charts/firetower/values.schema.json` and `values.yaml`; change those instead. How the
chart is installed is on [its own page](../install.md). A value that is not here is refused.
"""


def leaves(schema, values, path=""):
    """(path, schema, default) of what is set as a whole, in the order of the schema."""
    for name, one in schema["properties"].items():
        if name == "global":
            continue
        here = f"{path}.{name}" if path else name
        if one.get("properties") and isinstance(values[name], dict) and values[name].keys() == one["properties"].keys():
            yield from leaves(one, values[name], here)
        else:
            yield here, one, values[name]


def default(value):
    return f"`{json.dumps(value)}`" if value not in ("", None) else ""


def outputs():
    schema = json.loads((CHART / "values.schema.json").read_text(encoding="utf-8"))
    values = yaml.safe_load((CHART / "values.yaml").read_text(encoding="utf-8"))
    page = HEAD
    for section, one in schema["properties"].items():
        if section == "global":
            continue
        page += f"\n## {section}\n\n{one['description']}\n\n"
        if "properties" not in one:
            page += f"Default: {default(values[section]) or 'none'}.\n"
            continue
        page += "| Value | Default | Meaning |\n|---|---|---|\n"
        for path, leaf, value in leaves(one, values[section], section):
            page += f"| `{path}` | {default(value)} | {leaf['description']} |\n"
    yield "docs/reference/chart.md", page
