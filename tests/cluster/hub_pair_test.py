#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hub_pair_test.py: two hubs on one bucket, each of which believes that it leads, as after a Lease that was lost and taken.

They answer the same, at every moment, nothing twice and nothing left out: while they write catalogs of the same time,
when windows come late, when one of them is killed and another takes its place, and when all catalogs are gone.
"""

import collections
import concurrent.futures
import contextlib
import json
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

import hub_parts as parts
import kube as api
from hub_profiles_test import WEB, account, ask, bind, samples

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support" / "stores"))

import object_store
import servers
from case import Case
from daemon import BUILD

MINUTES = 6  # that stored_bundles writes
ROUND_SECONDS = 60
SHOP = {"q": '{namespace="shop"}', "from": "now-3h"}


class Bucket:
    """Windows as agents would have stored them."""

    def __init__(self, server, folder):
        self.server, self.folder, self.windows = server, folder, 0
        self.root = object_store.folder_of(server)

    def put(self, start):
        made = self.folder / str(start)
        subprocess.run([BUILD / "tests/stored_bundles", made, str(start)], check=True)
        for path in sorted(made.rglob("*.zip")):
            self.server.put(f"{object_store.PREFIX}/{path.relative_to(made)}", path)
        self.windows += MINUTES

    def catalogs(self):
        return sorted(str(path.relative_to(self.root)) for path in self.root.rglob("catalog/**/*") if path.is_file())

    def remove_catalogs(self):
        for name in self.catalogs():
            (self.root / name).unlink()


class Pair:
    def __init__(self, case, bucket, token):
        self.case, self.bucket, self.token, self.asked, self.wrong = case, bucket, token, 0, []

    def answers(self, hub):
        top = ask(hub, "/api/v1/top", self.token, **SHOP)
        rows = json.loads(top.body)["rows"] if top.status == 200 else [{"samples": top.message}]
        return samples(ask(hub, "/api/v1/profile", self.token, **SHOP)), [row["samples"] for row in rows]

    def holds(self, hubs, *windows):
        """Whether all answer with as many; with several numbers, with any of them."""
        wanted = [WEB * count for count in windows or (self.bucket.windows,)]
        # Two questions each: what comes between them is in the second alone.
        found = {hub.identity: self.answers(hub) for hub in hubs}
        wrong = [(name, one) for name, one in found.items()
                 if one[0] not in wanted or len(one[1]) != 1 or one[1][0] not in wanted]
        self.asked += len(hubs)
        self.wrong += wrong
        return not wrong

    def ask_until(self, hubs, done, seconds, *windows):
        """Asks again and again until `done`; None when that did not come."""
        begin = time.monotonic()
        while time.monotonic() - begin < seconds:
            self.holds(hubs, *windows)
            if done():
                return time.monotonic() - begin
            time.sleep(1)
        return None

    def judge(self, what):
        self.case.check(f"{what}: every answer was right", not self.wrong, self.wrong[:3] or f"{self.asked} answers")
        self.asked, self.wrong = 0, []


@contextlib.contextmanager
def at_once(*hubs):
    """Their first rounds fall together."""
    try:
        with concurrent.futures.ThreadPoolExecutor(len(hubs)) as pool:
            list(pool.map(parts.Hub.__enter__, hubs))
        yield hubs
    finally:
        for hub in hubs:
            if hub.process is not None:
                hub.__exit__()


def figures(hubs):
    return {hub.identity: {event: int(hub.metric("firetower_hub_catalogs_total", event=event))
                           for event in ("written", "merged", "deleted", "damaged")} for hub in hubs}


def judge_writing(case, pair, hubs):
    pair.judge("before there are catalogs")
    took = pair.ask_until(hubs, lambda: all(hub.metric("firetower_hub_catalog_rounds_total", result="ok") >= 2 for hub in hubs)
                          and sum(one["merged"] for one in figures(hubs).values()) >= 1, 4 * ROUND_SECONDS)
    case.check("catalogs are written, and an hour's merged", took is not None, f"{took or 0:.0f} s: {figures(hubs)}")
    case.check("by two that both lead", all(hub.leads() for hub in hubs))
    pair.judge("while both write them")
    # Objects of the same bundles have the same name, whoever writes them.
    lists = collections.Counter(str(pathlib.PurePath(name).parent) for name in pair.bucket.catalogs() if "/bundles-" in name)
    case.check("each time has one list of bundles", lists and set(lists.values()) == {1}, dict(lists))


def judge_late(case, pair, one, other, start_again):
    """Windows of an hour that has its catalog; a hub that begins now looks for such."""
    before = pair.bucket.windows
    pair.bucket.put(pair.late_start)
    one.process.send_signal(signal.SIGKILL)
    one.process.wait()
    with start_again() as fresh:
        both = [fresh, other]
        # A window is whole or not there: any number of them may have been found.
        counts = range(before, pair.bucket.windows + 1)
        took = pair.ask_until(both, lambda: all(pair.answers(hub)[0] == WEB * pair.bucket.windows for hub in both),
                              5 * ROUND_SECONDS, *counts)
        pair.judge("while late windows come, and a hub is killed")
        case.check("both answer with the late ones", took is not None, f"{took or 0:.0f} s: {figures(both)}")
        if took is None:
            return
        pair.ask_until(both, lambda: False, 5)
        pair.judge("with them in catalogs")
        pair.bucket.remove_catalogs()
        # A hub knew the bundles since its last look by the other's catalogs alone, and finds them with its next one.
        took = pair.ask_until(both, lambda: all(pair.answers(hub)[0] == WEB * pair.bucket.windows for hub in both),
                              3 * ROUND_SECONDS, *counts)
        pair.judge("with all catalogs deleted")
        case.check("and soon the late ones are in them", took is not None, f"{took or 0:.0f} s")
        pair.ask_until(both, lambda: False, 5)
        pair.judge("from then on")
        damaged = {name: one["damaged"] for name, one in figures(both).items()}
        case.check("no catalog was damaged", not any(damaged.values()), damaged)


def main():
    case = Case("hub.pair")
    case.need("go", "curl")
    built = object_store.built_server(case)
    kube = api.from_environment()
    parts.install(kube)
    api.install_manifest(kube, "k8s/manifests/profile-readers.yaml")
    with servers.started("versitygw", built) as server, tempfile.TemporaryDirectory(prefix="firetower-pair-") as work:
        folder = pathlib.Path(work)
        bucket = Bucket(server, folder)
        hour = int(time.time()) // 3600 * 3600
        for start in (hour - 3600, hour - 2400, int(time.time()) // 60 * 60 - 720):
            bucket.put(start)
        token = account(kube, "pods")
        bind(kube, "firetower-profile-reader", "pods")
        pair = Pair(case, bucket, token)
        pair.late_start = hour - 1200
        # With the administrator's rights: the hub's own reach one Lease.
        config = parts.kubeconfig(kube, folder, "hub", "admin-token")

        def start(name):
            return parts.Hub(config, name, "--store", object_store.url(server.endpoint), "--cluster", "home",
                             "--lease-name", name)

        with at_once(start("one"), start("two")) as (one, two):
            api.until(lambda: pair.answers(one)[0] == WEB * bucket.windows, 30)  # the right counts after a while
            case.check("both answer", pair.holds([one, two]), (pair.answers(one), pair.answers(two)))
            judge_writing(case, pair, [one, two])
            judge_late(case, pair, one, two, lambda: start("three"))
    case.finish()


if __name__ == "__main__":
    sys.exit(main())
