"""What becomes of a gate: a measure, or its change since the baseline, held against the limit.

A number is kept or missed by the value alone; the sentence says where the interval holds the limit. A comparison with
the baseline is made sample by sample, and decided by the whole paired interval: where the limit lies within, the
samples are too few to tell, and the verdict is INCONCLUSIVE. Judged by the value, two equally good models would fail
one run in three at 50 samples.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping

from pytest_puma.core import Change, Doubt, Gate, Measure, Policy, Status, Verdict
from pytest_puma.core.gate import spelled
from pytest_puma.core.power import percent, rounded_up
from pytest_puma.gates.power import allowance, of_change
from pytest_puma.stats import LEVEL
from pytest_puma.stats.one_sided import mcnemar_worse
from pytest_puma.stats.power import WANTED, detectable, samples_to_decide

_KEEPS: Mapping[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}
_BREAKS = {">=": "is under", "<=": "is over", ">": "is not over", "<": "is not under"}
#: A gate with one of these asks that a metric be high.
_FLOORS = (">=", ">")
#: Less, more and as much: than a program that answers as well, and than before.
_VERBS = (("is lower", "is higher", "is the same"), ("fell", "rose", "stayed the same"))
_EXACT = 12  # decimals of a difference that are more than noise
_ENDLESS = 1e9  # from here on, 1e+09 is easier to read


def judge(gate: Gate, measures: Mapping[str, Measure]) -> Verdict:
    """Hold a cell's measure against a number."""
    measure = measures.get(gate.metric)
    if measure is None:
        return not_run(gate, f"{gate.metric} was not measured: the answers of this cell do not give it")
    if measure.n == 0 or math.isnan(measure.value):
        reason = f"{gate.metric} has nothing to measure (n={measure.n})"
        return Verdict(gate=gate, status="FAIL", reason=reason, fails=True, measure=measure)
    status, fails = _status(gate, measure.value, measure.low, measure.high, gate.doubt or "point")
    verb = {"PASS": f"keeps {gate.op}", "FAIL": _BREAKS[gate.op]}.get(status, f"is not surely {gate.op}")
    reason = f"{_shown(measure, gate.limit)} {verb} {spelled(gate.limit)}{_doubt(gate, measure)}"
    return Verdict(gate=gate, status=status, reason=reason, fails=fails, measure=measure)


def judge_change(gate: Gate, change: Change, against: str, policy: Policy, *, level: float = LEVEL) -> Verdict:
    """Hold a cell's metric against that of the baseline or of a trivial program, which the words `against` name.

    `level` is that of the change's interval.
    """
    doubt = gate.doubt or policy.inconclusive
    if math.isnan(change.value):
        # Answers that are parsed again, all of them, are no reason to fail.
        status: Status = "INCONCLUSIVE" if change.fixed_parse_failures > change.new_parse_failures else "FAIL"
        reason = f"{gate.metric} has nothing to compare with {against} (n={change.n}{_read(change)})"
        fails = status == "FAIL" or doubt == "fail"
        return Verdict(gate=gate, status=status, reason=reason, fails=fails, change=change)
    # 0.62 - 0.64 is a little less than -0.02.
    value, low, high = (round(number, _EXACT) for number in (change.value, change.low, change.high))
    status, fails = _status(gate, value, low, high, doubt)
    held = _held(gate, change, status)
    if change.new_parse_failures > change.fixed_parse_failures and status != "FAIL":
        status, fails, held = _with_unread(change, status, doubt, level, held)
    reason = f"{_moved(gate, change, against)}, {held} ({_turned(gate, change)}{_read(change)})"
    return Verdict(
        gate=gate,
        status=status,
        reason=reason,
        fails=fails,
        change=change,
        power=of_change(gate, change, level=level) if gate.other == "baseline" else None,
        level=round((1 - level) / 2, _EXACT) if doubt == "warn" else None,
    )


def without_baseline(gate: Gate, why: str, policy: Policy) -> Verdict:
    """There is nothing to compare with; `why` says so in a sentence."""
    return Verdict(gate=gate, status="NO BASELINE", reason=why, fails=policy.missing_baseline == "fail")


def not_run(gate: Gate, why: str) -> Verdict:
    """The gate was not judged; `why` says so in a sentence."""
    return Verdict(gate=gate, status="NOT RUN", reason=why, fails=False)


def decides(gate: Gate, low: float, high: float) -> bool:
    """Whether all numbers from one to the other are judged alike."""
    keeps = _KEEPS[gate.op]
    return keeps(low, gate.limit) == keeps(high, gate.limit)


def _status(gate: Gate, value: float, low: float, high: float, doubt: Doubt) -> tuple[Status, bool]:
    """The status, and whether it fails the test. Without an interval the value decides."""
    kept = _KEEPS[gate.op](value, gate.limit)
    sure = math.isnan(low) or decides(gate, low, high)
    if sure or doubt == "point":
        return ("PASS", False) if kept else ("FAIL", True)
    return "INCONCLUSIVE", doubt == "fail"


