#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""whole_way_test.py: from helm install to helm uninstall on one cluster, as somebody new would go it, in six minutes.

The image, the chart and a bucket; a policy for one Deployment beside another that burns too; what burns, by the dashboard
of a real Prometheus and by kubectl firetower; a trigger's capture of a step of CPU; what kubectl says of policies; an
upgrade, whose gap can be seen and which loses nothing else; and what is there after all was uninstalled.
"""

import contextlib
import datetime
import json
import os
import pathlib
import re
import secrets
import subprocess
import sys
import time
import zipfile

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path += [str(TESTS / folder) for folder in (
    "support/real", "support/kubernetes", "support/stores", "support/dashboards", "chart")]

import object_store
import panels
import pprof
import secrets_seen
import servers
from case import Case, run
from chart import CHART
from cluster_test import AGENT, SPACE, ClusterHelm, ready
from daemon import BUILD
from hub_questions_test import FORWARD, LIST, account
from object_store_test import HUB, Person, bucket_folder, store_url
from pods_test import BURN, IMAGE, Truth, container, deployment, pod
from policies_test import CHECKOUT, policy
from prometheus import Prometheus
from shown import RANGE_SECONDS, Shown
from triggers_test import FOR, condition, events, limited, trigger, utilization
from whole_cluster import NETWORK, SERVER, Cluster, Proxy, wait_for

CLUSTER = "blue"
BOARD = "Firetower / Pod"
QUESTION = '{workload="checkout"}'
TOTAL_SECONDS = 360
# Between the trigger's policy and the step.
IDLE_SECONDS = 5
STEP_CPU_SECONDS = 6
# Threshold of the trigger in per cent of the limit; the load starts from none, and crosses it on a busy machine too.
STEP_PERCENT = 20
# To an answer: a window ends (10 s), is uploaded in the 10 s after that, and a hub looks every minute; and some more.
ARRIVAL_SECONDS = 120
# Between two looks of a hub at the bucket, and some more.
LOOK_SECONDS = 70
# Slices without a sample are part of no window: a busy machine makes small gaps, 2.3 s were seen beside a build of the
# fuzzers. A window that is lost is one of 10 s.
GAP_SECONDS = 4
# Objects that Kubernetes makes by itself in a namespace or for a definition, and those of this test in the release's.
KEPT = {("ConfigMap", "kube-root-ca.crt"), ("ServiceAccount", "default"), ("APIService", "v1alpha1.firetower.dev"),
        ("Namespace", SPACE), ("Secret", "bucket"), ("Secret", "own-tls"), ("Role", "reader"), ("RoleBinding", "reader")}
DEFINITIONS = {("CustomResourceDefinition", f"{kind}.firetower.dev")
               for kind in ("profilingpolicies", "clusterprofilingpolicies", "profilingnodes")}
# Objects that stay as well: this test's policies, and the agent's report, which is the Node's and goes with it.
OBJECTS = {("ProfilingPolicy", name) for name in ("checkout", "switches", "step")} | {("ProfilingNode", "node-1")}


# Families that the policy here does not ask for: e2e.dashboards has them.
OTHER_TYPES = re.compile("firetower_(hotspot_)?(offcpu|lock_wait|page_faults)_")
# It shows the whole kernel, which a policy of a namespace may not.
TRACEPOINT = {"type": "Event", "events": [{"name": "sched:sched_switch", "period": 1}]}


class Way:
    """The cluster, its bucket, and who looks at both."""

    def __init__(self, case, cluster, server):
        self.case, self.cluster, self.server = case, cluster, server
        self.helm, self.truth = ClusterHelm(case, cluster), Truth(cluster)
        self.reader = self.admin = None
        self.one = None  # the load's pod
        self.began = self.spent_before = 0.0  # when the policy came: s since 1970, and the load's CPU until then

    @property
    def name(self):
        return self.one["metadata"]["name"]

    def spent(self):
        """CPU of the load since the policy came, by the kernel."""
        return self.truth.cpu_seconds(self.one) - self.spent_before

    def listed(self, selector, *arguments):
        """Lists the stored profiles, oldest first, by kubectl firetower."""
        done = self.reader.ask("profiles", selector, "-n", "shop", "--from", f"{self.began:.0f}", "-k", "1000", "-o",
                               "json", *arguments)
        rows = json.loads(done.stdout)["rows"] if done.returncode == 0 else []
        return sorted((row for row in rows if row.get("id")), key=lambda row: row["start_ms"])

    def checks(self):
        """Returns the checks of the cluster's doctor, by name."""
        done = self.admin.ask("doctor", "-o", "json")
        return {one["name"]: one for one in json.loads(done.stdout)["checks"]} if done.stdout else {}

    def stored(self):
        """Keys of the bundles in the bucket that have the load's CPU."""
        folder, found = bucket_folder(self.server), set()
        for path in folder.rglob("bundle/**/*.zip"):
            with zipfile.ZipFile(path) as bundle:
                if any(name.startswith(f"shop/{self.name}/cart/cpu-") for name in bundle.namelist()):
                    found.add(str(path.relative_to(folder)))
        return found

    def windows(self):
        return [row for row in self.listed(QUESTION, "-t", "cpu") if not row.get("capture")]


