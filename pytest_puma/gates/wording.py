"""The words of verdicts.

f1_macro 0.41 [0.36, 0.46] n=200 keeps >= 0.4; the interval straddles the limit
f1_macro fell by 0.06 [0.02, 0.1] against baseline main@3f2c1d9, more than the 0.01 allowed (14 of 200 answers went
from right to wrong, 2 the other way)
"""

from __future__ import annotations

import math

from pytest_puma.core import Change, Decline, Gate, Measure, Status
from pytest_puma.core.gate import spelled, without_noise
from pytest_puma.core.power import TARGET_POWER, percent, rounded_up
from pytest_puma.gates.power import Compared, allowance, detection_of, may_be_unseen
from pytest_puma.stats.power import samples_to_decide

_BREAKS = {">=": "is under", "<=": "is over", ">": "is not over", "<": "is not under"}
#: Words for less, more and equal: compared with a naive baseline, and with an earlier run.
_VERBS = (("is lower", "is higher", "is the same"), ("fell", "rose", "stayed the same"))
_MAX_PLAIN = 1e9  # from here on, 1e+09 is easier to read


# -- a measure ---------------------------------------------------------------------------------------


def measured(gate: Gate, measure: Measure, status: Status) -> str:
    """Relate a measure to the limit; note an interval that straddles it, with the number of samples to decide."""
    value = _on_its_side(measure.value, gate.limit)
    verb = {"PASS": f"keeps {gate.op}", "FAIL": _BREAKS[gate.op]}.get(status, f"is not clearly {gate.op}")
    reason = f"{measure.metric} {value}{_span(measure.low, measure.high)} n={measure.n} {verb} {spelled(gate.limit)}"
    if math.isnan(measure.low) or gate.decided_by(measure.low, measure.high):
        return reason
    end = measure.low if gate.limit < measure.value else measure.high
    needed = samples_to_decide(distance=abs(measure.value - gate.limit), reach=abs(measure.value - end), n=measure.n)
    reason += "; the interval straddles the limit"
    if measure.n < needed < _MAX_PLAIN:
        reason += f"; about {rounded_up(needed)} samples would be needed to decide"
    return reason


# -- a change ----------------------------------------------------------------------------------------


def difference(gate: Gate, change: Change, against: str) -> str:
    """Format `f1_macro fell by 0.06 [0.02, 0.1] against ...` or `mae is 1.2 [1.05, 1.4] times that of ...`."""
    if change.quotient:
        return f"{change.metric} is {_rounded(change.value)}{_span(change.low, change.high)} times that of {against}"
    less, more, same = _VERBS[gate.other == "baseline"]
    span = _span(-change.high, -change.low) if change.value < 0 else _span(change.low, change.high)
    verb = f"{less if change.value < 0 else more} by {_rounded(abs(change.value))}" if change.value else same
    return f"{change.metric} {verb}{span} against {against}"


def relation(gate: Gate, change: Change, status: Status, level: float) -> str:
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
    if may_be_unseen(gate, change, level):
        return f": that none of {change.n} changed does not rule the gain out"
    compared = Compared.of(change)
    if compared is None or not (detection := detection_of(gate, compared, level=level)).known:
        return ""
    loss, power = detection.smallest(), percent(TARGET_POWER)
    if loss is None or (gate.is_floor and not gate.quotient and 0 <= change.old < loss):
        # No value of most metrics is below 0.
        return f": n={change.n} is too few to detect any change in {power} of runs"
    return f": n={change.n} detects {_worse(gate, change, loss)} in {power} of runs"


def _worse(gate: Gate, change: Change, loss: float) -> str:
    """A change for the worse in words; a negative loss is one for the better that a gate does not allow either."""
    if gate.quotient:
        times = 1 - loss / change.old if gate.is_floor else 1 + loss / change.old
        return f"{_rounded(times)} times or {'less' if gate.is_floor else 'more'}"
    falls = gate.is_floor == (loss > 0)
    if gate.other != "baseline":
        return f"a value {_rounded(abs(loss))} {'below' if falls else 'above'} {gate.other}"
    return f"a {'fall' if falls else 'rise'} of {_rounded(abs(loss))} or {'more' if loss > 0 else 'less'}"


def evidence(gate: Gate, change: Change) -> str:
    """Count the answers behind the change."""
    counts = moved(change, other=gate.other or "baseline")
    if change.changed > change.worse + change.better:
        noun = "questions" if change.several else "samples"
        counts += f"; {change.metric} counts {change.changed} {noun} differently"
    if math.isnan(change.low):
        return f"{counts}; all resamples have the same change: without an interval, the value decides"
    return counts + ("; the interval is approximate" if change.approximate else "")


def parse_failures(change: Change) -> str:
    """Count the answers that were parsed in one set only."""
    counts = {"new": change.new_parse_failures, "fixed": change.fixed_parse_failures}
    shown = ", ".join(f"{count} {word}" for word, count in counts.items() if count)
    name = "without a score" if change.scored else "parse failures"
    return f"; {name}: {shown}" if shown else ""


def moved(counts: Change | Decline, *, other: str = "baseline") -> str:
    """Return the counts of a comparison with `other`: `14 of 200 answers went from right to wrong, 2 the other way`.

    They are of questions if these have several trials.
    """
    earlier, scored = other == "baseline", isinstance(counts, Change) and counts.scored
    verb = "got" if earlier else "have"
    noun = "questions" if counts.several else "scores" if scored else "answers"
    if scored:
        worse, better = (f"{verb} worse scores", "better ones") if counts.several else ("are worse", "better")
    elif counts.graded:
        errors = ("larger errors", "smaller ones") if counts.several else ("a larger error", "a smaller one")
        worse, better = f"{verb} {errors[0]}", errors[1]
    elif counts.several:
        worse, better = f"{verb} fewer right answers", "more"
    else:
        worse, better = "went from right to wrong" if earlier else "are wrong where it is right", "the other way"
    return f"{counts.worse} of {counts.n} {noun} {worse}, {counts.better} {better}"


# -- numbers -----------------------------------------------------------------------------------------


def _span(low: float, high: float) -> str:
    """Format an interval with a blank before it; empty if there is none."""
    return "" if math.isnan(low) else f" [{_rounded(low)}, {_rounded(high)}]"


def _on_its_side(value: float, limit: float) -> str:
    """Format a value with enough digits to show on which side of the limit it is."""
    value = without_noise(value, limit)
    texts = (_rounded(value, digits) for digits in range(3, 18))  # 17 digits distinguish any two numbers
    return next(text for text in texts if _side(float(text), limit) == _side(value, limit))


def _side(value: float, limit: float) -> int:
    value = without_noise(value, limit)
    return (value > limit) - (value < limit)


def _rounded(value: float, digits: int = 3) -> str:
    """Format with `digits` significant digits, but with all digits before the point: 0.412, 41.2, 4123."""
    value += 0.0  # -0.0 becomes 0.0
    whole = 10 ** (digits - 1) <= abs(value) < _MAX_PLAIN
    return f"{value:.0f}" if whole else f"{value:.{digits}g}"
