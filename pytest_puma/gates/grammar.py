"""The grammar of gates, the limits that the metrics of a cell must keep.

    [scope:] metric op limit [!doubt]

    f1_macro >= 0.45
    triage_jira: f1_macro >= 0.45
    triage_jira-few_shot_3: per_class.Critical.recall > 0.6
    estimation_tawos-*@qwen*: mae_by_bin.34+ <= 20
    f1_macro >= baseline - 0.02
    mae <= baseline * 1.05 !fail
    f1_macro > naive.tfidf
    max(f1_macro over strategy) >= 0.6
    few_shot_3.f1_macro >= zero_shot.f1_macro
    triage_jira: no_regression
    triage_jira: no_drift

`op` is one of >= <= > <. `limit` is a number, or the value of the same metric elsewhere on the same samples: `other`,
`other + number`, `other - number`, or `other * number` with a number above 0. `other` is `baseline`, or
`naive.` with the name of a naive baseline (`pytest_puma.analysis.naive_baselines`); the old `reference.` is read with
a warning. A number is finite and decimal: 0.45, .5, -1, 2e3.

`metric` consists of letters, digits and _ . + - only; but the label in `per_class.<label>.precision`
(or recall, or f1) may contain any character.

Two forms concern several cells. `max(metric over axis)`, or `min`, is the maximum, or minimum, over the cells of each
scenario and model along the `strategy`, or of each scenario and strategy along the `model`; its limit is a number.
`strategy.metric op strategy.metric`, with a number as above, compares two cells of each scenario and model.

`[scope:] no_regression [!doubt]` and `[scope:] no_drift [!doubt]` test a whole cell against its baseline, and against
the anchor of its baselines: they name no metric and no limit.

`doubt` selects the effect of a 95 % interval that contains the limit: `!warn` warns, `!fail` fails the test, `!point`
lets the value alone decide. Without it, the value decides about a number, and the ini key `puma_inconclusive` about a
comparison.

`scope` names the cells that must keep the limit; without one, all must. It is a scenario, a
scenario-strategy, or a whole cell id as in `triage_jira-few_shot_3@qwen2.5-3b`; `*` stands for any
characters and `?` for one. A strategy may be spelled with hyphens (`triage_jira-few-shot-3`). Only a scope with a `+`
before any `@` includes perturbed cells: `triage_jira+typos_5pct`, `triage_jira-*+case_*@qwen*`, `*+*`; all other gates,
those without a scope too, concern unperturbed cells. The first `:` ends the scope: no model alias contains one, and a
metric whose label does needs a scope before it (`*: per_class.C: drive.f1 > 0.5`).
"""

from __future__ import annotations

import math
import re
import warnings
from dataclasses import replace
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import Literal, NamedTuple

from pytest_puma.core import CellId, Doubt, Gate, SettingsError
from pytest_puma.core.gate import DOUBTS, WORDS

OPERATORS = (">=", "<=", ">", "<")
_OPERATOR = re.compile(r"[<>=!]+")
#: Has an equals sign that is no operator.
_SLICE = re.compile(r"\[[^\[\]]*\]")
_METRIC = re.compile(r"((\w+\.)?per_class\..+\.(precision|recall|f1)|[\w.+-]+)(\[[^\]]+\])?")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_OTHER = re.compile(r"(baseline|(?:naive|reference)\.\w+)(?![\w.])\s*")
_PICKED = re.compile(r"\s*(?P<pick>max|min)\(\s*(?P<metric>.+?)\s+over\s+(?P<axis>\w*)\s*\)\s*\Z")
_AXES: tuple[Literal["strategy", "model"], ...] = ("strategy", "model")
#: `!fail` at the end, but not `!=`, an operator that gates do not have.
_DOUBT = re.compile(r"!\s*([^\s<>=!]*)\s*\Z")


def parse_gate(text: str) -> Gate:
    """Parse a gate; a `SettingsError` quotes the text and the column, counted from 1, of the first mistake."""
    scope, colon, _ = text.partition(":")
    start = len(scope + colon) if colon else 0
    if colon and not scope.strip():
        raise _error(text, 0, "found no scope before ':'", "a scenario or a cell id")
    doubt = _DOUBT.search(text, start)
    end = doubt.start() if doubt else len(text)
    word = text[start:end].strip()
    if word in WORDS:
        return Gate(
            scope=scope.strip() if colon else None,
            metric=word,
            op="",
            limit=0.0,
            other="baseline",
            doubt=None if doubt is None else _doubt(text, doubt),
        )
    slices = [range(*match.span()) for match in _SLICE.finditer(text, start, end)]
    operators = [
        each for each in _OPERATOR.finditer(text, start, end) if not any(each.start() in part for part in slices)
    ]
    if not operators:
        nearest = get_close_matches(word, WORDS, n=1)
        hint = f" (did you mean {nearest[0]}?)" if nearest else ""
        raise _error(text, len(text[:end].rstrip()), f"found no operator{hint}", f"one of {' '.join(OPERATORS)}")
    operator = operators[-1]  # a label may contain others
    if operator.group() not in OPERATORS:
        raise _error(text, operator.start(), f"found {operator.group()!r}", f"one of {' '.join(OPERATORS)}")
    left = _left(text, start, operator.start())
    limit = _limit(text, operator.end(), end, left)
    return Gate(
        scope=scope.strip() if colon else None,
        metric=limit.metric or left.metric,
        strategy=left.metric.partition(".")[0] if limit.metric else None,
        pick=left.pick,
        axis=left.axis,
        op=operator.group(),
        limit=limit.number,
        other=limit.other,
        quotient=limit.quotient,
        doubt=None if doubt is None else _doubt(text, doubt),
    )