def judge_install(way):
    case, cluster = way.case, way.cluster
    cluster.namespace(SPACE)
    cluster.apply({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "bucket", "namespace": SPACE},
                   "stringData": {"access-key": servers.ACCESS_KEY, "secret-key": way.server.secret_key}})
    told = way.helm.run("install", SPACE, CHART, *way.helm.values, "--set", f"cluster={CLUSTER},store.secret.name=bucket",
                        "--set-string", f"store.url={store_url(way.server)}").stdout
    warned = next((line for line in told.splitlines() if "WARNING" in line), "no warning")
    case.check("the notes say that the namespace has no label", "has no label that lets the agents' pods in" in warned, warned)
    way.admin = Person(cluster, Proxy(), "admin", "admin-token", secrets_seen.Watch({}))
    one = way.checks().get("pod-security", {})
    case.check("doctor says so too", "namespace firetower has no label" in one.get("message", ""), one)
    # Asked after it: pods that are not there now were not there then.
    made = bool(cluster.pods(SPACE, "-l", AGENT))
    case.check("and warns until a pod was tried", one.get("status") == "warn" or (one.get("status") == "ok" and made), one)
    case.check("and that the cluster lets them in when they are there", wait_for(
        lambda: way.checks().get("pod-security", {}).get("status") == "ok", 30))
    cluster.kubectl(*re.search(r"kubectl (label .*)$", told, re.MULTILINE).group(1).split())
    labels = json.loads(cluster.kubectl("get", "namespace", SPACE, "-o", "json"))["metadata"]["labels"]
    case.check("by their command it has", labels.get("pod-security.kubernetes.io/enforce") == "privileged", labels)
    case.check("an agent and two hubs are ready", wait_for(
        lambda: ready(cluster, AGENT) and len(ready(cluster, HUB)) == 2, 120))


def start_load(way):
    """Starts a pod that burns, one that burns without a policy, and one that will burn; makes a policy and a reader."""
    cluster = way.cluster
    cluster.namespace("shop")
    idle = pod("steady", {"containers": [container("steady", "0.05", "stay")]}, labels={"app": "steady"})
    cluster.apply(limited(deployment("checkout", 1, "3600"), cpu="400m"),
                  limited(deployment("innocent", 1, "3600"), cpu="200m"), limited(idle, cpu="300m"))
    way.reader = Person(cluster, Proxy(), "reader", account(cluster, "reader", {SPACE: [LIST, FORWARD]}),
                        secrets_seen.Watch({}))
    # The notes tell this command.
    cluster.kubectl("-n", "shop", "create", "rolebinding", "profiles", "--clusterrole=firetower-profile-reader",
                    "--serviceaccount=shop:reader")
    way.one = next(iter(wait_for(lambda: way.truth.running("app=checkout")).values()))
    for label in ("app=innocent", "app=steady"):
        wait_for(lambda label=label: way.truth.running(label))
    cluster.apply(policy("checkout", CHECKOUT))
    way.began, way.spent_before = time.time(), way.truth.cpu_seconds(way.one)


