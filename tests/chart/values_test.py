#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""values_test.py: what the chart takes, and what it says of what it does not take."""

import json
import re
import tempfile
from urllib.parse import parse_qs, urlsplit

from chart import CHART, EVERYTHING, KINDS_OF_PODS, ROOT, ChartCopy, Helm, find
from case import Case

# Flags that the chart sets itself, or that make no sense in its pods: they are no values.
OF_THE_AGENT = {"standalone", "kubeconfig", "listen", "config", "policy", "store", "spool", "spool-bytes", "node-name",
                "cluster", "cgroup-root", "memory-limit-bytes", "max-frequency-hertz", "debuginfod-cache", "proc-root",
                "sys-root", "tls-cert-file", "tls-private-key-file", "metrics-authorize"}
OF_THE_HUB = {"kubeconfig", "listen", "store", "retention-short", "retention-standard", "retention-long", "cluster",
              "lease-namespace", "lease-name", "identity", "tls-cert-file", "tls-private-key-file"}
LEAST = ("--set", "hub.enabled=false,networkPolicy.enabled=false,crds.install=false,flowSchema.enabled=false,"
         "ownNode.enabled=false,agent.priorityClassName=,agent.tolerations=null,agent.nodeSelector=null,agent.podAnnotations=null")
# Values of which a part may be set, or of Kubernetes' own form.
LEFT_OPEN = {"options", "resources", "seccompProfile", "appArmorProfile"}

