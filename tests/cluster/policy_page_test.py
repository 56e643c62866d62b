#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/policies.md as a real API server and a real hub take it: every example whole and applied, every status as the page
shows it, and one example for each mode, kind, profile type and part of a policy that the CRDs know."""

import re
import sys
import tempfile

import hub_parts as parts
import kube as api
from case import Case

PAGE = api.ROOT / "docs" / "policies.md"
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SETTLED_SECONDS = 90
COLUMNS = {"PODS", "NODES", "DESIRED", "PROGRAMMED", "REASON", "MODE", "CAPTURES", "SUSPENDED", "PRIORITY"}


def examples(text):
    """[policy, console text that follows it], in the page's order."""
    found = []
    for language, body in FENCE.findall(text):
        if language == "yaml":
            found += [[one, ""] for one in api.yaml.safe_load_all(body) if one]
        elif language == "console" and found:
            found[-1][1] += body
    return found


def enum(schema, *path):
    for key in path:
        schema = schema["items"] if key == "[]" else schema["properties"][key]
    return set(schema["enum"])


def judge_page(case, policies):
    """The page has to cover the definitions, not a list of our own."""
    specs = {one["spec"]["names"]["kind"]: one["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
             for one in api.definitions() if one["spec"]["names"]["kind"] != "ProfilingNode"}
    schema = specs["ClusterProfilingPolicy"]
    wanted = {
        "kind": (set(specs), {one["kind"] for one in policies}),
        "mode": (enum(schema, "mode"), {one["spec"]["mode"] for one in policies}),
        "schedule": (enum(schema, "general", "schedule"),
                     {one["spec"].get("general", {}).get("schedule") for one in policies}),
        "profile type": (enum(schema, "profiles", "[]", "type"),
                         {each["type"] for one in policies for each in one["spec"].get("profiles", [])}),
        "filter": (set(schema["properties"]["filter"]["properties"]),
                   {key for one in policies for key in one["spec"].get("filter", {})}),
        "part": ({"general", "trigger", "filter", "limits", "export", "nodeSelector", "activeDeadlineSeconds"}
                 & set(schema["properties"]), {key for one in policies for key in one["spec"]}),
    }
    for what, (known, shown) in wanted.items():
        case.check(f"an example for each {what}", known <= shown, sorted(known - shown) or len(known))
    captures = {one["spec"]["trigger"].get("capture", {}).get("scope") for one in policies if "trigger" in one["spec"]}
    case.check("captures of a pod and of a node", {"Pod", "Node"} <= captures, captures)
    case.at_least("examples", len(policies), 10)
    names = [one["metadata"]["name"] for one in policies]
    case.check("names that differ", len(names) == len(set(names)), names)


def kept(written, stored):
    """Whether all that was written is there; the server adds defaults, and prunes what it does not know."""
    if isinstance(written, dict):
        return isinstance(stored, dict) and all(kept(value, stored.get(key)) for key, value in written.items())
    if isinstance(written, list):
        return isinstance(stored, list) and len(written) == len(stored) and all(map(kept, written, stored))
    return str(written) == str(stored)


def judge_server(case, kube, policies):
    for one in policies:
        name = one["metadata"]["name"]
        made = kube.create(f"{api.folder_of(one)}?fieldValidation=Strict", one)
        taken = case.check(f"{name}: the API server takes it, strictly", made.status == 201 and not made.warnings,
                           made.message or made.warnings or "")
        case.check(f"{name}: and keeps all of it", taken and kept(one["spec"], made.body["spec"]))


def rows_shown(console):
    """The `kubectl get` tables of a console block, as {column: text}; a column begins where its header does."""
    lines = console.splitlines()
    for header, line in zip(lines, lines[1:]):
        if not header.startswith("NAME "):
            continue
        starts = [(match.group(), match.start()) for match in re.finditer(r"\S+", header)]
        ends = [start for _, start in starts[1:]] + [None]
        yield {name: line[start:end].strip() for (name, start), end in zip(starts, ends)}


def play_agents(kube, policies):
    """Reports of as many nodes as the page's tables have, one pod each and the rest on the first."""
    reports = {}
    for policy, console in policies:
        row = next(rows_shown(console), {})
        if row.get("PROGRAMMED") == "False":
            continue
        meta = kube.get(f"{api.folder_of(policy)}/{policy['metadata']['name']}").body["metadata"]
        nodes = int(row.get("DESIRED") or 1)
        for index in range(nodes):
            pods = 1 if index else int(row.get("PODS") or 1) - nodes + 1
            told = {"kind": policy["kind"], "name": meta["name"], "uid": meta["uid"], "generation": meta["generation"],
                    "state": "Armed" if policy["spec"]["mode"] == "Trigger" else "Running",
                    "pods": pods, "profiledPods": pods}
            if "namespace" in meta:
                told["namespace"] = meta["namespace"]
            if not index and row.get("CAPTURES"):
                told["captures"] = int(row["CAPTURES"])
            if "\nBudgetExceeded\n" in console:
                told |= {"reason": "BudgetExceeded", "message": "sampled at 50 % of the rate it asks for: the budget"}
            reports.setdefault(f"node-{index + 1}", []).append(told)
    for node, rows in reports.items():
        said = kube.apply(f"{parts.NODES}/{node}", parts.report(node, *rows))
        if said.status not in (200, 201):
            raise RuntimeError(said.message)


def found_conditions(kube, policy):
    body = kube.get(f"{api.folder_of(policy)}/{policy['metadata']['name']}").body
    return {one["type"]: one for one in body.get("status", {}).get("conditions", [])}


def settled(kube, policy):
    return found_conditions(kube, policy).get("Programmed", {}).get("status") == "True"


def judge_table(case, kube, policy, console):
    name = policy["metadata"]["name"]
    table = kube.get(f"{api.folder_of(policy)}/{name}", accept=api.TABLE).body
    columns = [one["name"].upper() for one in table["columnDefinitions"]]
    cells = dict(zip(columns, ("" if one is None else str(one) for one in table["rows"][0]["cells"])))
    shown = list(rows_shown(console))
    for row in shown:
        case.check(f"{name}: the table's columns", set(row) <= set(columns), sorted(set(row) - set(columns)))
        got = {key: cells[key] for key in row if key in COLUMNS}
        wanted = {key: value for key, value in row.items() if key in COLUMNS}
        case.check(f"{name}: the row that the page shows", {key: value.lower() for key, value in got.items()} ==
                   {key: value.lower() for key, value in wanted.items()} and row["NAME"] == name, f"{got}")


def judge_hub(case, kube, pages):
    for policy, console in pages:
        name = policy["metadata"]["name"]
        took = parts.wait(lambda policy=policy: settled(kube, policy), SETTLED_SECONDS)
        found = found_conditions(kube, policy)
        accepted = found.get("Accepted", {})
        told = f"{accepted.get('status')}/{accepted.get('reason')}: {accepted.get('message', '')}"
        case.check(f"{name}: the hub accepts it", took is not None and accepted.get("status") == "True", told)
        reasons = [line for line in console.splitlines() if re.fullmatch(r"[A-Z][A-Za-z]+", line)]
        for reason in reasons:
            case.check(f"{name}: a condition has the reason {reason}",
                       reason in {one["reason"] for one in found.values()}, sorted(one["reason"] for one in found.values()))
        for line in console.splitlines():
            if line.startswith("profile type"):
                case.check(f"{name}: the message that the page shows", accepted.get("message") == line)
        judge_table(case, kube, policy, console)


def main():
    case = Case("cluster.policy-page")
    kube = api.from_environment()
    pages = examples(PAGE.read_text(encoding="utf-8"))
    policies = [policy for policy, _ in pages]
    judge_page(case, policies)
    parts.install(kube)
    judge_server(case, kube, policies)
    folder = tempfile.mkdtemp(prefix="firetower-page-test-")
    config = parts.kubeconfig(kube, folder, "hub", parts.account_token(kube, "firetower-hub"))
    play_agents(kube, pages)
    with parts.Hub(config, "page"):
        judge_hub(case, kube, pages)
    case.finish()


if __name__ == "__main__":
    sys.exit(main())
