#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""pod_churn_test.py: a thousand pods, twenty a second, each with a container that burns for some milliseconds.

The API server is real; a kubelet and runc are played: a pod object, its cgroup, its process, its status with the
container's id half a second later, its end and its deletion. Nothing may be lost or named wrongly.
"""

import collections
import concurrent.futures
import http.client
import os
import pathlib
import secrets
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support" / "real"))
sys.dont_write_bytecode = True

import kube as api
import pprof
from case import Case, run
from containers import cgroup_root
from daemon import Daemon

PODS = int(os.environ.get("FIRETOWER_CHURN_PODS", "1000"))
A_SECOND = 20
BURN_SECONDS = 0.03
HERTZ = 499
# Mark in the names of pods and of their tasks: other programs of the machine have samples too.
MARK = f"p{secrets.token_hex(3)}-"
PATH = "/api/v1/namespaces/default/pods"
# Policy for the pods alone: names of other programs of the machine would make the daemon grow.
PODS_ALONE = f"""
apiVersion: firetower.dev/v1alpha1
kind: ClusterProfilingPolicy
metadata: {{name: pods}}
spec:
  mode: General
  limits: {{cpu: "1"}}
  targets: {{podSelector: {{matchLabels: {{}}}}}}
  profiles: [{{type: CPU, frequencyHertz: {HERTZ}}}]
  general: {{schedule: Continuous}}
"""
# Enters a cgroup, takes a name, and burns: BURNER CGROUP NAME SECONDS [MICROSECONDS]; with a pause, so long after each 5 ms.
BURN = r"""
#include <fcntl.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>
static volatile unsigned long sink;
static void burn_until(double end) {
  struct timespec t;
  do {
    for (int i = 0; i < 20000; i++) sink += (unsigned long)i;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  } while ((double)t.tv_sec + (double)t.tv_nsec / 1e9 < end);
}
int main(int argc, char** argv) {
  prctl(PR_SET_NAME, argv[2]);
  int file = open(argv[1], O_WRONLY);
  if (file < 0 || write(file, "0", 1) != 1) return 1;
  double seconds = atof(argv[3]), piece = argc > 4 ? 0.005 : seconds;
  for (double end = piece; end <= seconds; end += piece) {
    burn_until(end);
    if (argc > 4) usleep((unsigned)atoi(argv[4]));
  }
  return 0;
}
"""


class Played:
    """A kubelet's and a runtime's part, as far as the daemon can see it."""

    def __init__(self, root, burner, patience_seconds=0):
        self.root = root
        self.burner = burner
        self.patience_seconds = patience_seconds  # that a server which is away is asked again for
        self.uids = {}  # by name
        (root / "kubepods/besteffort").mkdir(parents=True, exist_ok=True)

    def ask(self, kube, verb, path, body=None, content_type="application/json"):
        """One request; again and again while nobody is there. A kubelet does no other."""
        deadline = time.monotonic() + self.patience_seconds
        while True:
            try:
                reply = kube.call(verb, path, body, content_type)
                if reply.status not in (403, 429, 500, 503) or time.monotonic() > deadline:
                    return reply
            except (OSError, http.client.HTTPException):
                kube.connection = None
                if time.monotonic() > deadline:
                    raise
            time.sleep(0.5)

    def create(self, kube, name):
        """The pod's object, and its cgroup."""
        made = self.ask(kube, "POST", PATH, {"metadata": {"name": name}, "spec": {
            "nodeName": "node-1", "containers": [{"name": "main", "image": "none"}]}})
        if made.status == 409:  # It was made, and the answer got lost.
            made = self.ask(kube, "GET", f"{PATH}/{name}")
        if made.status not in (200, 201):
            raise RuntimeError(made.message)
        self.uids[name] = made.body["metadata"]["uid"]
        return self.root / f"kubepods/besteffort/pod{self.uids[name]}"

    def tell(self, kube, name, identity):
        """Says which container is the pod's."""
        told = self.ask(kube, "PATCH", f"{PATH}/{name}/status", {"status": {"containerStatuses": [{
            "name": "main", "ready": False, "image": "", "imageID": "", "restartCount": 0,
            "containerID": f"containerd://{identity}"}]}}, "application/strategic-merge-patch+json")
        if told.status != 200:
            raise RuntimeError(told.message)

    def pod(self, number):
        kube = api.from_environment()
        name, identity = f"{MARK}{number}", f"{number:064x}"
        outer = self.create(kube, name)
        inner = outer / identity
        inner.mkdir(parents=True)
        subprocess.run([self.burner, inner / "cgroup.procs", name, str(BURN_SECONDS)], check=True)
        inner.rmdir()
        outer.rmdir()
        time.sleep(0.5)
        self.tell(kube, name, identity)
        self.ask(kube, "DELETE", f"{PATH}/{name}?gracePeriodSeconds=0")


