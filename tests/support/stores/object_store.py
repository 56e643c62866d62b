# SPDX-License-Identifier: Apache-2.0
"""Options of a daemon for a test's S3 server, the place where that keeps its objects, and the daemon's state meanwhile."""

import os
import pathlib
import time

import servers
from machine import busy_seconds

PREFIX = "some/prefix"


def built_server(case, name="versitygw"):
    """A server's folder, and credentials for whoever asks it in the environment; skips where it cannot be built."""
    folder, why = servers.built(name)
    if folder is None:
        case.skip(f"tests/support/stores/build-stores {name} fails: {why}")
    for name in [name for name in os.environ if name.startswith("AWS_") or name.lower().endswith("_proxy")]:
        del os.environ[name]
    os.environ.update(AWS_ACCESS_KEY_ID=servers.ACCESS_KEY, AWS_SECRET_ACCESS_KEY=servers.SECRET_KEY)
    return folder


def url(endpoint):
    return (f"s3://{servers.BUCKET}/{PREFIX}?region=us-east-1&proxy=none&connect-timeout=2s&stall-timeout=5s"
            f"&endpoint={endpoint}")


def folder_of(server):
    """Returns the folder where versitygw keeps its objects as files, by their keys."""
    return server.data / servers.BUCKET / PREFIX


def waiting(spool):
    """The objects that wait in that folder; key to path."""
    pending = spool / "pending"
    # The daemon takes folders away meanwhile: os.walk passes over those.
    paths = (pathlib.Path(folder, name) for folder, _, names in os.walk(pending) for name in names)
    return {str(path.relative_to(pending)): path for path in paths if path.suffix in (".zip", ".gz")}


def await_gone(spool, keys, limit):
    """Seconds until none of these waits there any more; None if some do after so many. Newer ones may: there always is
    a window on its way, and /metrics tells of the spool as seldom as windows end."""
    begin = time.monotonic()
    while time.monotonic() - begin < limit:
        if not waiting(spool).keys() & keys:
            return time.monotonic() - begin
        time.sleep(0.2)
    return None


def watch(daemon, seconds):
    """Samples per second of CPU that the machine used, which other programs do not change; the longest that /metrics
    took; and the metrics at the end."""
    first, begin, longest, busy = daemon.metrics(), time.monotonic(), 0.0, busy_seconds()
    while time.monotonic() - begin < seconds:
        asked = time.monotonic()
        last = daemon.metrics()
        used = busy_seconds() - busy
        longest = max(longest, time.monotonic() - asked)
        time.sleep(1)
    gained = last.sum("firetower_samples_total") - first.sum("firetower_samples_total")
    return gained / used, longest, last