# Values, and what helm's answer names.
REFUSED = (
    ("stroe: {url: s3://b}", ("stroe",)),
    ("store: {url: https://b.example}", ("/store/url",)),
    ("store: {url: 's3://key:secret@b'}", ("/store/url",)),
    ("hub: {storeSecret: {name: Hub_Keys}}", ("/hub/storeSecret/name",)),
    ("hub: {storeSecret: keys}", ("/hub/storeSecret",)),
    ("cluster: a/b", ("/cluster",)),
    ("cluster: 123", ("cluster is a number", 'cluster: "123"', "--set-string")),
    ("image: {digest: latest}", ("/image/digest",)),
    ("image: {repository: 'a b:#x'}", ("/image/repository",)),
    ("image: {repository: registry.example/}", ("/image/repository",)),
    ("image: {repository: Firetower}", ("/image/repository",)),
    ("image: {repository: registry.example/firetower:0.1.0}",
     ("image.repository=registry.example/firetower:0.1.0 names a tag", "Say image.repository=registry.example/firetower, ", "image.tag")),
    ("image: {repository: registry.example:5000/firetower@sha256:9f86d0}", ("names a tag or a digest", "=registry.example:5000/firetower,")),
    ("image: {repository: firetower:0.1.0}", ("Say image.repository=firetower, ",)),
    ("image: {tag: 'a b'}", ("/image/tag",)),
    ("store: {secret: {name: bucket}}", ("store.secret.name=bucket", "store.url names none", "s3://BUCKET")),
    ("store: {ca: {secret: own}}", ("store.ca.secret=own", "store.url names none")),
    ("hub: {storeSecret: {name: keys}}", ("hub.storeSecret.name=keys", "store.url names none")),
    ("tls: {agent: {secret: Own_Keys}}", ("/tls/agent/secret",)),
    ("tls: {hub: {volume: keys}}", ("/tls/hub/volume",)),
    ("tls: {hub: {secret: a, volume: {emptyDir: {}}}}", ("tls.hub.secret=a", "tls.hub.volume", "Leave one")),
    ("agent: {metrics: {authorize: 'yes'}}", ("/agent/metrics/authorize", "boolean")),
    ("agent: {options: {tls-cert-file: /a}}", ("/agent/options", "tls-cert-file")),
    ("image: {pullPolicy: Sometimes}", ("/image/pullPolicy", "IfNotPresent")),
    ("agent: {privileged: true}", ("/agent", "privileged")),
    ("agent: {options: {log-fromat: json}}", ("/agent/options", "log-fromat")),
    ("agent: {options: {listen: ':1'}}", ("/agent/options", "listen")),
    ("agent: {maxFrequencyHertz: 1000}", ("/agent/maxFrequencyHertz", "999")),
    ("agent: {spool: {size: lots}}", ("/agent/spool/size",)),
    ("agent: {spool: {size: 1k}}", ("/agent/spool/size",)),
    ("agent: {spool: {size: 15Mi}}", ("/agent/spool/size",)),
    ("agent: {spool: {size: 1025Gi}}", ("/agent/spool/size",)),
    ("agent: {spool: {size: 2Ti}}", ("/agent/spool/size",)),
    ("agent: {options: {window-seconds: soon}}", ("/agent/options/window-seconds", "integer")),
    ("agent: {options: {metrics-top-functions: 50}}", ("/agent/options/metrics-top-functions", "20")),
    ("agent: {options: {symbol-cache-bytes: much}}", ("/agent/options/symbol-cache-bytes",)),
    ("agent: {options: {symbol-cache-bytes: 4294967297}}", ("/agent/options/symbol-cache-bytes", "maximum")),
    ("agent: {options: {retention-age: 14}}", ("/agent/options/retention-age",)),
    ("agent: {options: {retention-age: a week}}", ("/agent/options/retention-age",)),
    ("agent: {options: {sample-labels: 'thread, cpu'}}", ("/agent/options/sample-labels",)),
    ("agent: {options: {ignore-opt-out: sometimes}}", ("/agent/options/ignore-opt-out", "boolean")),
    ("agent: {options: {push: https://pyroscope.example}}", ("/agent/options/push",)),
    ("hub: {options: {log-level: verbose}}", ("/hub/options/log-level", "warn")),
    ("agent: {spool: {hostPath: data}}", ("/agent/spool/hostPath",)),
    ("agent: {maxUnavailable: some}", ("/agent/maxUnavailable",)),
    ("agent: {maxUnavailable: 0%}", ("/agent/maxUnavailable",)),
    ("agent: {seccompProfile: {type: Localhost}}", ("/agent/seccompProfile", "localhostProfile")),
    ("agent: {appArmorProfile: {type: Localhost}}", ("/agent/appArmorProfile", "localhostProfile")),
    ("agent: {appArmorProfile: {localhostProfile: own}}", ("/agent/appArmorProfile", "'type'")),
    ("agent: {appArmorProfile: {type: Unconfined, localhostProfile: own}}", ("/agent/appArmorProfile/localhostProfile",)),
    ("agent: {terminationGracePeriodSeconds: 1}", ("/agent/terminationGracePeriodSeconds", "10")),
    ("agent: {seccompProfile: {type: none}}", ("/agent/seccompProfile/type", "Unconfined")),
    ("agent: {podLabels: {app.kubernetes.io/name: mine}}", ("app.kubernetes.io/name",)),
    ("agent: {resources: {limit: {memory: 1Gi}}}", ("/agent/resources", "limit")),
    ("hub: {replicas: 0}", ("/hub/replicas",)),
    ("hub: {retention: {standard: a week}}", ("/hub/retention/standard",)),
    ("hub: {retention: {short: 10m}}", ("/hub/retention/short",)),
    ("hub: {retention: {short: 14}}", ("/hub/retention/short",)),
    ("hub: {retention: {long: 3651d}}", ("/hub/retention/long",)),
    ("hub: {retention: {long: 3650d1h}}", ("/hub/retention/long",)),
    ("hub: {retention: {long: 87601h}}", ("/hub/retention/long",)),
    ("networkPolicy: {from: monitoring}", ("/networkPolicy/from",)),
    ("monitoring: {podMonitor: {relabelings: {targetLabel: node}}}", ("/monitoring/podMonitor/relabelings",)),
    ("monitoring: {podMonitor: {sampleLimit: 0}}", ("/monitoring/podMonitor/sampleLimit",)),
    ("monitoring: {rules: {runbookBase: docs}}", ("/monitoring/rules/runbookBase",)),
    ("monitoring: {rules: {exploreBase: hub}}", ("/monitoring/rules/exploreBase",)),
    ("monitoring: {rules: {exploreBase: \"https://hub/'\"}}", ("/monitoring/rules/exploreBase",)),
    ("crds: {install: maybe}", ("/crds/install",)),
    ("store: {url: 's3://b?access-key-file=/etc/a', secret: {name: keys}}", ("access-key-file", "store.secret.name=keys", "Leave one")),
    ("store: {url: 's3://b?region=r&secret-key-file=/a'}\nhub: {storeSecret: {name: own}}", ("secret-key-file", "hub.storeSecret.name=own")),
    ("store: {url: 's3://b?ca-file=/etc/a', ca: {secret: authority}}", ("ca-file", "store.ca.secret=authority")),
)