def judge_shown(way, prometheus):
    """The panels' own queries, at the variables' own choices."""
    case, shop = way.case, 'firetower_cpu_seconds_total{namespace="shop"}'
    wait_for(lambda: way.name in prometheus.label_values(shop, "pod"), 40)
    innocent, = way.truth.running("app=innocent").values()
    before, spent, since = way.truth.cpu_seconds(innocent), way.spent(), time.monotonic()
    time.sleep(RANGE_SECONDS + 2)
    cores = (way.spent() - spent) / (time.monotonic() - since)
    shown = Shown(prometheus, {"namespace": "shop", "pod": way.name}, "http://127.0.0.1:7080")
    asked = [one for one in panels.queries() if one.dashboard == BOARD and not OTHER_TYPES.search(one.expr)]
    empty = shown.wait(asked, 20)
    if not case.check("every query of the pod's dashboard has data", not empty, [str(one) for one in empty]):
        return
    rows = sorted(shown.answer(BOARD, "Hottest functions"), key=lambda row: -row[1])
    hottest = {key: rows[0][0].get(key) for key in ("function", "container")}
    case.check("its hottest function is the load's", hottest == {"function": "burn", "container": "cart"}, rows[:2])
    case.at_least("its part of the pod's CPU", rows[0][1], 0.8)
    cpu = shown.answer(BOARD, "CPU")[0][1]
    case.check("its CPU is what the kernel says, within a quarter", abs(cpu - cores) < 0.25 * cores, f"{cpu:.3f}, {cores:.3f}")
    workload = {(labels.get("workload_kind"), labels.get("workload")) for labels, _ in shown.answer(BOARD, "Workload")}
    case.check("its workload is the Deployment", workload == {("Deployment", "checkout")}, workload)
    case.at_least("the innocent pod burnt meanwhile, s", way.truth.cpu_seconds(innocent) - before, 1)
    pods = prometheus.label_values(shop, "pod")
    case.check("and is not there", pods == [way.name], pods)
    targets = {labels["job"]: value for labels, value in prometheus.values("max_over_time(up[20s])", True, 0)}
    case.check("agent and hub are scraped", targets == {"agents": 1, "hub": 1}, targets)


def judge_dashboard(way):
    ports = {name: [Proxy((way.cluster.pods(SPACE, "-l", label)[0]["status"]["podIP"], port)).port]
             for name, label, port in (("agents", AGENT, 7070), ("hub", HUB, 7080))}
    with Prometheus(ports, sorted((panels.CHART / "rules").glob("*.yaml"))) as prometheus:
        judge_shown(way, prometheus)


def judge_questions(way):
    case, path = way.case, way.cluster.folder / "checkout.pb.gz"
    wait_for(lambda: len(way.windows()) >= 2, ARRIVAL_SECONDS, 1)
    done = way.reader.ask("get", "deploy/checkout", "-n", "shop", "--since", "5m", "-f", path)
    if not case.check("kubectl firetower get answers", done.returncode == 0, done.stderr):
        return
    told = run("go", "tool", "pprof", "-symbolize=none", "-sample_index=cpu", "-top", path, check=False, timeout=120)
    rows = [line.split() for line in told.stdout.partition("flat%")[2].splitlines()[1:]]
    case.check("go tool pprof: its top function is the load's", bool(rows) and rows[0][5:6] == ["burn"],
               rows[:2] or told.stderr)
    top = way.reader.ask("top", "-n", "shop", "-o", "json")
    pods = [row["pod"] for row in json.loads(top.stdout)["rows"]] if top.returncode == 0 else top.stderr
    case.check("kubectl firetower top: of the namespace its pod alone", pods == [way.name], pods)


