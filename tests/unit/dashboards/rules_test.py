#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""rules_test.py: Prometheus reads the rules and they do as rules/*_test.yaml say; of each alert a case fires and one is quiet.

The last is shown by breaking them: where no alert can fire, a case of each must fail, and where all fire always, too.
"""

import pathlib
import re
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tests/support" / name) for name in ("dashboards", "real")]
sys.dont_write_bytecode = True

import addresses
import families
import promtool
from case import Case

RULES = ROOT / "charts/firetower/rules"
CASES = pathlib.Path(__file__).resolve().parent / "rules"
DOCS = ROOT / "docs/dashboards.md"
NEVER = {"expr": "vector(0) > 1"}
ALWAYS = {"expr": "vector(1)", "for": "0s"}
# A threshold on the amount of profiled CPU, which a Periodic policy reduces.
THRESHOLD_IN_CORES = re.compile(r"(?<!/ )\b\w+:firetower_cpu:rate\w+( offset \w+)? > [0-9]")


def read_rules(yaml):
    """File name to its groups."""
    return {
        path.name: yaml.safe_load(path.read_text(encoding="utf-8"))
        for path in sorted(RULES.glob("*.yaml"))
    }


def rules_in(files, kind):
    return [
        rule
        for file in files.values()
        for group in file["groups"]
        for rule in group["rules"]
        if kind in rule
    ]


def broken(yaml, files, how):
    """The cases that fail when every alert is `how`."""
    with tempfile.TemporaryDirectory(prefix="firetower-rules-") as folder:
        for name, file in files.items():
            groups = [
                {**group, "rules": [{**rule, **how} for rule in group["rules"] if "alert" in rule]}
                for group in file["groups"]
            ]
            (pathlib.Path(folder) / name).write_text(
                yaml.safe_dump({"groups": groups}), encoding="utf-8"
            )
        for path in CASES.glob("*_test.yaml"):
            cases = yaml.safe_load(path.read_text(encoding="utf-8"))
            cases["rule_files"] = [pathlib.PurePath(one).name for one in cases["rule_files"]]
            cases["tests"] = [{**one, "promql_expr_test": []} for one in cases["tests"]]
            (pathlib.Path(folder) / path.name).write_text(yaml.safe_dump(cases), encoding="utf-8")
        return promtool.failed_cases(
            promtool.test(*sorted(pathlib.Path(folder).glob("*_test.yaml")))
        )


def judge_cases(case, yaml, files, alerts):
    done = promtool.test(*sorted(CASES.glob("*_test.yaml")))
    case.check(
        "every case goes as written",
        done.returncode == 0,
        (done.stdout + done.stderr)[-4000:] if done.returncode else "",
    )
    names = {alert["alert"] for alert in alerts}
    fires = {name for name, fired in broken(yaml, files, NEVER) if fired}
    case.check("each alert has a case in which it fires", fires == names, sorted(names - fires))
    quiet = {name for name, fired in broken(yaml, files, ALWAYS) if not fired}
    case.check("each alert has a case in which it is quiet", quiet == names, sorted(names - quiet))


def judge_words(case, alerts):
    docs = DOCS.read_text(encoding="utf-8")
    headings = re.findall(r"^#+ (Firetower\w+)$", docs, re.MULTILINE)
    for alert in alerts:
        name, notes = alert["alert"], alert["annotations"]
        case.check(
            f"{name}: severity", alert["labels"].get("severity") in ("info", "warning", "critical")
        )
        case.check(
            f"{name}: its summary is a sentence", notes["summary"].endswith("."), notes["summary"]
        )
        page, _, anchor = notes["runbook"].partition("#")
        case.check(
            f"{name}: its runbook is there",
            page == "docs/dashboards.md" and anchor == name.lower() and name in headings,
            notes["runbook"],
        )
        if THRESHOLD_IN_CORES.search(alert["expr"]):
            case.check(
                f"{name}: says what its cores are where a policy profiles in turns",
                "Periodic" in notes.get("description", ""),
            )
        if "explore" in notes:
            address = re.sub(r"\{\{.*?\}\}", "%7B%7D", notes["explore"])
            case.check(
                f"{name}: the server takes its address",
                addresses.wrong(address) is None,
                addresses.wrong(address) or address,
            )
    stale = set(headings) - {alert["alert"] for alert in alerts}
    case.check("the page has no other alerts", not stale, sorted(stale))


def judge_names(case, files):
    records = {rule["record"] for rule in rules_in(files, "record")}
    every = rules_in(files, "record") + rules_in(files, "alert")
    wrong = [
        f"{rule.get('alert') or rule['record']}: {what}"
        for rule in every
        for what in families.unknown(re.sub(r"\b\w+:[\w:]+", "recorded", rule["expr"]))
    ]
    case.check("every metric and label is of the references", not wrong, wrong)
    asked = {name for rule in every for name in re.findall(r"\b\w+:[\w:]+", rule["expr"])}
    case.check(
        "what is recorded is asked for, and the reverse", asked == records, sorted(asked ^ records)
    )


def main():
    case = Case("rules")
    promtool.need_promtool(case)
    try:
        import yaml
    except ImportError:
        case.skip("python3-yaml is not installed")
    files = read_rules(yaml)
    alerts = rules_in(files, "alert")
    case.at_least("alerts", len(alerts), 1)
    done = promtool.check(*sorted(RULES.glob("*.yaml")))
    case.check(
        "Prometheus reads the rules",
        done.returncode == 0,
        done.stdout + done.stderr if done.returncode else "",
    )
    judge_cases(case, yaml, files, alerts)
    judge_words(case, alerts)
    judge_names(case, files)
    case.finish()


if __name__ == "__main__":
    main()