# Values at the ends of the programs' ranges (daemon/config/options.cc, hub/options.cc).
TAKEN = (
    "image: {repository: 'registry.example:5000/a__b/c-d.e', tag: v0.1.0-rc.1}",
    "image: {repository: localhost/firetower}",
    "agent: {spool: {size: 16Mi}}",
    "agent: {spool: {size: 999999Mi}}",
    "agent: {spool: {size: 1024Gi}}",
    "agent: {spool: {size: 1Ti}}",
    "hub: {retention: {short: 1h, standard: 3649d23h, long: 3650d}}",
    "cluster: '123'",
    "hub: {retention: {short: 0, standard: 0, long: 0}}",
    "hub: {retention: {short: '0', standard: 1d12h, long: 87600h}}",
    "agent: {options: {window-seconds: 3600, slice-milliseconds: 500, metrics-top-functions: 0, log-level: warn}}",
    "agent: {options: {sample-ring-bytes: 1Mi, symbol-cache-bytes: 4294967296, retention-bytes: 1.5Gi, retention-age: 1h30m}}",
    "agent: {options: {sample-labels: '', push: '', debuginfod-urls: https://debuginfod.example, cgroup-hierarchy: v1:cpu}}",
    "agent: {options: {sample-labels: 'cpu,thread', symbols: full, ignore-opt-out: true}}",
    "store: {url: 's3://b?ca-file=/etc/a', secret: {name: keys}}",
    "store: {url: 's3://b?access-key-file=/a&secret-key-file=/b', ca: {secret: authority}}",
    "agent: {appArmorProfile: {type: Localhost, localhostProfile: own}}",
)


def judge_lint(case, helm):
    for name, arguments in (("defaults", ()), ("everything", EVERYTHING), ("least", LEAST)):
        said = helm.run("lint", "--strict", CHART, *arguments, ok=False)
        case.check(f"helm lint --strict: {name}", said.returncode == 0, said.stdout if said.returncode else "")


def judge_least(case, helm):
    kinds = sorted(one["kind"] for one in helm.render(*LEAST))
    case.check("what can be left out is left out", kinds == [
        "ClusterRole", "ClusterRole", "ClusterRole", "ClusterRoleBinding", "DaemonSet", "ServiceAccount"], kinds)


def judge_refusals(case, helm):
    for text, fragments in REFUSED:
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as values:
            values.write(text)
            values.flush()
            said = helm.run("template", CHART, "--values", values.name, ok=False)
        holds = said.returncode != 0 and all(one in said.stderr for one in fragments)
        case.check(f"refused, and says which: {text}", holds, "" if holds else said.stderr)


def objects_in(schema, path=""):
    """Values that hold others."""
    for name, one in schema.get("properties", {}).items():
        if "properties" in one and name not in LEFT_OPEN - {"seccompProfile"}:
            yield f"{path}{name}"
            yield from objects_in(one, f"{path}{name}.")


def judge_null(case, helm):
    """Helm takes `null` for "as if it had no default", also where templates look into what is then not there."""
    schema = json.loads((CHART / "values.schema.json").read_text(encoding="utf-8"))
    for path in objects_in(schema):
        said = helm.run("template", CHART, "--set", f"{path}=null", ok=False)
        told = said.returncode == 0 or f"missing property '{path.split('.')[-1]}'" in said.stderr
        case.check(f"{path}=null is rendered, or said to be missing", told, "" if told else said.stderr)


def judge_taken(case, helm):
    for text in TAKEN:
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as values:
            values.write(text)
            values.flush()
            said = helm.run("template", CHART, "--values", values.name, ok=False)
        case.check(f"taken: {text}", said.returncode == 0, said.stderr)


def judge_never(case, helm):
    """0 is what the values' page says for never, and YAML's 0 is a number."""
    for arguments in (("--set", "hub.retention.short=0"), ("--set-string", "hub.retention.short=0"), ("--set-json", "hub.retention.short=0")):
        hub = find(helm.render("--set", "store.url=s3://b", *arguments), "Deployment", "firetower-hub")
        said = hub["spec"]["template"]["spec"]["containers"][0]["args"]
        case.check(f"never as {' '.join(arguments)}", "--retention-short=0" in said, said)