def churn(played, pool, first=0):
    """PODS more, twenty a second; what they do, of which the last may still go on."""
    begin = time.monotonic()
    lives = []
    for number in range(PODS):
        time.sleep(max(0.0, begin + number / A_SECOND - time.monotonic()))
        lives.append(pool.submit(played.pod, first + number))
    return lives


def requests(daemon):
    return daemon.metrics().sum("firetower_kube_requests_total")


def resident(daemon):
    return daemon.metrics().sum("process_resident_memory_bytes") / 2**20


def judge_profiles(case, daemon, played, untold=frozenset()):
    """Samples of each burner by the pod they are stored under; `untold` are those whose id was told too late."""
    found = collections.defaultdict(collections.Counter)
    for space, who, what, profile in pprof.read_store(daemon.store):
        for sample in profile.samples:
            comm = sample.labels.get("comm", "")
            if comm in played.uids and comm.startswith(MARK):
                found[comm][(space, who, what)] += sample.values[0]
    everything = sum(sum(one.values()) for one in found.values())
    told = {comm: one for comm, one in found.items() if comm not in untold}
    right = sum(one[("default", comm, "main")] for comm, one in told.items())
    unnamed = sum(count for one in found.values() for (space, _, _), count in one.items() if space == "-")
    # Beside its own name a burner may have its uid; before it entered its cgroup it was the test's.
    wrong = {comm: dict(one) for comm, one in found.items()
             for space, who, _ in one if who not in ((comm,) if space != "-" else ("-", played.uids[comm]))}
    case.check("no sample is under another pod's name", not wrong, list(wrong.items())[:3] or f"{everything} samples")
    case.at_least("part of the samples under their names", right / max(sum(map(sum, map(dict.values, told.values()))), 1), 0.99)
    case.figure("samples without a name", unnamed)
    pods = len(played.uids)
    case.at_least("pods that have samples", len(found), 0.98 * pods)
    case.at_least("samples of what is due", everything / (pods * BURN_SECONDS * HERTZ), 0.8)


def main():
    case = Case("cluster.pod-churn")
    case.need("cc")
    root = cgroup_root("v1:memory") or cgroup_root("v2")
    work = pathlib.Path(tempfile.mkdtemp(prefix="firetower-churn-"))
    run("cc", "-O1", "-static", "-x", "c", "-o", work / "burner", "-", input=BURN)
    policies = work / "policies.yaml"
    policies.write_text(PODS_ALONE)
    with Daemon("--kubeconfig", os.environ["FIRETOWER_TEST_KUBECONFIG"], "--node-name", "node-1", "--policy", policies,
                "--default-frequency-hertz", HERTZ) as daemon:
        time.sleep(5)
        before, asked = resident(daemon), requests(daemon)
        played, began = Played(root, work / "burner"), time.monotonic()
        with concurrent.futures.ThreadPoolExecutor(64) as pool:
            for life in churn(played, pool):
                life.result()
        seconds = time.monotonic() - began
        case.figure("pods a second", f"{PODS / seconds:.1f}")
        rate = (requests(daemon) - asked) / seconds
        # A server that is short of CPU ends watches; each goes on from where it was.
        case.at_most("requests a second to the API server meanwhile", rate, 1)
        grown = resident(daemon) - before
        case.at_most("MiB that the daemon grew by", grown, 40)
        case.figure("MiB of the daemon before and after", f"{before:.1f}, {before + grown:.1f}")
        time.sleep(12)  # the last window
        metrics = daemon.metrics()
        names = {labels["names"]: value for labels, value in metrics.find("firetower_pod_samples_total")}
        case.figure("samples of pods by how their name came", names)
        case.figure("watches that ended", metrics.find("firetower_kube_watch_restarts_total"))
        case.at_most("part of them without a name", names["missing"] / max(sum(names.values()), 1), 0.01)
        case.check("nothing was lost", not metrics.lost(), metrics.lost())
        daemon.stop()
        judge_profiles(case, daemon, played)
    case.finish()


if __name__ == "__main__":
    main()