class _Left(NamedTuple):
    """The part before the operator."""

    metric: str
    pick: Literal["max", "min"] | None = None
    axis: Literal["strategy", "model"] | None = None


def _left(text: str, start: int, end: int) -> _Left:
    picked = _PICKED.match(text, start, end)
    if picked is None:
        return _Left(_metric(text, start, end))
    for axis in _AXES:
        if picked["axis"] == axis:
            pick: Literal["max", "min"] = "max" if picked["pick"] == "max" else "min"
            return _Left(_metric(text, picked.start("metric"), picked.end("metric")), pick, axis)
    raise _error(text, picked.start("axis"), f"found {picked['axis']!r}", f"one of {', '.join(_AXES)}")


def _metric(text: str, start: int, end: int) -> str:
    metric = text[start:end].strip()
    if _METRIC.fullmatch(metric):
        return metric
    rest = re.sub(r"\A[\w.+-]*\s*", "", metric)  # behind the first name
    problem = f"found {rest!r}" if rest else "found no metric"
    raise _error(text, text.rindex(rest, start, end), problem, "one metric, as in f1_macro")


class _Limit(NamedTuple):
    """The part behind the operator: a number, or another value with an offset or a factor."""

    number: float
    other: str | None = None
    quotient: bool = False
    metric: str | None = None  # of both strategies, if two are compared


def _limit(text: str, start: int, end: int, left: _Left) -> _Limit:
    at = _next(text, start, end)
    if left.pick is not None:
        return _Limit(_number(text, at, end, "a number, as in 0.45"))
    # In `few_shot_3.f1_macro >= zero_shot.f1_macro` both sides have the same metric.
    metric = left.metric.partition(".")[2]
    rival = re.compile(rf"(\w+)\.{re.escape(metric)}(?![\w.])\s*").match(text, at, end) if metric else None
    name = rival or _OTHER.match(text, at, end)
    if name is None:
        return _Limit(_number(text, at, end, "a number, as in 0.45, or baseline, or naive.NAME"))
    number, quotient = _beside(text, name.end(), end)
    if rival:
        return _Limit(number, name[1], quotient, metric)
    return _Limit(number, _renamed(text, name[1]), quotient)


def _renamed(text: str, other: str) -> str:
    """Return `naive.tfidf` for `reference.tfidf`, the name until version 0.1."""
    old, dot, name = other.partition(".")
    if old != "reference":
        return other
    warnings.warn(f"puma: gate {text!r}: {other} is now naive.{name}", FutureWarning, stacklevel=2)
    return f"naive{dot}{name}"


def _beside(text: str, at: int, end: int) -> tuple[float, bool]:
    """Return the offset to the other value, or the factor of it and True."""
    if at == end:
        return 0.0, False
    sign = text[at]
    if sign not in "+-*":
        raise _error(text, at, f"found {text[at:end].strip()!r}", "one of + - * and a number")
    start = _next(text, at + 1, end)
    number = _number(text, start, end, "a number, as in baseline - 0.02")
    if sign == "*" and number <= 0:
        raise _error(text, start, f"found {text[start:end].strip()!r}", "a number above 0")
    return (-number if sign == "-" else number), sign == "*"


def _next(text: str, start: int, end: int) -> int:
    """Return the start of the next word, or `end`."""
    return end - len(text[start:end].lstrip())


def _number(text: str, at: int, end: int, expected: str) -> float:
    number = text[at:end].strip()
    if _NUMBER.fullmatch(number) and math.isfinite(float(number)):
        return float(number)
    raise _error(text, at, f"found {number!r}" if number else "found no number", expected)


def _doubt(text: str, match: re.Match[str]) -> Doubt:
    for doubt in DOUBTS:
        if match[1] == doubt:
            return doubt
    raise _error(text, match.start(), f"found {match.group().strip()!r}", f"one of {' '.join(f'!{d}' for d in DOUBTS)}")


def _error(text: str, offset: int, problem: str, expected: str) -> SettingsError:
    return SettingsError(
        f"gate {text!r}, column {offset + 1}: {problem}; expected {expected} "
        "(a gate reads '[scope:] metric op limit': 'triage_jira: f1_macro >= 0.45')"
    )


def applies(gate: Gate, cell: CellId) -> bool:
    """Whether the scope of the gate includes the cell."""
    scope = gate.scope or "*"
    if (CellId.parse(scope).perturbation is None) != (cell.perturbation is None):
        return False
    pattern = scope.replace("[", "[[]")  # a bracket is no wildcard here
    spellings = (cell, replace(cell, strategy=cell.strategy.replace("_", "-")))
    names = {replace(cell, strategy="").without("model").common_name}
    names |= {name for each in spellings for name in (str(each), each.without("model").common_name)}
    return any(fnmatchcase(name, pattern) for name in names)