def differences(schema, values, path=""):
    """Yields the places where the schema and the values do not name the same things."""
    named = set(schema.get("properties", {}))
    yield from (f"{path}.{name}" for name in named ^ set(values))
    for name in (named & set(values)) - LEFT_OPEN:
        if "properties" in schema["properties"][name]:
            yield from differences(schema["properties"][name], values[name], f"{path}.{name}")


def undescribed(schema, path=""):
    for name, one in schema.get("properties", {}).items():
        if "description" not in one:
            yield f"{path}.{name}"
        if name not in LEFT_OPEN:
            yield from undescribed(one, f"{path}.{name}")


def options_of(page, pattern):
    return set(re.findall(pattern, (ROOT / "docs/reference" / page).read_text(encoding="utf-8"), re.MULTILINE))


def judge_schema(case, helm):
    schema = json.loads((CHART / "values.schema.json").read_text(encoding="utf-8"))
    values = helm.yaml.safe_load((CHART / "values.yaml").read_text(encoding="utf-8"))
    schema["properties"].pop("global")  # Helm's own.
    strays = list(differences(schema, values))
    case.check("the schema and values.yaml name the same values", not strays, strays or "")
    bare = list(undescribed(schema))
    case.check("each has a description", not bare, bare or "")
    for part, page, pattern, own in (
            ("agent", "configuration.md", r"^\| `--([a-z-]+)", OF_THE_AGENT),
            ("hub", "hub.md", r"^\| `--([a-z-]+)", OF_THE_HUB)):
        known = options_of(page, pattern)
        offered = set(schema["properties"][part]["properties"]["options"]["properties"])
        case.check(f"{part}.options are those of docs/reference/{page} but for the chart's own",
                   known and offered == known - own, sorted(offered ^ (known - own)))
        case.check(f"and the chart's own of {part} are there", own <= known, sorted(own - known))


UNITS = {"": 1, "Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30, "Ti": 1 << 40, "Pi": 1 << 50}


def judge_bounds(case):
    """The numbers of agent.options have the bounds that the reference says, and no other option has any."""
    schema = json.loads((CHART / "values.schema.json").read_text(encoding="utf-8"))
    page = (ROOT / "docs/reference/configuration.md").read_text(encoding="utf-8")
    row = r"^\| `--([a-z-]+)[^|]*\| [^|]* \| (?:a power of two, )?([0-9]+)([KMGTP]i)? to ([0-9]+)([KMGTP]i)? \|"
    said = {name: (int(least) * UNITS[of_least], int(most) * UNITS[of_most])
            for name, least, of_least, most, of_most in re.findall(row, page, re.MULTILINE)}
    for name, one in schema["properties"]["agent"]["properties"]["options"]["properties"].items():
        bounds = (one.get("minimum"), one.get("maximum"))
        case.check(f"agent.options.{name}: its bounds are the program's", bounds == said.get(name, (None, None)), bounds)


def judge_versions(case, helm):
    chart = helm.yaml.safe_load((CHART / "Chart.yaml").read_text(encoding="utf-8"))
    version = re.search(r"project\(firetower VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")).group(1)
    case.check("appVersion is what is built", chart["appVersion"] == version, chart["appVersion"])


