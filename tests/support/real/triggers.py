# SPDX-License-Identifier: Apache-2.0
"""Policies in mode Trigger for containers of runc, and what came of them."""

import pathlib
import time

import pprof

POLICY = """apiVersion: firetower.dev/v1alpha1
kind: ClusterProfilingPolicy
metadata:
  name: {name}
spec:
  mode: Trigger
  targets:
    podSelector: {{matchLabels: {{}}}}
    containers: {{include: ["{container}"]}}
  trigger:
    rules:
    - {rule}
    armedFrequencyHertz: {armed}
    capture: {{preTriggerSeconds: {before}, durationSeconds: {after}, frequencyHertz: {capture}, scope: Container}}
    cooldownSeconds: {cooldown}
    maxCapturesPerHour: {most}
"""


def policy(name, container, rule, before, after, armed=49, capture=97, cooldown=600, most=6):
    """Policy for one container, whose captures hold its samples alone; seconds, and samples a second."""
    return POLICY.format(name=name, container=container.name, rule=rule, armed=armed, capture=capture, before=before,
                         after=after, cooldown=cooldown, most=most)


def utilization(name, metric, percent, seconds, **more):
    others = "".join(f"{key}: {value}, " for key, value in more.items())
    return (f"{{name: {name}, metric: {metric}, operator: GreaterThan, forSeconds: {seconds}, {others}"
            f"target: {{type: Utilization, utilizationPercent: {percent}}}}}")


def fired(daemon, name):
    return [line for line in daemon.log().splitlines() if "trigger fired" in line and f" {name}\"" in line]


def captures(daemon, name):
    """The capture objects of a policy: path and profile."""
    found = []
    for path in sorted(pathlib.Path(daemon.store).rglob("capture/**/*.pb.gz")):
        profile = pprof.parse(path.read_bytes())
        if f"policy={name}" in profile.comments:
            found.append((path, profile))
    return found


def wait_for(what, seconds):
    """Returns the answer of `what` once it holds, or after `seconds`."""
    end = time.monotonic() + seconds
    while not (told := what()) and time.monotonic() < end:
        time.sleep(0.1)
    return told
