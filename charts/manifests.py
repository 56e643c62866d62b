# SPDX-License-Identifier: Apache-2.0
"""Files of YAML objects, each of some of the chart's templates."""

import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[1]
CHART = ROOT / "charts/firetower"
NOTE = "# SPDX-License-Identifier: Apache-2.0\n# Written by charts/generate from charts/firetower; do not edit.\n"

# By templates, in this order. The CRDs are those of crd/.
MANIFESTS = {
    "00-namespace": ["namespace"],
    "agent-rbac": ["agent/rbac"],
    "agent": ["agent/daemonset", "agent/network-policy"],
    "flow-schema": ["priority-level", "flow-schema"],
    "hub-rbac": ["hub/rbac"],
    "hub": ["hub/deployment", "hub/service", "hub/disruption-budget", "hub/network-policy",
            "hub/lease"],
    "own-node": ["agent/own-node"],
    "profile-readers": ["profile-readers"],
}
# The pods of an installation that sets what it can.
PICTURE = "tests/chart/pictures/bucket.yaml"
PICTURED = ["agent/daemonset", "agent/network-policy", "hub/deployment", "hub/network-policy"]


def render(helm, *arguments):
    """Template -> its objects' text, comments and all."""
    command = [helm, "template", "firetower", CHART, "--namespace", "firetower", *arguments]
    rendered = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    texts = {}
    for document in re.split(r"^---\n", rendered, flags=re.MULTILINE):
        source = re.match(r"# Source: firetower/templates/(\S+)\.yaml\n", document)
        if source:
            text = document[source.end():].strip("\n") + "\n"
            texts.setdefault(source.group(1), []).append(text)
    return texts


def outputs(helm):
    texts = render(helm, "--set", "namespace.create=true")
    for name, templates in MANIFESTS.items():
        yield f"k8s/manifests/{name}.yaml", NOTE + "---\n".join(one for template in templates for one in texts[template])
    texts = render(helm, "--values", ROOT / "tests/chart/values/bucket.yaml")
    yield PICTURE, NOTE + "---\n".join(one for template in PICTURED for one in texts[template])
