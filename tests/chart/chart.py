# SPDX-License-Identifier: Apache-2.0
"""The chart as helm renders it, for a test to look at."""

import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / folder) for folder in ("tests/support/real", "tests/support/kubernetes", "tests/cluster")]
sys.dont_write_bytecode = True

CHART = ROOT / "charts/firetower"
VALUES = pathlib.Path(__file__).resolve().parent / "values"
# By which everything that a value can bring is there.
EVERYTHING = ("--values", VALUES / "bucket.yaml", "--set",
              "namespace.create=true,rbac.aggregate=true,monitoring.podMonitor.enabled=true,monitoring.rules.prometheusRule=true")
KINDS_OF_PODS = ("DaemonSet", "Deployment")


def need_yaml(case):
    try:
        import yaml
    except ImportError:
        case.skip("python3-yaml is not installed")
    return yaml


class Helm:
    """Skips the test where there is none."""

    def __init__(self, case, kubeconfig=None):
        self.yaml = need_yaml(case)
        found = subprocess.run([ROOT / "tests/support/helm/build-helm", "--find"], capture_output=True, text=True, check=False)
        if found.returncode != 0:
            case.skip(found.stderr.strip())
        self.program = found.stdout.strip()
        self.kubeconfig = kubeconfig
        self.prefix = []

    def run(self, *arguments, ok=True):
        command = [*self.prefix, self.program, *map(str, arguments)]
        if self.kubeconfig:
            command += ["--kubeconfig", str(self.kubeconfig)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=180, check=False)
        if ok and done.returncode != 0:
            raise RuntimeError(f"helm {' '.join(map(str, arguments))}: {done.stderr}")
        return done

    def render(self, *arguments, chart=CHART):
        """The objects, in the order in which helm makes them."""
        text = self.run("template", "firetower", chart, "--namespace", "firetower", *arguments).stdout
        return [one for one in self.yaml.safe_load_all(text) if one]


def find(objects, kind, name):
    found = [one for one in objects if one["kind"] == kind and one["metadata"]["name"] == name]
    if len(found) != 1:
        raise RuntimeError(f"{len(found)} objects are the {kind} {name}")
    return found[0]


class ChartCopy:
    """A copy of the chart for a `with` to change."""

    def __enter__(self):
        self._folder = tempfile.TemporaryDirectory(prefix="firetower-chart-")
        path = pathlib.Path(self._folder.name) / "firetower"
        shutil.copytree(CHART, path)
        return path

    def __exit__(self, *_):
        self._folder.cleanup()
