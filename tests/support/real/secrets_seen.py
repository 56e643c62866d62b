# SPDX-License-Identifier: Apache-2.0
"""Looks for secrets where none may stand: in texts that programs gave, and in the arguments of all processes.

    watch = Watch({"secret key": "...", "session token": "..."})
    watch.add("the daemon's log", text)
    watch.look_at_arguments()
    watch.judge(case)
"""

import base64
import pathlib
import urllib.parse


def _forms(secret):
    """Returns a secret's forms: as it is, in a URL, in a
    Kubernetes Secret, and the half that a cut text may show."""
    whole = {secret, urllib.parse.quote(secret, safe=""), base64.b64encode(secret.encode()).decode()}
    return [form.encode() for form in (*whole, secret[:len(secret) // 2])]


class Watch:
    def __init__(self, secrets):
        self.forms = {name: _forms(secret) for name, secret in secrets.items()}
        self.places, self.bytes, self.found = set(), 0, set()

    def _names(self, data):
        return {name for name, forms in self.forms.items() if any(form in data for form in forms)}

    def add(self, place, data):
        """`data`: text or bytes that came from there."""
        data = data.encode() if isinstance(data, str) else data
        self.places.add(place)
        self.bytes += len(data)
        self.found |= {(place, name) for name in self._names(data)}

    def look_at_arguments(self):
        for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
            try:
                self.add("arguments of processes", path.read_bytes())
            except OSError:
                pass  # it has ended

    def in_environments_of(self, program):
        """Names of those in the environments of its processes: what says that this finds what there is."""
        names = set()
        for folder in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if pathlib.PurePath((folder / "cmdline").read_bytes().decode().split("\0")[0]).name == program:
                    names |= self._names((folder / "environ").read_bytes())
            except OSError:
                pass
        return names

    def judge(self, case):
        case.figure("looked for secrets in", f"{', '.join(sorted(self.places))}: {self.bytes >> 10} KiB")
        case.check("no secret stands in any of them", not self.found, sorted(self.found) or "none")