def judge_monitoring(case, helm):
    """Whatever lies in dashboards/ and rules/ goes in as it is: braces are Prometheus's and Grafana's there."""
    dashboard = '{"title": "Nodes {{ .Values.x }}", "panels": [{"legendFormat": "{{pod}}"}]}\n'
    rules = ("# A comment\ngroups:\n- name: added\n  rules:\n  - alert: Added\n    expr: up == 0\n"
             "    annotations:\n      summary: '{{ $labels.pod }} is away'\n")
    with ChartCopy() as copy:
        for name, text in (("dashboards/added.json", dashboard), ("rules/added.yaml", rules)):
            (copy / name).parent.mkdir(exist_ok=True)
            (copy / name).write_text(text, encoding="utf-8")
        objects = helm.render(*EVERYTHING, chart=copy)
        none = helm.render(chart=copy)
    shown = find(objects, "ConfigMap", "firetower-dashboard-added")
    case.check("a dashboard is a ConfigMap", shown["data"] == {"added.json": dashboard}, shown["data"])
    case.check("that Grafana's sidecar finds", shown["metadata"]["labels"] == {"grafana_dashboard": "1"})
    wanted = helm.yaml.safe_load(rules)
    mounted = find(objects, "ConfigMap", "firetower-rules-added")["data"]["added.yaml"]
    case.check("rules are a ConfigMap", helm.yaml.safe_load(mounted) == wanted, mounted)
    case.check("and a PrometheusRule", find(objects, "PrometheusRule", "firetower-added")["spec"] == wanted)
    monitored = {one["metadata"]["name"]: one["spec"]["selector"]["matchLabels"] for one in objects if one["kind"] == "PodMonitor"}
    pods = {one["metadata"]["name"]: one["spec"]["template"]["metadata"]["labels"] for one in objects
            if one["kind"] in ("DaemonSet", "Deployment")}
    case.check("PodMonitors select the pods", monitored.keys() == pods.keys() and all(
        monitored[name].items() <= pods[name].items() for name in pods), monitored)
    hubless = helm.render(*EVERYTHING, "--set", "hub.enabled=false")
    for kind, name in (("ConfigMap", "firetower-rules-hub"), ("PrometheusRule", "firetower-hub")):
        named = [any(one["kind"] == kind and one["metadata"]["name"] == name for one in there)
                 for there in (objects, hubless)]
        case.check(f"a {kind} of rules about hubs is there only with hubs", named == [True, False], named)
    kinds = {one["kind"] for one in none}
    case.check("by default there is nothing of an operator that may be absent",
               not kinds & {"PodMonitor", "PrometheusRule", "ServiceMonitor"}, sorted(kinds))


def notes(helm, *arguments):
    """Returns the notes of `helm install`, which would need a cluster: rendered as an object instead."""
    with ChartCopy() as copy:
        text = (copy / "templates/NOTES.txt").read_text(encoding="utf-8")
        (copy / "templates/_told.tpl").write_text('{{- define "told" }}' + text + "{{- end }}", encoding="utf-8")
        (copy / "templates/told.yaml").write_text("kind: Told\nmetadata: {name: told}\ntext: {{ include \"told\" . | toJson }}\n",
                                                  encoding="utf-8")
        return find(helm.render(*arguments, chart=copy), "Told", "told")["text"]


def judge_first_policies(case, helm):
    """The first policy shows the hottest functions at once, and cores in Grafana."""
    told = notes(helm)
    page = (ROOT / "docs/first-profile.md").read_text(encoding="utf-8")
    for name, text in (("the notes", told), ("docs/first-profile.md", page)):
        found = [helm.yaml.safe_load(one) for one in re.findall(r"<<'YAML'\n(.*?)\n +YAML$", text, re.DOTALL | re.MULTILINE)]
        schedules = [one["spec"].get("general", {}).get("schedule") for one in found]
        case.check(f"the first policy of {name} profiles all the time", schedules == ["Continuous"], schedules)


def lets_in(terms, labels):
    """Matches nodeSelectorTerms as Kubernetes does: one of them holds whole; NotIn also holds where there is no such
    label."""
    return any(all(one["operator"] == "NotIn" and labels.get(one["key"]) not in one["values"]
                   for one in term["matchExpressions"]) for term in terms)


def judge_nodes(case, helm):
    """Which nodes the agents are for, by what virtual kubelets and EKS label theirs with."""
    for told, arguments, wanted in (("default", (), ["plain"]), ("own terms", EVERYTHING, ["plain", "virtual", "fargate"])):
        spec = find(helm.render(*arguments), "DaemonSet", "firetower-agent")["spec"]["template"]["spec"]
        terms = spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
        nodes = {"plain": {}, "virtual": {"type": "virtual-kubelet"}, "fargate": {"eks.amazonaws.com/compute-type": "fargate"},
                 "batch": {"pool": "batch", "type": "virtual-kubelet"}}
        seen = [name for name, labels in nodes.items() if lets_in(terms, {"kubernetes.io/os": "linux", **labels})]
        case.check(f"{told}: agents are for {', '.join(wanted)}", seen == wanted, seen)
    chosen = {"kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64"}
    objects = helm.render()
    for kind, name in (("DaemonSet", "firetower-agent"), ("Deployment", "firetower-hub")):
        selector = find(objects, kind, name)["spec"]["template"]["spec"]["nodeSelector"]
        case.check(f"{name} is for nodes that the programs are built for", selector == chosen, selector)
    bare = find(helm.render("--set", "agent.affinity=null"), "DaemonSet", "firetower-agent")["spec"]["template"]["spec"]
    case.check("without any: for all", "affinity" not in bare, bare.get("affinity", ""))