def judge_trigger(way):
    """A pod that did nothing begins to burn."""
    case, cluster, truth = way.case, way.cluster, way.truth
    cluster.apply(trigger("step", "steady", utilization("ContainerCPU", STEP_PERCENT)),
                  {**policy("switches", CHECKOUT), "spec": {**policy("switches", CHECKOUT)["spec"], "profiles": [TRACEPOINT]}})
    wait_for(lambda: condition(cluster, "step", "Programmed")[0].startswith("True"), 30)
    time.sleep(IDLE_SECONDS)
    one, = truth.running("app=steady").values()
    began, marks = time.time(), []

    def fires():
        marks.append((time.time(), truth.cpu_seconds(one)))
        return events(cluster, "step")
    command = ["nsenter", f"--net={NETWORK}", f"{cluster.binaries}/kubectl", "--kubeconfig", cluster.folder / "kubeconfig",
               "-n", "shop", "exec", "steady", "--", "/program", STEP_CPU_SECONDS]
    with subprocess.Popen(list(map(str, command)), stdin=subprocess.DEVNULL) as burning:
        try:
            fired = wait_for(fires, 40)
            marks.append((time.time(), truth.cpu_seconds(one)))
            case.figure("s from the step to its Event", f"{marks[-1][0] - began:.1f}")
        finally:
            # It burns its seconds to their end without kubectl too, whose stream may outlive it by minutes.
            burning.kill()
    case.check("one Event, about the pod", len(fired) == 1 and fired[0]["related"]["name"] == "steady", fired[0]["note"])
    row, = wait_for(lambda: way.listed('{capture!=""}'), ARRIVAL_SECONDS, 1)
    case.check("the capture is the pod's", (row["pod"], row["container"]) == ("steady", "steady"), row["id"])
    path = cluster.folder / "step.pb.gz"
    done = way.reader.ask("get", "--id", row["id"], "-f", path)
    if not case.check("kubectl firetower get has it", done.returncode == 0, done.stderr):
        return
    profile = pprof.parse(path.read_bytes())
    index = profile.value_index("cpu")
    burnt = sum(one.values[index] for one in profile.samples if "burn" in one.names) / 1e9
    # A load that gets little of a busy machine reaches the threshold late, and has burnt some before the capture begins.
    spent = marks[-1][1] - max([cpu for at, cpu in marks if at <= profile.time_nanos / 1e9] or [marks[0][1]])
    case.at_least(f"CPU of the load in it, of {spent:.2f} s until the Event", burnt, 0.7 * spent)
    # The threshold has to be passed for so long before it fires.
    case.at_least("s of it from before the Event", marks[-1][0] - profile.time_nanos / 1e9, FOR - 1)


def judge_status(way):
    """Checks the status that a person reads."""
    case, cluster = way.case, way.cluster
    wait_for(lambda: condition(cluster, "checkout", "Ready")[0].startswith("True"), 60)
    wait_for(lambda: condition(cluster, "switches", "Accepted")[0], 30)
    head, *rows = [line.split() for line in cluster.kubectl("-n", "shop", "get", "profilingpolicies").splitlines()]
    case.check("kubectl get: its columns", head == [
        "NAME", "MODE", "PODS", "NODES", "DESIRED", "PROGRAMMED", "REASON", "AGE"], head)
    seen = {row[0]: row[1:7] for row in rows}
    for name, mode in (("checkout", "General"), ("step", "Trigger")):
        case.check(f"kubectl get: {name}", seen.get(name) == [mode, "1", "1", "1", "True", "Programmed"], seen.get(name))
    wanted = {"Accepted": "True/Accepted", "Programmed": "True/Programmed", "Degraded": "False/AsExpected",
              "Ready": "True/Ready"}
    for name in ("checkout", "step"):
        found = {kind: condition(cluster, name, kind)[0] for kind in wanted}
        case.check(f"conditions of {name}", found == wanted, found)
    found = condition(cluster, "switches", "Accepted")
    case.check("a policy of what its namespace may not see is not accepted", found[0] == "False/UnsupportedProfileType"
               and "need a ClusterProfilingPolicy" in found[1], found)
    for name, reason in (("step", "TriggerFired"), ("switches", "UnsupportedProfileType")):
        told = cluster.kubectl("-n", "shop", "describe", "profilingpolicy", name).partition("\nEvents:")[2]
        case.check(f"kubectl describe {name}: its Event is {reason}", reason in told, told.strip()[-200:])
    checks = {name: one["status"] for name, one in way.checks().items()}
    case.check("doctor: the namespace, the agents, the bucket and all else are well", set(checks.values()) == {"ok"}
               and checks.keys() >= {"pod-security", "agents", "store"}, checks)
    told = cluster.kubectl("-n", "shop", "describe", "profilingpolicy", "checkout")
    case.check("kubectl describe checkout: no Event", re.search(r"\nEvents: +<none>", told), told[-200:])


def bundle_of(row):
    return row["id"].partition(":")[0]


def started_at(cluster, name):
    """Returns the start of an agent's container, s since 1970, to the second."""
    told = cluster.kubectl("-n", SPACE, "get", "pod", name, "-o",
                           "jsonpath={.status.containerStatuses[0].state.running.startedAt}")
    return datetime.datetime.fromisoformat(told.replace("Z", "+00:00")).timestamp()


