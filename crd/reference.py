# SPDX-License-Identifier: Apache-2.0
"""The reference page of the policy kinds, from their schemas."""

INTRODUCTION = """<!-- Written by crd/generate; do not edit. -->
# ProfilingPolicy and ClusterProfilingPolicy

`firetower.dev/v1alpha1`. A policy says which containers to profile, how and when. A
`ProfilingPolicy` speaks for the pods of its own namespace, a `ClusterProfilingPolicy` for those of
every namespace, for host processes and for the node. Examples: [docs/examples](../examples).

`firetowerd --policy FILE|DIR` reads policies from files: YAML or JSON, several documents a file, of
a folder the `*.yaml`, `*.yml` and `*.json`, and again when they change. Files are read strictly: a
field that is unknown, of the wrong type or out of range is an error that names file, line, field
and what is allowed, and so is a broken rule (the last table). A document with an error is left out;
the others count. Of a `kind: List`, as `kubectl get -o yaml` writes it, of a `ProfilingPolicyList` and of a
`ClusterProfilingPolicyList` each item is a policy, and errors begin with its place (`items[2].spec.mode`). Booleans are `true` and `false` alone (`yes` and `on` are booleans to one YAML
version and text to another), integers plain decimal digits, and aliases, merge keys, tags and doubled keys
are refused.

With an API server (as a pod, or by `--kubeconfig`) and without `--standalone`, the daemon watches
both kinds there as well. A policy counts until it is deleted, and the last known ones while the
server is away. A pod whose object is not known yet is sampled where a policy may take it, and kept
once one does; a `nodeSelector` takes no node whose labels are not known. A field that this version
does not know is ignored with a warning, a value that it does not know refuses the policy. Where a
file and an object have the same kind, namespace and name, the file counts.

This version serves all modes, `General`, `Trigger` and `Filter`, with profile type `CPU`. The other
types are read and checked, and the daemon says that it does not serve them yet; a policy that asks
for none but those has no effect. `objectStore.isolation: Namespace` is not served yet either.
Without pod objects (`--standalone`), `podSelector: {matchLabels: {}}` takes every
container and a selector that asks for labels takes none, with a warning.

**c** marks what `ClusterProfilingPolicy` alone has.
"""

SELECTOR = "Kubernetes' own: all members hold, and one that asks for nothing takes everything."


def page(namespaced, cluster):
    """`cluster` has every field of `namespaced`, and more."""
    tables = []
    rules = []
    _object("spec", _spec(cluster), _spec(namespaced), tables, rules)
    selector = _spec(cluster)["properties"]["targets"]["properties"]["podSelector"]
    _object("A label selector", {**selector, "description": SELECTOR}, selector, tables, rules)
    lines = [INTRODUCTION]
    for path, schema, rows in tables:
        lines += [f"## {path}", ""]
        if "description" in schema:
            lines += [schema["description"], ""]
        lines += ["| field | type | default | allowed | meaning |", "|---|---|---|---|---|"]
        lines += rows + [""]
    lines += ["## Rules", "", "| object | rule |", "|---|---|"]
    lines += [f"| `{path}` | {message} |" for path, message in rules]
    lines += ["| `metadata` | metadata.name must be at most 63 characters: it becomes the"
              " value of a label |"]
    return "\n".join(lines) + "\n"


def _spec(crd):
    return crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]


def _object(path, schema, other, tables, rules):
    """`other` is the namespaced kind's schema of the same object, None where it has none."""
    rows = []
    tables.append((path, schema, rows))
    others = other["properties"] if other else {}
    for name, field in schema["properties"].items():
        twin = others.get(name)
        mark = "" if twin or not other else " **c**"
        need = ", required" if name in schema.get("required", []) else ""
        rows.append(f"| `{name}`{mark} | {_type(field)}{need} | {_default(field)} "
                    f"| {_allowed(field, twin)} | {_meaning(field)} |")
        inner = field.get("items", field)
        if "properties" not in inner or name.endswith("Selector"):
            continue
        twin = twin.get("items", twin) if twin else None
        _object(f"{path}.{name}" + ("[]" if "items" in field else ""), inner, twin, tables, rules)
    own = _messages(schema)
    others = _messages(other) if other else own
    rules += [(path, message + ("" if message in others else " **c**")) for message in own]
    rules += [(path, message + " (`ProfilingPolicy`)") for message in others if message not in own]


def _messages(schema):
    return [rule["message"] for rule in schema.get("x-kubernetes-validations", [])]


def _type(field):
    if "x-kubernetes-int-or-string" in field:
        return "quantity"
    if field["type"] == "array":
        return "list of " + ("objects" if "properties" in field["items"] else "strings")
    if "matchLabels" in field.get("properties", {}):
        return "label selector"
    return field["type"]


def _default(field):
    if "default" not in field or field["default"] == {}:
        return ""
    default = field["default"]
    return f"`{str(default).lower() if isinstance(default, bool) else default}`"


def _allowed(field, twin):
    if "enum" in field:
        known = twin["enum"] if twin else field["enum"]
        return ", ".join(f"`{value}`" + ("" if value in known else " **c**")
                         for value in field["enum"])
    if "minimum" in field:
        return f"{field['minimum']}..{field['maximum']}"
    if "maxItems" in field:
        return f"{field.get('minItems', 0)}..{field['maxItems']} entries"
    if "pattern" in field:
        pattern = field["pattern"].replace("|", "\\|")
        return f"at most {field['maxLength']} characters, `{pattern}`"
    if "maxLength" in field:
        return f"at most {field['maxLength']} characters"
    return ""


def _meaning(field):
    """Without the default, which has its own column."""
    return field.get("description", "").split(" Default: ")[0].replace("|", "\\|")
