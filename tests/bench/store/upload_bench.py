#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""upload_bench.py PROGRAM: 100 files of 100 KB and one of 64 MB to an S3 sink, payload signed, beside curl and s3cmd.

CPU time of the client alone, user and system. curl signs what it is told the payload's SHA-256 is, so that openssl's
time over the same files is part of curl's. Lines: `metric value limit verdict`."""

import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "real")]

import s3_sink
from bench import at_most, finish, line
import short

PAIRS = short.pick(9, 1)
RUNS = short.pick(3, 1)  # of those that are not pairs
# The large ones go in parts, as what is above 16 MiB does.
SMALL_FILES, LARGE_MIB, HUGE_MIB = short.pick((100, 64, 256), (5, 17, 34))
ACCESS_KEY, SECRET_KEY = "bench-key", "bench-secret"


def skip(reason):
    print(f"SKIP bench.upload: {reason}")
    sys.exit(77)


def cpu_of(command, **more):
    """(seconds of CPU, standard output) of one command."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("AWS_") and "proxy" not in name.lower()}
    env = {**clean, "AWS_ACCESS_KEY_ID": ACCESS_KEY, "AWS_SECRET_ACCESS_KEY": SECRET_KEY}
    process = subprocess.Popen([str(part) for part in command], env=env, stdout=subprocess.PIPE, text=True, **more)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise RuntimeError(f"{command[0]} left with {process.returncode}")
    return usage.ru_utime + usage.ru_stime, output


def ours(program, port, files):
    seconds, output = cpu_of([program, f"s3://sink?endpoint=http://127.0.0.1:{port}&proxy=none&region=us-east-1", *files])
    requests, rss_kib = output.split()
    return seconds, int(requests), int(rss_kib)


def curl(folder, port, files):
    digest_seconds, digests = cpu_of(["openssl", "dgst", "-sha256", "-r", *files])
    parts = []
    for path, digest in zip(files, digests.splitlines(), strict=True):
        parts.append(
            f'upload-file = "{path}"\nurl = "http://127.0.0.1:{port}/sink/{path.name}"\n'
            f'aws-sigv4 = "aws:amz:us-east-1:s3"\nuser = "{ACCESS_KEY}:{SECRET_KEY}"\noutput = "/dev/null"\n'
            f'header = "x-amz-content-sha256: {digest.split()[0]}"\nheader = "Expect:"\nsilent\nfail\n'
        )
    config = folder / "curl.config"
    config.write_text("next\n".join(parts))
    seconds, _ = cpu_of(["curl", "--disable", "--config", config])
    return seconds + digest_seconds


def s3cmd(port, files):
    host = f"127.0.0.1:{port}"
    command = ["s3cmd", "--config=/dev/null", f"--access_key={ACCESS_KEY}", f"--secret_key={SECRET_KEY}", f"--host={host}",
               f"--host-bucket={host}", "--no-ssl", "--no-check-md5", "--region=us-east-1", "--no-progress", "-q", "put"]
    return cpu_of([*command, *files, "s3://sink/"])[0]


def make_files(folder):
    small = [folder / f"small{i:03}" for i in range(SMALL_FILES)]
    for path in small:
        path.write_bytes(os.urandom(100_000))
    large, huge = folder / "large", folder / "huge"
    for path, mib in ((large, LARGE_MIB), (huge, HUGE_MIB)):
        with path.open("wb") as out:
            for _ in range(mib):
                out.write(os.urandom(1 << 20))
    return small, large, huge


def compare(name, program, folder, port, bodies, files):
    """Ours and curl's in turn; both must have sent every byte, signed."""
    pairs, sizes = [], sum(path.stat().st_size for path in files)
    for _ in range(PAIRS):
        before = list(bodies)
        mine = ours(program, port, files)
        after = list(bodies)
        theirs = curl(folder, port, files)
        for sent in (after[0] - before[0], bodies[0] - after[0]):
            if not sizes <= sent <= sizes + 10_000:  # a completion's body comes on top
                raise RuntimeError(f"{sent} bytes arrived of {sizes}")
        if bodies[1] - before[1] != bodies[2] - before[2]:
            raise RuntimeError("an upload came unsigned")
        pairs.append((mine, theirs))
    line(f"upload_{name}_cpu_ms", 1000 * statistics.median(mine[0] for mine, _ in pairs))
    line(f"upload_{name}_curl_cpu_ms", 1000 * statistics.median(theirs for _, theirs in pairs))
    line(f"upload_{name}_requests", pairs[0][0][1])
    ratios = sorted(mine[0] / theirs for mine, theirs in pairs)
    line(f"upload_{name}_ratio_least", ratios[0])
    line(f"upload_{name}_ratio_most", ratios[-1])
    at_most(f"upload_{name}_cpu_per_curl", statistics.median(ratios), 1.2)


def main(program):
    for needed in ("curl", "openssl"):
        if shutil.which(needed) is None:
            skip(f"{needed} is not installed")
    with tempfile.TemporaryDirectory(prefix="firetower-upload-") as name, s3_sink.running() as (port, bodies):
        folder = pathlib.Path(name)
        small, large, huge = make_files(folder)
        few, large_name, huge_name = f"{SMALL_FILES}x100KB", f"{LARGE_MIB}MB", f"{HUGE_MIB}MB"
        compare(few, program, folder, port, bodies, small)
        compare(large_name, program, folder, port, bodies, [large])
        large_rss = statistics.median(ours(program, port, [large])[2] for _ in range(RUNS))
        huge_rss = statistics.median(ours(program, port, [huge])[2] for _ in range(RUNS))
        line(f"upload_{large_name}_rss_kib", large_rss)
        line(f"upload_{huge_name}_rss_kib", huge_rss)
        at_most(f"upload_{huge_name}_rss_per_{large_name}", huge_rss / large_rss, 1.05)
        if shutil.which("s3cmd") is None:
            print("upload_cpu_per_s3cmd: s3cmd is not installed")
        else:
            ratios = [ours(program, port, small)[0] / s3cmd(port, small) for _ in range(RUNS)]
            at_most(f"upload_{few}_cpu_per_s3cmd", statistics.median(ratios), 0.12)
    finish()


if __name__ == "__main__":
    main(sys.argv[1])
