"""The grammar of gates, the limits that the metrics of a cell must keep.

    [scope:] metric op limit [!doubt]

    f1_macro >= 0.45
    triage_jira: f1_macro >= 0.45
    triage_jira-few_shot_3: per_class.Critical.recall > 0.6
    estimation_tawos-*@qwen*: mae_by_bin.34+ <= 20
    f1_macro >= baseline - 0.02
    mae <= baseline * 1.05 !fail
    f1_macro > naive.tfidf
    accuracy >= plain - 0.02
    max(f1_macro over strategy) >= 0.6
    mean(accuracy over scenario) >= 0.6
    few_shot_3.f1_macro >= zero_shot.f1_macro
    triage_jira: no_regression
    triage_jira: no_drift

`op` is one of >= <= > <. `limit` is a number, or the value of the same metric elsewhere on the same samples: `other`,
`other + number`, `other - number`, or `other * number` with a number above 0. `other` is `baseline`, `plain`, or
`naive.` with the name of a naive baseline (`pytest_puma.analysis.naive_baselines`). `plain` is the same cell of the
model without its variant; such a gate concerns variants alone. A number is finite and decimal:
0.45, .5, -1, 2e3.

`metric` consists of letters, digits and _ . + - only; but the label in `per_class.<label>.precision`
(or recall, f1, roc_auc, average_precision) may contain any character.

Two forms concern several cells. `max(metric over axis)`, or `min`, is the maximum, or minimum, over the cells of each
scenario and model along the `strategy`, of each scenario and strategy along the `model`, or of each plain model along
its `variant`; `mean(metric over scenario)` is the mean over the scenarios of each model. The limit is a number.
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
from dataclasses import replace
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import Any

from pytest_puma.core import CellId, Doubt, Gate, SettingsError
from pytest_puma.core.gate import DOUBTS, WORDS

OPERATORS = (">=", "<=", ">", "<")
_OPERATOR = re.compile(r"[<>=!]+")
#: Has an equals sign that is no operator.
_SLICE = re.compile(r"\[[^\[\]]*\]")
_METRIC = re.compile(r"((\w+\.)?per_class\..+\.(precision|recall|f1|roc_auc|average_precision)|[\w.+-]+)(\[[^\]]+\])?")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_OTHER = re.compile(r"(baseline|plain|naive\.\w+)(?![\w.])\s*")
_PICKED = re.compile(r"\s*(?P<pick>max|min|mean)\(\s*(?P<metric>.+?)\s+over\s+(?P<axis>\w*)\s*\)\s*\Z")
_AXES = {"mean": ("scenario",), "max": ("strategy", "model", "variant"), "min": ("strategy", "model", "variant")}
#: `!fail` at the end, but not `!=`, an operator that gates do not have.
_DOUBT = re.compile(r"!\s*([^\s<>=!]*)\s*\Z")


def parse_gate(text: str) -> Gate:
    """Parse a gate; a `SettingsError` quotes the text and the column, counted from 1, of the first mistake."""
    before, colon, _ = text.partition(":")
    start, scope = (len(before) + 1, before.strip()) if colon else (0, None)
    if scope == "":
        raise _error(text, 0, "found no scope before ':'", "a scenario or a cell id")
    doubt = _DOUBT.search(text, start)
    end = doubt.start() if doubt else len(text)
    if (word := text[start:end].strip()) in WORDS:
        return Gate(scope=scope, metric=word, op="", limit=0.0, other="baseline", doubt=_doubt(text, doubt))
    operator = _operator(text, start, end)
    left = _left(text, start, operator.start())
    right = _right(text, operator.end(), end, left)
    return Gate(scope=scope, op=operator.group(), doubt=_doubt(text, doubt), **(left | right))


def _operator(text: str, start: int, end: int) -> re.Match[str]:
    """Find the last operator outside of slices; a label may contain others."""
    slices = [range(*match.span()) for match in _SLICE.finditer(text, start, end)]
    matches = _OPERATOR.finditer(text, start, end)
    operators = [match for match in matches if not any(match.start() in part for part in slices)]
    if not operators:
        nearest = get_close_matches(text[start:end].strip(), WORDS, n=1)
        hint = f" (did you mean {nearest[0]}?)" if nearest else ""
        raise _error(text, len(text[:end].rstrip()), f"found no operator{hint}", f"one of {' '.join(OPERATORS)}")
    if operators[-1].group() not in OPERATORS:
        raise _error(text, operators[-1].start(), f"found {operators[-1].group()!r}", f"one of {' '.join(OPERATORS)}")
    return operators[-1]


def _left(text: str, start: int, end: int) -> dict[str, Any]:
    """Return the fields of a `Gate` before the operator."""
    picked = _PICKED.match(text, start, end)
    if picked is None:
        return {"metric": _metric(text, start, end)}
    axes = _AXES[picked["pick"]]
    if picked["axis"] not in axes:
        raise _error(text, picked.start("axis"), f"found {picked['axis']!r}", " or ".join(axes))
    return picked.groupdict() | {"metric": _metric(text, picked.start("metric"), picked.end("metric"))}


def _metric(text: str, start: int, end: int) -> str:
    metric = text[start:end].strip()
    if _METRIC.fullmatch(metric):
        return metric
    rest = re.sub(r"\A[\w.+-]*\s*", "", metric)  # behind the first name
    problem = f"found {rest!r}" if rest else "found no metric"
    raise _error(text, text.rindex(rest, start, end), problem, "one metric, as in f1_macro")


def _right(text: str, start: int, end: int, left: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a `Gate` behind the operator, and the metric again if two strategies are compared."""
    start = _next(text, start, end)
    if "pick" in left:
        return {"limit": _number(text, start, end, "a number, as in 0.45")}
    # In `few_shot_3.f1_macro >= zero_shot.f1_macro` both sides have the same metric.
    strategy, _, metric = left["metric"].partition(".")
    rival = re.compile(rf"(\w+)\.{re.escape(metric)}(?![\w.])\s*").match(text, start, end) if metric else None
    name = rival or _OTHER.match(text, start, end)
    if name is None:
        return {"limit": _number(text, start, end, "a number, as in 0.45, or baseline, plain or naive.NAME")}
    compared = {"strategy": strategy, "metric": metric} if rival else {}
    return compared | {"other": name[1]} | _beside(text, name.end(), end)


