"""Measures and verdicts of a cell as properties of its test case in JUnit XML."""

from __future__ import annotations

import math

from pytest_puma.core import Outcome
from pytest_puma.report import escape


def properties(outcome: Outcome) -> list[tuple[str, str]]:
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
