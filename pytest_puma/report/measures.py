"""The measures of a run for other programs: rows of CSV and Parquet, and properties of JUnit XML.

cell,scenario,strategy,perturbation,model,metric,value,low,high,level,n,note,verdicts
triage_jira-zero_shot@qwen,triage_jira,zero_shot,,qwen,accuracy,0.66,0.52,0.77,0.95,50,,PASS
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from pytest_puma.core import Outcome, Run
from pytest_puma.report import escape

_NAMES = ("cell", "scenario", "strategy", "perturbation", "model")
_NUMBERS = ("value", "low", "high", "level", "n")
COLUMNS = (*_NAMES, "metric", *_NUMBERS, "note", "verdicts")


def measure_rows(run: Run) -> Iterator[dict[str, object]]:
    """Yield each measure of each cell under `COLUMNS`, then its gates without a measure, as `no_regression`.

    Several verdicts on one metric are separated by a semicolon and a space.
    """
    for outcome in run.outcomes:
        names = {name: getattr(outcome, name) or "" for name in _NAMES}
        statuses: dict[str, list[str]] = {}
        for verdict in outcome.verdicts:
            statuses.setdefault(verdict.gate.word or verdict.gate.metric, []).append(verdict.status)
        for measure in outcome.measures.values():
            numbers = {name: getattr(measure, name) for name in ("metric", *_NUMBERS, "note")}
            level = math.nan if math.isnan(measure.low) else measure.level
            yield names | numbers | {"level": level, "verdicts": "; ".join(statuses.pop(measure.metric, ()))}
        for name, judged in statuses.items():
            yield names | {"metric": name, **dict.fromkeys(_NUMBERS), "note": "", "verdicts": "; ".join(judged)}


def junit_properties(outcome: Outcome) -> list[tuple[str, str]]:
    """Return names and values, with all digits and without NaN.

    Examples: `puma.f1_macro` is `0.626`, `puma.f1_macro.interval` is `0.48 0.754`, `puma.f1_macro.interval_level` is
    `0.95`.
    """
    entries: list[tuple[str, str]] = [("puma.cell", outcome.cell)]
    for measure in outcome.measures.values():
        if not math.isnan(measure.value):
            entries.append((f"puma.{measure.metric}", repr(float(measure.value))))
            entries.append((f"puma.{measure.metric}.n", str(measure.n)))
        if not math.isnan(measure.low):
            entries.append((f"puma.{measure.metric}.interval", f"{float(measure.low)!r} {float(measure.high)!r}"))
            entries.append((f"puma.{measure.metric}.interval_level", repr(float(measure.level))))
    entries += [(f"puma.gate {verdict.gate}", f"{verdict.status}: {verdict.reason}") for verdict in outcome.verdicts]
    # pytest escapes only the values, but a name may contain a label with a control character.
    return [(escape.xml(name), escape.xml(value)) for name, value in entries]
