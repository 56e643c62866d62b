#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hub_lease_test.py: two hubs on one API server. One leads; paused past its lease it loses it, and does no harm when it
comes back; one that ends hands over at once."""

import signal
import sys
import tempfile
import time

import hub_parts as parts
import kube as api
from case import Case


def edit(kube, name, number):
    """Changes the policy's spec, and lets its one node run that."""
    meta = kube.merge(f"{parts.SHOP}/{name}", {"spec": {"priority": number}}).body["metadata"]
    kube.apply(f"{parts.NODES}/node-1", parts.report("node-1", parts.row(meta)))
    return meta["generation"]


def settled(kube, name, generation):
    return lambda: (parts.status(kube, name).get("observedGeneration") == generation
                    and parts.conditions(kube, name).get("Programmed") == "True/Programmed")


def version(kube, name):
    return kube.get(f"{parts.SHOP}/{name}").body["metadata"]["resourceVersion"]


def judge_pause(case, kube, leader, other):
    case.check("both answer, one leads", leader.answer("/livez") == 200 and other.answer("/livez") == 200
               and leader.leads() and not other.leads())
    took = parts.wait(settled(kube, "checkout", edit(kube, "checkout", 1)), 20)
    case.check("the leader tells of an edit", took is not None)
    case.check("the other wrote nothing", other.writes() == 0)

    leader.process.send_signal(signal.SIGSTOP)
    began = time.monotonic()
    generation = edit(kube, "checkout", 2)
    took = parts.wait(other.leads, 40)
    case.check("the leader is paused: the other takes over", took is not None)
    case.at_most("which takes at most its lease, a look and a retry, s", time.monotonic() - began, 15 + 2 + 3)
    took = parts.wait(settled(kube, "checkout", generation), 20)
    case.check("and tells of the edit", took is not None)
    case.at_most("from the pause to the status of an edit, s", time.monotonic() - began, 25)

    before, mine = version(kube, "checkout"), other.writes()
    leader.process.send_signal(signal.SIGCONT)
    time.sleep(6)
    case.check("the paused one comes back: it does not lead", not leader.leads() and other.leads())
    case.check("and nothing is written", version(kube, "checkout") == before and other.writes() == mine,
               f"{leader.writes(result='conflict'):g} of its writes were refused as too old")
    took = parts.wait(settled(kube, "checkout", edit(kube, "checkout", 3)), 20)
    case.check("an edit after that is told once more", took is not None)


def judge_handover(case, kube, leaving, staying):
    before = staying.writes()
    began = time.monotonic()
    case.check("SIGTERM ends it well", leaving.stop() == 0)
    took = parts.wait(staying.leads, 20)
    case.check("the one that stays leads", took is not None)
    case.at_most("from SIGTERM to another leader, s", time.monotonic() - began, 4)
    time.sleep(3)
    case.check("a new leader that finds all as it was writes nothing", staying.writes() == before)
    took = parts.wait(settled(kube, "checkout", edit(kube, "checkout", 4)), 20)
    case.check("and tells of the next edit", took is not None)


def main():
    case = Case("hub.lease")
    kube = api.from_environment()
    parts.install(kube)
    kube.create(parts.SHOP, parts.policy("checkout"))
    folder = tempfile.mkdtemp(prefix="firetower-hub-test-")
    config = parts.kubeconfig(kube, folder, "hub", parts.account_token(kube, "firetower-hub"))
    with parts.Hub(config, "one") as one, parts.Hub(config, "two") as two:
        api.until(lambda: one.leads() or two.leads(), 20)
        leader, other = (one, two) if one.leads() else (two, one)
        judge_pause(case, kube, leader, other)
        judge_handover(case, kube, other, leader)
        transitions = kube.get(parts.LEASE).body["spec"]["leaseTransitions"]
        case.check("the Lease counts two changes of hands", transitions == 2, transitions)
    case.finish()


if __name__ == "__main__":
    sys.exit(main())