def run_of(row):
    """Returns an agent's run, the part of its objects' names that is fixed from start to end."""
    return re.search(r"-([0-9a-z]{8})\.zip$", bundle_of(row)).group(1)


def windows_of_both(way, old):
    """All until the second of the agent that came after: what is on its way to the bucket is there then, and a hub, which
    looks every minute, has seen what is there."""
    spool = way.cluster.folder / "firetower/spool"
    wait_for(lambda: sum(old not in key for key in way.stored()) > 1, ARRIVAL_SECONDS, 1)
    wait_for(lambda: not any(old in key for key in object_store.waiting(spool)), ARRIVAL_SECONDS, 1)
    stored = way.stored()

    def seen():
        rows = way.windows()
        return rows if stored <= {bundle_of(row) for row in rows} else None

    return wait_for(seen, LOOK_SECONDS, 1)


def end_ms(row):
    return row["start_ms"] + 1000 * row["seconds"]


def make_certificate(cluster):
    """Makes the Secret own-tls."""
    files = {kind: cluster.folder / f"own.{kind}" for kind in ("crt", "key")}
    run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1", "-subj",
        "/CN=own", "-addext", "subjectAltName=DNS:localhost", "-keyout", files["key"], "-out", files["crt"])
    cluster.kubectl("-n", SPACE, "create", "secret", "tls", "own-tls", f"--cert={files['crt']}", f"--key={files['key']}")


def judge_upgrade(way):
    """To another option and to TLS, which kubectl firetower and the probes take up by themselves."""
    case, cluster = way.case, way.cluster
    make_certificate(cluster)
    wait_for(lambda: len(way.windows()) >= 3, 60, 1)
    listed, agent = way.windows(), ready(cluster, AGENT)
    spent, before = way.spent(), time.time()
    told = way.helm.run("upgrade", SPACE, CHART, "--reset-then-reuse-values", "--namespace", SPACE, "--set",
                        "agent.options.log-format=json,tls.agent.secret=own-tls,tls.hub.secret=own-tls", "--wait", "--timeout", "120s").stdout
    case.check("upgraded where the label is, the notes warn of nothing", "WARNING" not in told)
    fresh = next(iter(wait_for(lambda: ready(cluster, AGENT) - agent, 90)))
    log = cluster.kubectl("-n", SPACE, "logs", fresh, "--tail=3")
    case.check("another agent runs, with the new option", log.startswith("{"), log[:100])
    names = {port["name"] for one in cluster.pods(SPACE) for port in one["spec"]["containers"][0]["ports"]
             if one["status"]["phase"] == "Running" and "deletionTimestamp" not in one["metadata"]}
    case.check("agent and hubs speak TLS", names == {"https"}, names)
    old = run_of(listed[-1])
    rows = windows_of_both(way, old)
    answered = {row["id"]: row["value"] for row in rows}
    lost = [row["id"] for row in listed if answered.get(row["id"]) != row["value"]
            or not (bucket_folder(way.server) / bundle_of(row)).exists()]
    case.at_least("windows that were there before", len(listed), 3)
    case.check("are in the bucket, and answered as before", not lost, lost)
    done = way.reader.ask("get", "--id", listed[-1]["id"], "-o", "folded")
    case.check("the last of them has the load", done.returncode == 0 and "burn" in done.stdout, done.stderr)
    its = [row for row in rows if run_of(row) == old]
    # At SIGTERM the open window is written, which comes after the upgrade was asked for.
    case.at_least("the last of the agent before ends with it, s since the upgrade began", end_ms(its[-1]) / 1000 - before,
                  -GAP_SECONDS)
    stored = sum(row["value"] for row in its) / 1e9
    case.at_least(f"CPU s of the agent before, of {spent:.1f} until the upgrade", stored, 0.9 * spent)
    judge_gap(way, rows, old, started_at(cluster, fresh))


