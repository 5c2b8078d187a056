"""Gates: `grammar` reads them as users write them, the other modules judge them."""

from pytest_puma.gates.grammar import applies, parse_gate
from pytest_puma.gates.judge import (
    becomes_baseline,
    judge,
    judge_change,
    not_run,
    nothing_measured,
    too_few_in_common,
    without_baseline,
)
from pytest_puma.gates.whole_cell import judge_decline, judge_drift

__all__ = [
    "applies",
    "becomes_baseline",
    "judge",
    "judge_change",
    "judge_decline",
    "judge_drift",
    "not_run",
    "nothing_measured",
    "parse_gate",
    "too_few_in_common",
    "without_baseline",
]
