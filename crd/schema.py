# SPDX-License-Identifier: Apache-2.0
"""Building blocks of a structural schema (apiextensions.k8s.io/v1)."""

import re


def integer(low, high, default=None, desc=None, fmt="int32"):
    schema = {"type": "integer", "format": fmt, "minimum": low, "maximum": high}
    return _described(schema, default, desc)


def counter(fmt="int32", desc=None):
    # Bounds are doubles in a schema: 2^53 - 1 is the largest that stays what it is.
    most = 2**31 - 1 if fmt == "int32" else 2**53 - 1
    return integer(0, most, None, desc, fmt)


def text(low, high, pattern=None, default=None, desc=None):
    schema = {"type": "string"}
    if low:
        schema["minLength"] = low
    schema["maxLength"] = high
    if pattern:
        schema["pattern"] = pattern
    return _described(schema, default, desc)


def time(desc=None):
    return _described({"type": "string", "format": "date-time", "maxLength": 64}, None, desc)


def enum(*values, default=None, desc=None):
    return _described({"type": "string", "enum": list(values)}, default, desc)


def boolean(default, desc):
    return _described({"type": "boolean"}, default, desc)


def quantity(default=None, desc=None):
    schema = {
        "x-kubernetes-int-or-string": True,
        "anyOf": [{"type": "integer"}, {"type": "string"}],
        "maxLength": 32,
        "pattern": r"^[0-9]+(\.[0-9]+)?(m|k|M|G|T|Ki|Mi|Gi|Ti)?$",
    }
    return _described(schema, default, desc)


def name(desc=None):
    return text(1, 63, r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", desc=desc)


def dns_name(desc=None):
    return text(1, 253, r"^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$", desc=desc)


def cpu_list(desc=None):
    return text(1, 256, r"^[0-9]{1,4}(-[0-9]{1,4})?(,[0-9]{1,4}(-[0-9]{1,4})?)*$", desc=desc)


def obj(properties, required=None, rules=None, desc=None, default=None, **more):
    schema = {"type": "object", "properties": properties}
    if required:
        schema["required"] = required
    if rules:
        keys = ("rule", "message", "fieldPath")
        schema["x-kubernetes-validations"] = [dict(zip(keys, rule)) for rule in rules]
    schema.update({_extension(key): value for key, value in more.items()})
    return _described(schema, default, desc)


def array(items, most, kind="atomic", keys=None, desc=None, **more):
    schema = {"type": "array", "items": items, "maxItems": most, "x-kubernetes-list-type": kind}
    if keys:
        schema["x-kubernetes-list-map-keys"] = keys
    schema.update(more)
    return _described(schema, None, desc)


def selector(desc):
    requirement = obj(
        {
            "key": text(1, 317, desc="The label key."),
            "operator": enum(
                "In", "NotIn", "Exists", "DoesNotExist",
                desc="How the label relates to the values. NotIn holds without the label, too."),
            "values": array(text(0, 63), 32, desc="For In and NotIn."),
        },
        ["key", "operator"],
        [("self.operator in ['In', 'NotIn'] ? (has(self.values) && size(self.values) > 0)"
          " : (!has(self.values) || size(self.values) == 0)",
          "values are required for In and NotIn, and not allowed for Exists and DoesNotExist")])
    return obj(
        {
            "matchLabels": {
                "type": "object", "maxProperties": 32,
                "additionalProperties": text(0, 63),
                "description": "Labels that must be there with these values. {} asks for none."},
            "matchExpressions": array(requirement, 32, desc="Requirements that all must hold."),
        },
        desc=desc, x_map_type="atomic")


def crd(kind, scope, short_name, root, columns, status=False, selectable=None):
    plural = kind.lower()[:-1] + "ies" if kind.endswith("y") else kind.lower() + "s"
    version = {"name": "v1alpha1", "served": True, "storage": True,
               "schema": {"openAPIV3Schema": root}, "additionalPrinterColumns": columns}
    if status:
        version["subresources"] = {"status": {}}
    if selectable:
        version["selectableFields"] = selectable
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.firetower.dev"},
        "spec": {
            "group": "firetower.dev",
            "scope": scope,
            "names": {"kind": kind, "listKind": kind + "List", "plural": plural,
                      "singular": kind.lower(), "shortNames": [short_name],
                      "categories": ["profiling"]},
            "versions": [version],
        },
    }


def column(label, kind, path, desc=None, priority=0):
    result = {"name": label, "type": kind, "jsonPath": path}
    if desc:
        result["description"] = desc
    if priority:
        result["priority"] = priority
    return result


def _extension(key):
    """x_map_type -> x-kubernetes-map-type; other keys as they are."""
    return re.sub("^x-", "x-kubernetes-", key.replace("_", "-")) if key.startswith("x_") else key


def _described(schema, default, desc):
    """Scalar defaults go into the description, too: `kubectl explain` prints no defaults."""
    if default is not None:
        schema["default"] = default
        if not isinstance(default, dict):
            spelt = str(default).lower() if isinstance(default, bool) else default
            desc = f"{desc or ''} Default: {spelt}.".strip()
    if desc:
        schema["description"] = desc
    return schema
