"""Gates: limits that a cell's metrics must keep, as users write them.

    [scope:] metric op number

    f1_macro >= 0.45
    triage_jira: f1_macro >= 0.45
    triage_jira-few_shot_3: per_class.Critical.recall > 0.6
    estimation_tawos-*@qwen*: mae_by_bin.34+ <= 20

`op` is one of >= <= > <. `number` is finite and decimal: 0.45, .5, -1, 2e3.

`metric` consists of letters, digits and _ . + - only; but the label in `per_class.<label>.precision`
(or recall, or f1) may hold anything.

`scope` names the cells that must keep the limit; without one, all must. It is a scenario, a
scenario-strategy, or a whole cell id as in `triage_jira-few_shot_3@qwen2.5-3b`; `*` stands for any
characters and `?` for one. A strategy may be spelled with hyphens (`triage_jira-few-shot-3`). The
first `:` ends the scope: no model alias contains one, and a metric whose label does needs a scope
before it (`*: per_class.C: drive.f1 > 0.5`).
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Mapping
from fnmatch import fnmatchcase

from pytest_puma.core import Gate, Measure, SettingsError, Verdict

_KEEPS = {">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt}
_BREAKS = {">=": "is under", "<=": "is over", ">": "is not over", "<": "is not under"}
_OPERATOR = re.compile(r"[<>=!]+")
_METRIC = re.compile(r"per_class\..+\.(precision|recall|f1)|[\w.+-]+")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_ENDLESS = 1e9  # from here on, 1e+09 is easier to read


def parse_gate(text: str) -> Gate:
    """Read a gate; a `SettingsError` shows the text and the column, from 1, at which it makes no sense."""
    scope, colon, _ = text.partition(":")
    start = len(scope + colon) if colon else 0
    if colon and not scope.strip():
        raise _error(text, 0, "found no scope before ':'", "a scenario or a cell id")
    operators = list(_OPERATOR.finditer(text, start))
    if not operators:
        raise _error(text, len(text.rstrip()), "found no operator", f"one of {' '.join(_KEEPS)}")
    found = operators[-1]  # a label may contain others
    if found.group() not in _KEEPS:
        raise _error(text, found.start(), f"found {found.group()!r}", f"one of {' '.join(_KEEPS)}")
    return Gate(
        scope=scope.strip() if colon else None,
        metric=_metric(text, start, found.start()),
        op=found.group(),
        limit=_limit(text, found.end()),
    )


def _metric(text: str, start: int, end: int) -> str:
    metric = text[start:end].strip()
    if _METRIC.fullmatch(metric):
        return metric
    rest = re.sub(r"\A[\w.+-]*\s*", "", metric)  # what follows the first name
    found = f"found {rest!r}" if rest else "found no metric"
    raise _error(text, text.rindex(rest, start, end), found, "one metric, as in f1_macro")


def _limit(text: str, start: int) -> float:
    number = text[start:].strip()
    if _NUMBER.fullmatch(number) and math.isfinite(float(number)):
        return float(number)
    found = f"found {number!r}" if number else "found no number"
    raise _error(text, text.rindex(number), found, "a number, as in 0.45")


def _error(text: str, offset: int, found: str, expected: str) -> SettingsError:
    return SettingsError(
        f"gate {text!r}, column {offset + 1}: {found}; expected {expected} "
        "(a gate reads '[scope:] metric op number': 'triage_jira: f1_macro >= 0.45')"
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


def judge(gate: Gate, measures: Mapping[str, Measure]) -> Verdict:
    """Hold a cell's measure against the gate: by its value; the interval only tells how sure that is."""
    measure = measures.get(gate.metric)
    if measure is None:
        reason = f"{gate.metric} was not measured: the answers of this cell do not give it"
        return Verdict(gate=gate, status="NOT RUN", reason=reason)
    if measure.n == 0 or math.isnan(measure.value):
        reason = f"{gate.metric} has nothing to measure (n={measure.n})"
        return Verdict(gate=gate, status="FAIL", reason=reason, measure=measure)
    kept = _KEEPS[gate.op](measure.value, gate.limit)
    verb = f"keeps {gate.op}" if kept else _BREAKS[gate.op]
    reason = f"{_shown(measure, gate.limit)} {verb} {_shortest(gate.limit)}{_doubt(gate, measure)}"
    return Verdict(gate=gate, status="PASS" if kept else "FAIL", reason=reason, measure=measure)


def _shown(measure: Measure, limit: float) -> str:
    """`f1_macro 0.41 [0.36, 0.46] n=200`, the value with enough digits to stand on its own side of the limit."""
    texts = (_rounded(measure.value, digits) for digits in range(3, 18))  # 17 tell any two numbers apart
    value = next(text for text in texts if _side(float(text), limit) == _side(measure.value, limit))
    interval = "" if math.isnan(measure.low) else f" [{_rounded(measure.low)}, {_rounded(measure.high)}]"
    return f"{measure.metric} {value}{interval} n={measure.n}"


def _side(value: float, limit: float) -> int:
    return (value > limit) - (value < limit)


def _rounded(value: float, digits: int = 3) -> str:
    """`digits` significant digits, but never fewer than stand before the point: 0.412, 41.2, 4123."""
    whole = 10 ** (digits - 1) <= abs(value) < _ENDLESS
    return f"{value:.0f}" if whole else f"{value:.{digits}g}"


def _shortest(value: float) -> str:
    """The fewest digits that read back as the same number: 0.45, 5, -2.5."""
    return repr(value).removesuffix(".0")


def _doubt(gate: Gate, measure: Measure) -> str:
    """Said when the two ends of the interval would be judged differently."""
    keeps = _KEEPS[gate.op]
    if math.isnan(measure.low) or keeps(measure.low, gate.limit) == keeps(measure.high, gate.limit):
        return ""
    return "; the interval straddles the limit"
