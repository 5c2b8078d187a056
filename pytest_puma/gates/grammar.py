"""Gates: limits that a cell's metrics must keep, as users write them.

    [scope:] metric op limit [!doubt]

    f1_macro >= 0.45
    triage_jira: f1_macro >= 0.45
    triage_jira-few_shot_3: per_class.Critical.recall > 0.6
    estimation_tawos-*@qwen*: mae_by_bin.34+ <= 20
    f1_macro >= baseline - 0.02
    mae <= baseline * 1.05 !fail
    f1_macro > reference.tfidf

`op` is one of >= <= > <. `limit` is a number, or what another has of the same metric on the same samples: `other`,
`other + number`, `other - number`, or `other * number` with a number above 0. `other` is `baseline`, or
`reference.` with the name of a trivial program (`pytest_puma.references`). A number is finite and decimal: 0.45, .5,
-1, 2e3.

`metric` consists of letters, digits and _ . + - only; but the label in `per_class.<label>.precision`
(or recall, or f1) may hold anything.

`doubt` says what becomes of the gate when the 95 % interval holds the limit: `!warn` tells it, `!fail` fails the test,
`!point` lets the value alone decide. Without it, the value decides about a number, and the ini key
`puma_inconclusive` about a comparison.

`scope` names the cells that must keep the limit; without one, all must. It is a scenario, a
scenario-strategy, or a whole cell id as in `triage_jira-few_shot_3@qwen2.5-3b`; `*` stands for any
characters and `?` for one. A strategy may be spelled with hyphens (`triage_jira-few-shot-3`). The
first `:` ends the scope: no model alias contains one, and a metric whose label does needs a scope
before it (`*: per_class.C: drive.f1 > 0.5`).
"""

from __future__ import annotations

import math
import re
from fnmatch import fnmatchcase
from typing import NamedTuple

from pytest_puma.core import Doubt, Gate, SettingsError
from pytest_puma.core.verdict import DOUBTS

OPERATORS = (">=", "<=", ">", "<")
_OPERATOR = re.compile(r"[<>=!]+")
_METRIC = re.compile(r"per_class\..+\.(precision|recall|f1)|[\w.+-]+")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_OTHER = re.compile(r"(baseline|reference\.\w+)(?![\w.])\s*")
#: `!fail` at the end; the operator `!=`, which gates do not have, is none.
_DOUBT = re.compile(r"!\s*([^\s<>=!]*)\s*\Z")


def parse_gate(text: str) -> Gate:
    """Read a gate; a `SettingsError` shows the text and the column, from 1, at which it makes no sense."""
    scope, colon, _ = text.partition(":")
    start = len(scope + colon) if colon else 0
    if colon and not scope.strip():
        raise _error(text, 0, "found no scope before ':'", "a scenario or a cell id")
    doubt = _DOUBT.search(text, start)
    end = doubt.start() if doubt else len(text)
    operators = list(_OPERATOR.finditer(text, start, end))
    if not operators:
        raise _error(text, len(text[:end].rstrip()), "found no operator", f"one of {' '.join(OPERATORS)}")
    found = operators[-1]  # a label may contain others
    if found.group() not in OPERATORS:
        raise _error(text, found.start(), f"found {found.group()!r}", f"one of {' '.join(OPERATORS)}")
    metric = _metric(text, start, found.start())
    limit = _limit(text, found.end(), end)
    return Gate(
        scope=scope.strip() if colon else None,
        metric=metric,
        op=found.group(),
        limit=limit.number,
        other=limit.other,
        quotient=limit.quotient,
        doubt=None if doubt is None else _doubt(text, doubt),
    )


def _metric(text: str, start: int, end: int) -> str:
    metric = text[start:end].strip()
    if _METRIC.fullmatch(metric):
        return metric
    rest = re.sub(r"\A[\w.+-]*\s*", "", metric)  # what follows the first name
    found = f"found {rest!r}" if rest else "found no metric"
    raise _error(text, text.rindex(rest, start, end), found, "one metric, as in f1_macro")


class _Limit(NamedTuple):
    """What stands behind the operator: a number, or another's value with one beside it."""

    number: float
    other: str | None = None
    quotient: bool = False


def _limit(text: str, start: int, end: int) -> _Limit:
    at = _next(text, start, end)
    name = _OTHER.match(text, at, end)
    if name is None:
        return _Limit(_number(text, at, end, "a number, as in 0.45, or baseline, or reference.NAME"))
    if name.end() == end:
        return _Limit(0.0, name[1])
    sign = text[name.end()]
    if sign not in "+-*":
        raise _error(text, name.end(), f"found {text[name.end() : end].strip()!r}", "one of + - * and a number")
    at = _next(text, name.end() + 1, end)
    number = _number(text, at, end, "a number, as in baseline - 0.02")
    if sign == "*" and number <= 0:
        raise _error(text, at, f"found {text[at:end].strip()!r}", "a number above 0")
    return _Limit(-number if sign == "-" else number, name[1], sign == "*")


def _next(text: str, start: int, end: int) -> int:
    """Where the next word begins, or `end`."""
    return end - len(text[start:end].lstrip())


def _number(text: str, at: int, end: int, expected: str) -> float:
    number = text[at:end].strip()
    if _NUMBER.fullmatch(number) and math.isfinite(float(number)):
        return float(number)
    raise _error(text, at, f"found {number!r}" if number else "found no number", expected)


def _doubt(text: str, found: re.Match[str]) -> Doubt:
    for doubt in DOUBTS:
        if found[1] == doubt:
            return doubt
    raise _error(text, found.start(), f"found {found.group().strip()!r}", f"one of {' '.join(f'!{d}' for d in DOUBTS)}")


def _error(text: str, offset: int, found: str, expected: str) -> SettingsError:
    return SettingsError(
        f"gate {text!r}, column {offset + 1}: {found}; expected {expected} "
        "(a gate reads '[scope:] metric op limit': 'triage_jira: f1_macro >= 0.45')"
    )


def applies(gate: Gate, scenario_name: str, cell_id: str) -> bool:
    """Whether the gate's scope takes in the cell `cell_id`, which is one of the scenario."""
    if gate.scope is None:
        return True
    pattern = gate.scope.replace("[", "[[]")  # a bracket is no wildcard here
    strategy, _, model = cell_id.removeprefix(f"{scenario_name}-").partition("@")
    cells = [f"{scenario_name}-{spelling}" for spelling in (strategy, strategy.replace("_", "-"))]
    names = [scenario_name, *cells, *(f"{cell}@{model}" for cell in cells)]
    return any(fnmatchcase(name, pattern) for name in names)
