# SPDX-License-Identifier: Apache-2.0
"""Evidence behind a panel's answer. A query that shows 0 without data
answers under any name, a misspelt one too. So it is asked without
that 0, and some target has to tell of each name that it uses."""

import re

import families

# The 0 of a figure, and the row of a table that has none.
_FALLBACKS = re.compile(r" or on\(\) (?:vector\(0\)|label_replace\(.*vector\(1\).*\)$)")


def bare(expr):
    """A query without what it shows where there is nothing."""
    return _FALLBACKS.sub("", expr)


def unknown(prometheus, expr, absent=frozenset()):
    """Returns the names in an expression that no target tells of. `absent`:
    (family, label, value) that no series has where the test runs."""
    names = prometheus.families()
    wrong = [f"no metric {name}" for name, _ in families.used(expr) if name not in names]
    for name, label, value in families.values_asked(expr):
        asked = name in names and (name, label, value) not in absent
        if asked and value not in prometheus.label_values(name, label):
            wrong.append(f'no {name}{{{label}="{value}"}}')
    return wrong


def judge(case, shown, queries, seconds, absent=frozenset()):
    """That each query has series of its own, with the labels that its legend shows, and asks for
    nothing that is not there by name."""
    silent = shown.wait(queries, seconds, bare)
    for query in silent:
        case.check(f"{query}: there are series, and not only its 0", False, query.expr)
    for query in queries:
        wrong = unknown(shown.prometheus, query.expr, absent)
        if wrong:
            case.check(f"{query}: what it asks for is there", False, wrong)
        lacks = shown.lacks(query, bare(query.expr))
        if lacks:
            case.check(f"{query}: its series have the labels of its legend", False, lacks)
    told = f"{len(queries) - len(silent)} of {len(queries)}"
    softened = sum(bare(query.expr) != query.expr for query in queries)
    case.check(
        "every query has series of its own",
        not silent,
        f"{told}, {softened} of them asked without the 0 that they show where there is nothing",
    )
