"""Gates: `grammar` reads them as users write them, the other modules judge them."""

from pytest_puma.gates.decline import judge_decline
from pytest_puma.gates.drift import judge_drift
from pytest_puma.gates.grammar import applies, parse_gate
from pytest_puma.gates.judge import decides, judge, judge_change, too_few_in_common
from pytest_puma.gates.unjudged import becomes_baseline, not_run, nothing_measured, without_baseline

__all__ = [
    "applies",
    "becomes_baseline",
    "decides",
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
