"""The verdict of a gate on a measure, or on its change since the baseline.

A number as the limit is compared with the value alone; the sentence reports an interval that straddles the limit. A
comparison with the baseline is paired by sample, and the whole interval decides: if it straddles the limit, the samples
are too few and the verdict is INCONCLUSIVE. If the value decided, two equally good models would fail one run in three
at 50 samples.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import replace

from pytest_puma.core import Change, Doubt, Gate, Measure, Policy, Status, Verdict
from pytest_puma.core.gate import spelled
from pytest_puma.core.power import TARGET_POWER, percent, rounded_up
from pytest_puma.gates.detection import Compared
from pytest_puma.gates.moved import moved
from pytest_puma.gates.power import allowance, detection_of, of_gate
from pytest_puma.gates.unjudged import not_run, nothing_measured
from pytest_puma.stats import LEVEL
from pytest_puma.stats.one_sided import mcnemar_worse
from pytest_puma.stats.power import samples_to_decide

_KEEPS: Mapping[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}
_BREAKS = {">=": "is under", "<=": "is over", ">": "is not over", "<": "is not under"}
#: Operators of gates on the minimum of a metric.
_FLOORS = (">=", ">")
#: Words for less, more and equal: compared with a naive baseline, and with an earlier run.
_VERBS = (("is lower", "is higher", "is the same"), ("fell", "rose", "stayed the same"))
_NOISE = 1e-12  # of floating point: (0.7 + 0.7 + 0.7) / 3 is slightly below 0.7
_MAX_PLAIN = 1e9  # from here on, 1e+09 is easier to read


def judge(gate: Gate, measures: Mapping[str, Measure]) -> Verdict:
    """Compare a measure of a cell with a number."""
    measure = measures.get(gate.metric)
    if measure is None:
        return not_run(gate, f"{gate.metric} was not measured: it cannot be computed from the answers of this cell")
    if measure.n == 0 or math.isnan(measure.value):
        return nothing_measured(gate, measure)
    status, fails = _status(gate, measure.value, measure.low, measure.high, gate.doubt or "point")
    verb = {"PASS": f"keeps {gate.op}", "FAIL": _BREAKS[gate.op]}.get(status, f"is not clearly {gate.op}")
    reason = f"{_shown(measure, gate.limit)} {verb} {spelled(gate.limit)}{_doubt(gate, measure)}"
    return Verdict(gate=gate, status=status, reason=reason, fails=fails, measure=measure)


def judge_change(gate: Gate, change: Change, against: str, policy: Policy, *, level: float = LEVEL) -> Verdict:
    """Compare a metric of a cell with the baseline or a naive baseline, which the text `against` names.

    `level` is the confidence level of the interval of the change.
    """
    doubt = gate.doubt or policy.inconclusive
    if math.isnan(change.value):
        # More parsed answers than before are no reason to fail.
        status: Status = "INCONCLUSIVE" if change.more_parse_failures < 0 else "FAIL"
        reason = f"{gate.metric} has nothing to compare with {against} (n={change.n}{_parse_failures(change)})"
        fails = status == "FAIL" or doubt == "fail"
        return Verdict(gate=gate, status=status, reason=reason, fails=fails, change=change)
    status, fails = _status(gate, change.value, change.low, change.high, doubt)
    effect = _effect(gate, change, status, level)
    if change.more_parse_failures > 0 and status != "FAIL":
        status, fails, effect = _with_parse_failures(change, status, doubt, level, effect)
    compared = Compared.of(change)
    reason = f"{_difference(gate, change, against)}, {effect} ({_answers(gate, change)}{_parse_failures(change)})"
    return Verdict(
        gate=gate,
        status=status,
        reason=reason,
        fails=fails,
        change=change,
        power=None if compared is None or gate.other != "baseline" else of_gate(gate, compared, level=level),
        level=round((1 - level) / 2, 12) if doubt == "warn" else None,
    )


def too_few_in_common(verdict: Verdict, policy: Policy) -> Verdict:
    """Return a PASS of equal answers as INCONCLUSIVE, as they are few; a gate with `!point` still passes."""
    doubt = verdict.gate.doubt or policy.inconclusive
    if verdict.status != "PASS" or doubt == "point":
        return verdict
    reason = f"{verdict.reason}; but these are too few to show that nothing changed"
    return replace(verdict, status="INCONCLUSIVE", reason=reason, fails=doubt == "fail")


def decides(gate: Gate, low: float, high: float) -> bool:
    """Whether all numbers from `low` to `high` are on the same side of the limit."""
    return _keeps(gate, low) == _keeps(gate, high)


def _keeps(gate: Gate, number: float) -> bool:
    return _KEEPS[gate.op](_without_noise(number, gate.limit), gate.limit)


def _without_noise(number: float, limit: float) -> float:
    return limit if math.isclose(number, limit, rel_tol=_NOISE, abs_tol=_NOISE) else number


def _status(gate: Gate, value: float, low: float, high: float, doubt: Doubt) -> tuple[Status, bool]:
    """Return the status, and whether it fails the test. Without an interval the value decides."""
    kept = _keeps(gate, value)
    sure = math.isnan(low) or decides(gate, low, high)
    if sure or doubt == "point":
        return ("PASS", False) if kept else ("FAIL", True)
    return "INCONCLUSIVE", doubt == "fail"


def _with_parse_failures(
    change: Change, status: Status, doubt: Doubt, level: float, effect: str
) -> tuple[Status, bool, str]:
    """Adjust a verdict on the answers parsed in both sets for a rise of parse failures.

    A model often fails to answer the samples that it is worst at. So a rise that is significant in the exact one-sided
    test, at the level of the gate, FAILs, and any other rise makes the verdict uncertain.
    """
    p = mcnemar_worse(change.new_parse_failures or 0, change.fixed_parse_failures or 0)
    if p <= (1 - level) / 2:
        return "FAIL", True, f"{effect}; but parse failures rose (p = {p:.2g})"
    if status == "INCONCLUSIVE" or doubt == "point":
        return status, status == "INCONCLUSIVE" and doubt == "fail", effect
    return "INCONCLUSIVE", doubt == "fail", f"{effect} on the answers parsed in both; but parse failures rose"


# -- the words of a measure --------------------------------------------------------------------------


def _shown(measure: Measure, limit: float) -> str:
    """Format `f1_macro 0.41 [0.36, 0.46] n=200`, with enough digits to show on which side of the limit the value is."""
    value = _on_its_side(measure.value, limit)
    return f"{measure.metric} {value}{_span(measure.low, measure.high)} n={measure.n}"


def _doubt(gate: Gate, measure: Measure) -> str:
    """Note an interval that straddles the limit, with the number of samples that would decide."""
    if math.isnan(measure.low) or decides(gate, measure.low, measure.high):
        return ""
    end = measure.low if gate.limit < measure.value else measure.high
    needed = samples_to_decide(distance=abs(measure.value - gate.limit), reach=abs(measure.value - end), n=measure.n)
    samples = (
        f"; about {rounded_up(needed)} samples would be needed to decide" if measure.n < needed < _MAX_PLAIN else ""
    )
    return f"; the interval straddles the limit{samples}"


# -- the words of a change ---------------------------------------------------------------------------


def _difference(gate: Gate, change: Change, against: str) -> str:
    """Format `f1_macro fell by 0.06 [0.02, 0.1] against ...` or `mae is 1.2 [1.05, 1.4] times that of ...`."""
    if change.quotient:
        return f"{change.metric} is {_rounded(change.value)}{_span(change.low, change.high)} times that of {against}"
    less, more, same = _VERBS[gate.other == "baseline"]
    span = _span(-change.high, -change.low) if change.value < 0 else _span(change.low, change.high)
    verb = f"{less if change.value < 0 else more} by {_rounded(abs(change.value))}" if change.value else same
    return f"{change.metric} {verb}{span} against {against}"


def _effect(gate: Gate, change: Change, status: Status, level: float) -> str:
    """Relate the change to the limit; if that is uncertain, state the true change that is detected in 80 % of runs."""
    if status == "PASS":
        return f"which keeps {gate.rule}"
    if status == "INCONCLUSIVE":
        return f"which may miss {gate.rule}{_detectable(gate, change, level)}"
    allowed = allowance(gate)
    if gate.quotient or allowed <= 0:
        return f"which misses {gate.rule}"
    return f"more than the {spelled(allowed)} allowed"


def _detectable(gate: Gate, change: Change, level: float) -> str:
    """State the smallest true loss that FAILs in 80 % of runs."""
    compared = Compared.of(change)
    if compared is None or not (detection := detection_of(gate, compared, level=level)).known:
        return ""
    loss, power = detection.smallest(), percent(TARGET_POWER)
    if loss is None:
        return f": n={change.n} detects no change in {power} of runs"
    return f": n={change.n} detects {_worse(gate, change, loss)} in {power} of runs"


def _worse(gate: Gate, change: Change, loss: float) -> str:
    """A change for the worse in words; a negative loss is one for the better that a gate does not allow either."""
    floor = gate.op in _FLOORS
    if gate.quotient:
        times = 1 - loss / change.old if floor else 1 + loss / change.old
        return f"{_rounded(times)} times or {'less' if floor else 'more'}"
    falls = floor == (loss > 0)
    if gate.other != "baseline":
        return f"a value {_rounded(abs(loss))} {'below' if falls else 'above'} {gate.other}"
    return f"a {'fall' if falls else 'rise'} of {_rounded(abs(loss))} or {'more' if loss > 0 else 'less'}"


def _answers(gate: Gate, change: Change) -> str:
    """Count the answers behind the change."""
    counts = moved(change, other=gate.other or "baseline")
    if change.changed > change.worse + change.better:
        noun = "questions" if change.several else "samples"
        counts += f"; {change.metric} counts {change.changed} {noun} differently"
    if math.isnan(change.low):
        return f"{counts}; all resamples have the same change: without an interval, the value decides"
    return counts + ("; the interval is approximate" if change.approximate else "")


def _parse_failures(change: Change) -> str:
    """Count the answers that were parsed in one set only."""
    counts = {"new": change.new_parse_failures, "fixed": change.fixed_parse_failures}
    shown = ", ".join(f"{count} {word}" for word, count in counts.items() if count)
    name = "without a score" if change.scored else "parse failures"
    return f"; {name}: {shown}" if shown else ""


# -- numbers -----------------------------------------------------------------------------------------


def _span(low: float, high: float) -> str:
    """Format an interval with a blank before it; empty if there is none."""
    return "" if math.isnan(low) else f" [{_rounded(low)}, {_rounded(high)}]"


def _on_its_side(value: float, limit: float) -> str:
    """Format a value with enough digits to show on which side of the limit it is."""
    value = _without_noise(value, limit)
    texts = (_rounded(value, digits) for digits in range(3, 18))  # 17 digits distinguish any two numbers
    return next(text for text in texts if _side(float(text), limit) == _side(value, limit))


def _side(value: float, limit: float) -> int:
    value = _without_noise(value, limit)
    return (value > limit) - (value < limit)


def _rounded(value: float, digits: int = 3) -> str:
    """Format with `digits` significant digits, but with all digits before the point: 0.412, 41.2, 4123."""
    value += 0.0  # -0.0 becomes 0.0
    whole = 10 ** (digits - 1) <= abs(value) < _MAX_PLAIN
    return f"{value:.0f}" if whole else f"{value:.{digits}g}"