def judge_gap(way, rows, old, started):
    """There is one, between the two agents, and it is no time that was observed."""
    case = way.case
    gaps = [((after["start_ms"] - end_ms(before)) / 1000, run_of(before), run_of(after))
            for before, after in zip(rows, rows[1:])]
    between = [seconds for seconds, before, after in gaps if before != after]
    if not case.check("one gap is between windows of the one agent and those of the other", len(between) == 1
                      and between[0] > 0, between):
        return
    case.figure("the gap, s", f"{between[0]:.1f}")
    first = next(row for row in rows if run_of(row) != old)["start_ms"] / 1000
    case.at_least("it ends when the other is there, s after that container's start", first - started, 0)
    case.at_most("the widest between windows of one agent, s", max(
        seconds for seconds, before, after in gaps if before == after), GAP_SECONDS)
    done = way.reader.ask("top", "-n", "shop", "-q", QUESTION, "--from", f"{rows[0]['start_ms']:.0f}", "--to",
                          f"{end_ms(rows[-1]):.0f}", "-o", "json")
    observed = json.loads(done.stdout)["observed_seconds"] if done.returncode == 0 else 0
    asked, windows = (end_ms(rows[-1]) - rows[0]["start_ms"]) / 1000, sum(row["seconds"] for row in rows)
    # The time between two windows of a node counts as observed where the later one follows within half a second.
    case.check("what was observed is as long as the windows", -0.5 < observed - windows < 0.5 * len(rows),
               f"{observed:.1f}, {windows:.1f} s")
    if between[0] > 0.5:
        case.at_most("and less than was asked for by the gap, s", observed, asked - between[0] + 0.1)


def of_release(cluster):
    """Kind and name of all that is in its namespace, called like it or of its API; what happened (Events) is no object of
    its own."""
    kinds = [one for one in cluster.kubectl("api-resources", "--verbs=list", "-o", "name").split()
             if not one.startswith("events")]
    found = json.loads(cluster.kubectl("get", ",".join(kinds), "-A", "-o", "json"))["items"]

    def is_its(one):
        about = one["metadata"]
        said = [one["apiVersion"], about["name"], about.get("namespace", ""), *about.get("labels", {}).values(),
                about.get("annotations", {}).get("meta.helm.sh/release-name", "")]
        return any("firetower" in text for text in said)

    return {(one["kind"], one["metadata"]["name"]) for one in found if is_its(one)}


def judge_uninstall(way):
    case, cluster = way.case, way.cluster
    there = of_release(cluster)
    case.check("before, what it installed is found", there >= DEFINITIONS | OBJECTS | {
        ("DaemonSet", "firetower-agent"), ("Deployment", "firetower-hub"), ("ClusterRole", "firetower-agent"),
        ("FlowSchema", "firetower-agents")}, len(there))
    way.helm.run("uninstall", SPACE, "--namespace", SPACE, "--wait", "--timeout", "90s")
    with contextlib.suppress(TimeoutError):
        wait_for(lambda: of_release(cluster) <= KEPT | DEFINITIONS | OBJECTS, 30, 1)
    left, stays = of_release(cluster) - KEPT, DEFINITIONS | OBJECTS
    case.check("helm uninstall leaves the definitions, the policies and the node's report alone", left == stays,
               sorted(left ^ stays))


def main():
    case = Case("cluster.whole-way")
    case.need("go", "curl", "prometheus")
    folder = object_store.built_server(case)
    began = time.monotonic()
    with contextlib.ExitStack() as stack:
        with case.step("a cluster, a bucket, the image"):
            cluster = stack.enter_context(Cluster(case, cgroup_root="/firetower-whole-way"))
            server = stack.enter_context(servers.started(
                "versitygw", folder, address=SERVER[0], network=NETWORK, secret_key=secrets.token_urlsafe(30)))
            way = Way(case, cluster, server)
            burn = cluster.folder / "burn"
            run("cc", "-O1", "-static", "-fno-omit-frame-pointer", "-x", "c", "-o", burn, "-", input=BURN)
            cluster.image(IMAGE, burn)
            cluster.agent_image(os.environ.get("FIRETOWER_BUILD", BUILD))
        for what, judge in (
                ("helm install", judge_install), ("the load and its policy", start_load),
                ("the dashboard", judge_dashboard), ("kubectl firetower", judge_questions),
                ("a trigger", judge_trigger), ("what kubectl says", judge_status), ("helm upgrade", judge_upgrade),
                ("helm uninstall", judge_uninstall)):
            with case.step(what):
                judge(way)
    case.at_most("all of it, s", time.monotonic() - began, TOTAL_SECONDS)
    case.finish()


if __name__ == "__main__":
    main()