def _with_unread(change: Change, status: Status, doubt: Doubt, level: float, held: str) -> tuple[Status, bool, str]:
    """A verdict on the answers parsed in both sets, where more of the others went unparsed than were parsed again.

    The samples that a model leaves out are often those it is worst at: a rise that the exact one-sided test finds at
    the gate's level FAILs, and after any other rise nothing is sure.
    """
    p = mcnemar_worse(change.new_parse_failures, change.fixed_parse_failures)
    if p <= (1 - level) / 2:
        return "FAIL", True, f"{held}; but parse failures rose (p = {p:.2g})"
    if status == "INCONCLUSIVE" or doubt == "point":
        return status, status == "INCONCLUSIVE" and doubt == "fail", held
    return "INCONCLUSIVE", doubt == "fail", f"{held} on the answers parsed in both; but more are not parsed than before"


# -- the words of a measure --------------------------------------------------------------------------


def _shown(measure: Measure, limit: float) -> str:
    """`f1_macro 0.41 [0.36, 0.46] n=200`, the value with enough digits to stand on its own side of the limit."""
    value = _on_its_side(measure.value, limit)
    interval = "" if math.isnan(measure.low) else f" {_span(measure.low, measure.high)}"
    return f"{measure.metric} {value}{interval} n={measure.n}"


def _doubt(gate: Gate, measure: Measure) -> str:
    """Said when the two ends of the interval would be judged differently, with the samples that would tell."""
    if math.isnan(measure.low) or decides(gate, measure.low, measure.high):
        return ""
    end = measure.low if gate.limit < measure.value else measure.high
    needed = samples_to_decide(distance=abs(measure.value - gate.limit), reach=abs(measure.value - end), n=measure.n)
    told = f"; about {rounded_up(needed)} samples would be needed to decide" if measure.n < needed < _ENDLESS else ""
    return f"; the interval straddles the limit{told}"


# -- the words of a change ---------------------------------------------------------------------------


def _moved(gate: Gate, change: Change, against: str) -> str:
    """`f1_macro fell by 0.06 [0.02, 0.1] against ...`; `mae is 1.2 [1.05, 1.4] times that of ...`."""
    if change.quotient:
        return f"{change.metric} is {_rounded(change.value)} {_span(change.low, change.high)} times that of {against}"
    less, more, same = _VERBS[gate.other == "baseline"]
    span = _span(-change.high, -change.low) if change.value < 0 else _span(change.low, change.high)
    verb = f"{less if change.value < 0 else more} by {_rounded(abs(change.value))}" if change.value else same
    return f"{change.metric} {verb} {span} against {against}"


def _held(gate: Gate, change: Change, status: Status) -> str:
    """The change beside the limit; where that is uncertain, the true change that this many samples show in 80 %."""
    if status == "PASS":
        return f"which keeps {gate.rule}"
    if status == "INCONCLUSIVE":
        return (
            f"which may miss {gate.rule}: n={change.n} shows {_detectable(gate, change)} in {percent(WANTED)} of runs"
        )
    allowed = allowance(gate)
    if gate.quotient or allowed <= 0:
        return f"which misses {gate.rule}"
    return f"more than the {spelled(allowed)} allowed"


def _detectable(gate: Gate, change: Change) -> str:
    """The least true change for the worse that would FAIL in 80 % of runs with intervals as wide as this one."""
    floor = gate.op in _FLOORS
    reach = change.high - change.value if floor else change.value - change.low
    reach = detectable(reach / detectable(1.0, wanted=0.5))
    worst = gate.limit - reach if floor else gate.limit + reach
    if gate.quotient:
        return f"{_rounded(worst)} times or {'less' if floor else 'more'}"
    if gate.other != "baseline":
        return f"a difference of {_rounded(worst)}"
    return f"a {'fall' if floor else 'rise'} of {_rounded(-worst if floor else worst)} or more"


def _turned(gate: Gate, change: Change) -> str:
    """How many answers lie behind it."""
    if change.numbers:
        turned = f"{change.worse} of {change.n} answers are farther off, {change.better} nearer"
    else:
        worse = "went from right to wrong" if gate.other == "baseline" else "are wrong where it is right"
        turned = f"{change.worse} of {change.n} answers {worse}, {change.better} the other way"
    if change.changed > change.worse + change.better:
        turned += f"; {change.metric} counts {change.changed} samples differently"
    return turned + ("; the interval is approximate" if change.approximate else "")


def _read(change: Change) -> str:
    """How many answers only one of the two sets has."""
    told = [f"{change.new_parse_failures} are no longer parsed"] if change.new_parse_failures else []
    told += [f"{change.fixed_parse_failures} only now"] if change.fixed_parse_failures else []
    return "; of the others, " + ", ".join(told) if told else ""


# -- numbers -----------------------------------------------------------------------------------------


def _span(low: float, high: float) -> str:
    return f"[{_rounded(low)}, {_rounded(high)}]"


def _on_its_side(value: float, limit: float) -> str:
    """Enough digits to stand on the value's own side of the limit."""
    texts = (_rounded(value, digits) for digits in range(3, 18))  # 17 tell any two numbers apart
    return next(text for text in texts if _side(float(text), limit) == _side(value, limit))


def _side(value: float, limit: float) -> int:
    return (value > limit) - (value < limit)


def _rounded(value: float, digits: int = 3) -> str:
    """`digits` significant digits, but never fewer than stand before the point: 0.412, 41.2, 4123."""
    whole = 10 ** (digits - 1) <= abs(value) < _ENDLESS
    return f"{value:.0f}" if whole else f"{value:.{digits}g}"
