#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_test.py: how hack/run begins and ends, with a daemon that does nothing but say that it is ready."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]

# Listens where it is told, answers everything, and ends on SIGTERM; with FILES it leaves a window as a store's folder has it.
DAEMON = """#!/usr/bin/env python3
import http.server, os, signal, sys, zipfile
class Ready(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
if os.environ.get("FILES"):
    with zipfile.ZipFile(os.environ["FILES"] + "/window.zip", "w") as window:
        window.writestr("cpu.pb.gz", b"x")
host, port = sys.argv[sys.argv.index("--listen") + 1].rsplit(":", 1)
http.server.HTTPServer((host, int(port)), Ready).serve_forever()
"""
NOTHING = "#!/bin/sh\nexit 0\n"
# Runs what follows, as root's would.
SUDO = '#!/bin/sh\n[ "$1" = -v ] || exec "$@"\n'


class Run(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.tree = pathlib.Path(folder.name)
        for name, text in {"hack/bootstrap": NOTHING, "bin/cmake": NOTHING, "bin/sudo": SUDO,
                           "build/release/bin/firetowerd": DAEMON, "build/release/bin/firetower": NOTHING}.items():
            path = self.tree / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            path.chmod(0o755)
        shutil.copy(ROOT / "hack/run", self.tree / "hack/run")

    def run_it(self, *arguments, **environment):
        environment = {**os.environ, "PATH": f"{self.tree}/bin:{os.environ['PATH']}", "XDG_STATE_HOME": str(self.tree),
                       **environment}
        command = [self.tree / "hack/run", *arguments]
        with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              env=environment) as running:
            try:
                out, err = running.communicate(timeout=20)
            except subprocess.TimeoutExpired:
                running.terminate()  # It ends its daemon then.
                running.communicate(timeout=20)
                self.fail(f"{arguments}: does not end")
        return subprocess.CompletedProcess(command, running.returncode, out, err)

    def test_a_time_that_is_none(self):
        for arguments in (["--for"], ["--for="], ["--for", ""], ["--for", "--", "--store", "file:///x"], ["--for", "soon"],
                          ["--for", "0"]):
            ran = self.run_it(*arguments)
            self.assertEqual(ran.returncode, 1, (arguments, ran.stdout))
            self.assertIn("--for takes whole seconds", ran.stderr, arguments)
            self.assertNotIn("building", ran.stdout, arguments)

    def test_a_bucket_is_no_folder(self):
        ran = self.run_it("--for", "1", "--", "--store", "s3://bucket/prefix")
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertIn("The profiles are in s3://bucket/prefix", ran.stdout)

    def test_a_folder_is_looked_into(self):
        store = self.tree / "store"
        store.mkdir()
        ran = self.run_it("--for", "1", "--", "--store", f"file://{store}")
        self.assertEqual(ran.returncode, 1)
        self.assertIn(f"no profile was written to {store}", ran.stderr)
        ran = self.run_it("--for", "1", "--", "--store", f"file://{store}", FILES=str(store))
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertIn("/tmp/firetower/cpu.pb.gz'", ran.stdout)


if __name__ == "__main__":
    unittest.main()
