#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""python_app_bench.py: the stacks of a Python application that nobody here wrote, beside py-spy's of the same load.

Django's own administration site under gunicorn, two workers, with a client for each. Whole stacks begin with the
program's first function; the hottest function has to be the one that py-spy names of those that hold the interpreter's lock
(without that it shows a thread that waits in a system call as running).
"""

import collections
import http.client
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import bench
import short
from daemon import Daemon, free_port
from whole import FIRST, why_not_whole

PACKAGES = ("django==4.2.16", "gunicorn==23.0.0", "py-spy==0.4.3")
PYTHON = "/usr/bin/python3"
SETTINGS = """
SECRET_KEY = "a load"
ALLOWED_HOSTS = ["*"]
ROOT_URLCONF = "site_urls"
STATIC_URL = "/static/"
INSTALLED_APPS = ["django.contrib.admin", "django.contrib.auth", "django.contrib.contenttypes",
                  "django.contrib.sessions", "django.contrib.messages"]
MIDDLEWARE = ["django.middleware.security.SecurityMiddleware",
              "django.contrib.sessions.middleware.SessionMiddleware", "django.middleware.common.CommonMiddleware",
              "django.middleware.csrf.CsrfViewMiddleware", "django.contrib.auth.middleware.AuthenticationMiddleware",
              "django.contrib.messages.middleware.MessageMiddleware"]
TEMPLATES = [{"BACKEND": "django.template.backends.django.DjangoTemplates", "APP_DIRS": True,
              "OPTIONS": {"context_processors": ["django.template.context_processors.request",
                                                 "django.contrib.auth.context_processors.auth",
                                                 "django.contrib.messages.context_processors.messages"]}}]
DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}}
"""
URLS = """
from django.contrib import admin
from django.urls import path
urlpatterns = [path("admin/", admin.site.urls)]
"""
WSGI = """
import os
os.environ["DJANGO_SETTINGS_MODULE"] = "site_settings"
from django.core.wsgi import get_wsgi_application
application = get_wsgi_application()
"""
SECONDS = short.pick(10, 5)
ROUNDS = short.pick(4, 1)
WARM_SECONDS = short.pick(8, 1)
COMM = "django-site"
RATE = 99


class Application:
    def __init__(self, folder, work):
        for name, text in (("site_settings", SETTINGS), ("site_urls", URLS), ("site_wsgi", WSGI)):
            (work / f"{name}.py").write_text(text)
        self.port, self.requests, self.ended = free_port(), 0, False
        # A name of its own: this bench is a python3, too.
        program = work / COMM
        program.symlink_to(os.path.realpath(PYTHON))
        self.process = subprocess.Popen(
            [program, "-m", "gunicorn", "-w", "2", "-b", f"127.0.0.1:{self.port}", "site_wsgi:application"],
            cwd=work, env={**os.environ, "PYTHONPATH": f"{folder}:{work}"}, stdout=subprocess.DEVNULL,
            stderr=open(work / "gunicorn.log", "wb"))
        end = time.monotonic() + 30
        while not self.ask():
            if time.monotonic() > end:
                raise RuntimeError((work / "gunicorn.log").read_text())
            time.sleep(0.2)
        self.clients = [threading.Thread(target=self.load) for _ in range(2)]
        for one in self.clients:
            one.start()

    def ask(self):
        try:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
            connection.request("GET", "/admin/login/")
            return connection.getresponse().status == 200
        except OSError:
            return False

    def load(self):
        while not self.ended:
            self.requests += self.ask()

    def pids(self):
        children = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        return {self.process.pid, *map(int, children)}

    def stop(self):
        self.ended = True
        for one in self.clients:
            one.join()
        self.process.terminate()
        self.process.wait()


def hottest(functions):
    """The functions by their share."""
    total = sum(functions.values())
    return [(name, value / total) for name, value in functions.most_common(3)]


def ours(application):
    with Daemon("--default-frequency-hertz", str(RATE), window_seconds=300) as daemon:
        before = application.requests
        time.sleep(SECONDS)
        answered = application.requests - before
        profile = daemon.profile('{container=~".+"}')
    total = whole = 0
    functions = collections.Counter()
    for sample in profile.samples:
        names = [frame.name for frame in sample.stack if frame.module == "[python]"]
        if sample.labels.get("comm") != COMM or not names:
            continue
        total += sample.values[0]
        whole += sample.values[0] * (not why_not_whole(sample, FIRST) and names[0] in ("<module>", "_run_module_as_main"))
        functions[names[-1].rpartition(".")[2]] += sample.values[0]
    return answered, total, whole, functions


def py_spy(application, folder, work):
    out = work / "spy.raw"
    spy = subprocess.Popen([str(folder / "bin" / "py-spy"), "record", "-s", "-g", "-f", "raw", "-F", "-r", str(RATE), "-d",
                            str(SECONDS), "-o", str(out), "-p", str(application.process.pid)],
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    before = application.requests
    time.sleep(SECONDS)
    answered = application.requests - before
    spy.wait(timeout=60)
    functions = collections.Counter()
    for row in out.read_text().splitlines():
        frames, _, count = row.rpartition(" ")
        functions[frames.split(";")[-1].rpartition(" (")[0].rpartition(".")[2]] += int(count)
    return answered, functions


def main():
    folder = bench.from_pypi("python-app", "gunicorn", *PACKAGES)
    if folder is None:
        print("SKIP bench.python-app: Django, gunicorn and py-spy cannot be had from PyPI here")
        sys.exit(77)
    total = whole = 0
    functions, theirs, lost, lost_to_spy = collections.Counter(), collections.Counter(), [], []
    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        application = Application(folder, work)
        try:
            time.sleep(WARM_SECONDS)
            for _ in range(ROUNDS):
                before = application.requests
                time.sleep(SECONDS)
                alone = application.requests - before
                answered, samples, whole_ones, mine = ours(application)
                total, whole = total + samples, whole + whole_ones
                spied, others = py_spy(application, folder, work)
                functions, theirs = functions + mine, theirs + others
                lost.append(1 - answered / alone)
                lost_to_spy.append(1 - spied / alone)
        finally:
            application.stop()
    bench.need("python_app_samples", total, 50)
    bench.at_least("python_app_whole_stacks", whole / max(total, 1), 0.99)
    bench.line("python_app_lost_percent_daemon", 100 * statistics.median(lost))
    bench.line("python_app_lost_percent_py_spy", 100 * statistics.median(lost_to_spy))
    mine, other = hottest(functions), hottest(theirs)
    print("hottest, ours:", ", ".join(f"{name} {share:.1%}" for name, share in mine))
    print("hottest, py-spy:", ", ".join(f"{name} {share:.1%}" for name, share in other))
    bench.at_least("python_app_same_hottest", float(bool(mine) and mine[0][0] == other[0][0]), 1)
    bench.finish()


if __name__ == "__main__":
    main()