def judge_runbooks(case, helm):
    """Each alert has a path, or with a base a whole link: half a link under a name that others make links of leads nowhere."""
    both = ("--set", "monitoring.rules.configMap=true,monitoring.rules.prometheusRule=true")
    for base in ("", "https://git.example/firetower/blob/main", "https://git.example/firetower/blob/main/"):
        objects = helm.render(*both, "--set", f"monitoring.rules.runbookBase={base}")
        specs = [one["spec"] for one in objects if one["kind"] == "PrometheusRule"]
        mounted = [helm.yaml.safe_load(text) for one in objects if one["kind"] == "ConfigMap" for text in one["data"].values()]
        where, prefix = ("runbook_url", "https://git.example/firetower/blob/main/") if base else ("runbook", "")
        for kind, parts in (("PrometheusRule", specs), ("ConfigMap", mounted)):
            alerts = [rule for part in parts for group in part["groups"] for rule in group["rules"] if "alert" in rule]
            wrong = [rule["annotations"] for rule in alerts
                     if {key: value for key, value in rule["annotations"].items() if key.startswith("runbook")}
                     != {where: f"{prefix}docs/dashboards.md#{rule['alert'].lower()}"}]
            case.check(f"{kind}: alerts have their {where} at '{base}'", len(alerts) > 20 and not wrong, wrong or len(alerts))


def judge_explore(case, helm):
    """The same of the profiles behind an alert. As Prometheus fills it in, it is a URL, with what is asked for in its query."""
    both = ("--set", "monitoring.rules.configMap=true,monitoring.rules.prometheusRule=true")
    for base in ("", "https://hub.example/firetower", "https://hub.example/firetower/"):
        objects = helm.render(*both, "--set", f"monitoring.rules.exploreBase={base}")
        texts = [text for one in objects if one["kind"] == "ConfigMap" for text in one["data"].values()]
        where, prefix = ("explore_url", "https://hub.example/firetower") if base else ("explore", "")
        for kind, parts in (
            ("PrometheusRule", [one["spec"] for one in objects if one["kind"] == "PrometheusRule"]),
            ("ConfigMap", [helm.yaml.safe_load(text) for text in texts if "groups:" in text]),
        ):
            rules = [rule for part in parts for group in part["groups"] for rule in group["rules"]]
            links = {
                rule["alert"]: {key: value for key, value in rule["annotations"].items() if key.startswith("explore")}
                for rule in rules
                if any(key.startswith("explore") for key in rule.get("annotations", {}))
            }
            wanted = {"FiretowerKernelHeavy": "/explore", "FiretowerFunctionDoubled": "/api/v1/diff"}
            seen = {
                alert: {key: re.sub(r"\?.*", "", value) for key, value in link.items()} for alert, link in links.items()
            }
            case.check(
                f"{kind}: alerts of pods have their {where} at '{base}'",
                seen == {alert: {where: prefix + path} for alert, path in wanted.items()},
                seen,
            )
            queries = [parse_qs(urlsplit(value).query) for link in links.values() for value in link.values()]
            case.check(f"{kind}: with what is asked for", all("q" in query and "from" in query for query in queries), queries)