def _beside(text: str, start: int, end: int) -> dict[str, Any]:
    """Return the offset to the other value, or the factor of it."""
    if start == end:
        return {"limit": 0.0}
    sign = text[start]
    if sign not in "+-*":
        raise _error(text, start, f"found {text[start:end].strip()!r}", "one of + - * and a number")
    start = _next(text, start + 1, end)
    number = _number(text, start, end, "a number, as in baseline - 0.02")
    if sign == "*" and number <= 0:
        raise _error(text, start, f"found {text[start:end].strip()!r}", "a number above 0")
    return {"limit": -number if sign == "-" else number, "quotient": sign == "*"}


def _next(text: str, start: int, end: int) -> int:
    """Return the start of the next word, or `end`."""
    return end - len(text[start:end].lstrip())


def _number(text: str, start: int, end: int, expected: str) -> float:
    number = text[start:end].strip()
    if _NUMBER.fullmatch(number) and math.isfinite(float(number)):
        return float(number)
    raise _error(text, start, f"found {number!r}" if number else "found no number", expected)


def _doubt(text: str, match: re.Match[str] | None) -> Doubt | None:
    if match is None:
        return None
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
    groups = [name.without("model") for name in (*spellings, cell.without("strategy"))]
    names = [*map(str, spellings), *(group.common_name for group in groups)]
    return any(fnmatchcase(name, pattern) for name in names)