def judge_egress(case, helm):
    """The example of docs/security.md, as it stands there: both programs get it, and it has what the programs ask for."""
    page = (ROOT / "docs/security.md").read_text(encoding="utf-8")
    example = re.search(r"^### What they may reach\n.*?^```yaml\n(.*?)^```", page, re.MULTILINE | re.DOTALL).group(1)
    rules = helm.yaml.safe_load(example)["networkPolicy"]["egress"]
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as values:
        values.write(example)
        values.flush()
        objects = helm.render("--values", values.name)
    for name in ("firetower-agent", "firetower-hub"):
        spec = find(objects, "NetworkPolicy", name)["spec"]
        case.check(f"egress of docs: {name} has those rules and no other",
                   spec.get("egress") == rules and spec["policyTypes"] == ["Ingress", "Egress"], spec)
        spec = find(helm.render(), "NetworkPolicy", name)["spec"]
        case.check(f"without: {name} may reach everything", "egress" not in spec and spec["policyTypes"] == ["Ingress"], spec)
    # Addresses and ports that the sources ask at.
    ports = {cidr: {port["port"] for port in rule["ports"]} for rule in rules for peer in rule["to"]
             for cidr in [peer.get("ipBlock", {}).get("cidr")] if cidr}
    text = "".join((ROOT / "store/s3/credentials" / name).read_text(encoding="utf-8") for name in ("instance.h", "container.cc"))
    for address in ("169.254.169.254", "169.254.170.23"):
        case.check(f"egress of docs: {address}, where keys come from", address in text and ports.get(f"{address}/32") == {80}, ports)
    case.check("egress of docs: names by both protocols", [(port["port"], port["protocol"]) for port in rules[0]["ports"]]
               == [(53, "UDP"), (53, "TCP")], rules[0])


def endpoint(objects, name):
    return find(objects, "PodMonitor", name)["spec"]["podMetricsEndpoints"][0]


def judge_pod_monitors(case, helm):
    """Rules and dashboards sum by `node`; no family of /metrics has a label of that name, which honorLabels would keep."""
    monitors = ("--set", "monitoring.podMonitor.enabled=true")
    plain = helm.render(*monitors)
    named = {"sourceLabels": ["__meta_kubernetes_pod_node_name"], "targetLabel": "node"}
    case.check("agents carry their node's name", endpoint(plain, "firetower-agent")["relabelings"] == [named])
    page = (ROOT / "docs/reference/metrics.md").read_text(encoding="utf-8")
    families = re.findall(r"^\| `firetower_\w+` \| \w+ \| `?([\w,]*)", page, re.MULTILINE)
    labels = {one for family in families for one in family.split(",")}
    case.check("which no family of theirs has of its own", "pod" in labels and "node" not in labels, sorted(labels))
    for told, objects, wanted in (("without PodMonitors pods say that they may be scraped", helm.render(), "true"),
                                  ("with them nobody else is told", plain, None)):
        seen = [one["spec"]["template"]["metadata"].get("annotations", {}) for one in objects if one["kind"] in KINDS_OF_PODS]
        case.check(told, len(seen) == 2 and all(one.get("prometheus.io/scrape") == wanted and
                                                ("prometheus.io/port" in one) == bool(wanted) for one in seen), seen)
    kept = helm.render(*monitors, "--set-string", "agent.podAnnotations.team=blue")
    own = find(kept, "DaemonSet", "firetower-agent")["spec"]["template"]["metadata"]["annotations"]
    case.check("other annotations stay", own == {"team": "blue"}, own)
    added = {"targetLabel": "cluster", "replacement": "blue"}
    more = helm.render(*monitors, "--set-json", f"monitoring.podMonitor.relabelings={json.dumps([added])}",
                       "--set", "monitoring.podMonitor.sampleLimit=2000000,monitoring.podMonitor.labelLimit=30")
    for name, wanted in (("firetower-agent", [named, added]), ("firetower-hub", [added])):
        case.check(f"{name}: more relabelings come after", endpoint(more, name)["relabelings"] == wanted)
        limits = [{key: value for key, value in find(there, "PodMonitor", name)["spec"].items() if key.endswith("Limit")}
                  for there in (plain, more)]
        case.check(f"{name}: limits are those that are set", limits == [{}, {"sampleLimit": 2000000, "labelLimit": 30}], limits)


def main():
    case = Case("chart.values")
    helm = Helm(case)
    judge_lint(case, helm)
    judge_least(case, helm)
    judge_refusals(case, helm)
    judge_taken(case, helm)
    judge_never(case, helm)
    judge_null(case, helm)
    judge_schema(case, helm)
    judge_bounds(case)
    judge_versions(case, helm)
    judge_monitoring(case, helm)
    judge_pod_monitors(case, helm)
    judge_nodes(case, helm)
    judge_runbooks(case, helm)
    judge_explore(case, helm)
    judge_egress(case, helm)
    judge_first_policies(case, helm)
    case.finish()


if __name__ == "__main__":
    main()
