"""The run as a table for the terminal, and a failed cell as sentences and misses."""

from __future__ import annotations

import math
from collections.abc import Sequence

from pytest_puma.core import LEVEL, Outcome, Prediction, Run
from pytest_puma.report import table
from pytest_puma.report.closing import closing
from pytest_puma.report.rows import COLUMNS, all_rows, number, shown

MISSES = 5
_WIDTH = 100


def summary(run: Run, folder: str, width: int) -> list[str]:
    """The run for the end of pytest's output: the table, and below it what a reader must know."""
    lines = table.lines(COLUMNS, all_rows(run.outcomes), width)
    lines += footnote(run.outcomes)
    lines += _sources(run.outcomes)
    lines += warnings(run)
    lines += [f"determinism: {sentence}" for sentence in map(_agreement, run.outcomes) if sentence]
    lines += undecided(run)
    lines += stopped(run.outcomes)
    lines += closing(run)
    return [*lines, f"predictions: {folder}"] if folder else lines


def misses(outcome: Outcome) -> list[str]:
    """The worst misses of a cell, each with its own part of the prompt and the reply, behind an empty line."""
    worst = worst_misses(outcome.predictions)
    wrong = sum(map(_is_wrong, outcome.predictions))
    lines = ["", f"the worst {len(worst)} of {wrong} misses:"] if worst else []
    for prediction in worst:
        lines += [
            f"  {prediction.sample_id}: answered {_answered(prediction)}, gold is {prediction.gold}",
            f"    prompt {_elided(_own_part(outcome, prediction))}",
            f"    raw    {_said(prediction)}",
        ]
    return lines


def flips(outcome: Outcome) -> list[str]:
    """Which answers are no longer what they were in the baseline, those for the worse first."""
    if not outcome.flips:
        return []
    worse = [flip for flip in outcome.flips if not flip.better]
    better = [flip for flip in outcome.flips if flip.better]
    lines = [f"flips of {outcome.cell}: {len(worse)} worse, {len(better)} better"]
    for word, turned in (("worse", worse), ("better", better)):
        for flip in turned:
            said = f"gold is {flip.gold}, was {_spelled(flip.old)}, is {_spelled(flip.new)}"
            lines.append(f"  {word:6}  {flip.sample}: {said}")
    return lines


def worst_misses(predictions: Sequence[Prediction], most: int = MISSES) -> list[Prediction]:
    """Wrong answers, the farthest off or the surest first; unreadable ones lead."""
    wrong = [prediction for prediction in predictions if _is_wrong(prediction)]
    return sorted(wrong, key=_badness, reverse=True)[:most]


def warnings(run: Run) -> list[str]:
    """Those on the models, then those on the cells; one that holds for several is said once, with their number."""
    cells: dict[str, dict[str, None]] = {}
    for outcome in run.outcomes:
        for warning in outcome.warnings:
            cells.setdefault(warning.removeprefix(f"{outcome.cell}: "), {})[outcome.cell] = None
    notes = [f"warning: {note}" for note in run.notes]
    return notes + [f"warning: {_named(list(names))}: {warning}" for warning, names in cells.items()]


def undecided(run: Run) -> list[str]:
    """The gates of cells that neither pass nor fail, a sentence that holds for several once, then those of the run."""
    cells: dict[str, dict[str, None]] = {}
    for outcome in run.outcomes:
        for each in outcome.verdicts:
            if each.status != "PASS" and not each.fails:
                cells.setdefault(f"{each.status.lower()}: {{}}: {each.reason}", {})[outcome.cell] = None
    return [
        *(line.replace("{}", _named(list(names)), 1) for line, names in cells.items()),
        *(f"{each.status.lower()}: {each.reason}" for each in run.verdicts if not each.fails),
    ]


def stopped(outcomes: Sequence[Outcome]) -> list[str]:
    """How many samples were not asked, as the gates of their cells were decided before."""
    early = [outcome for outcome in outcomes if outcome.left_out]
    if not early:
        return []
    saved = sum(outcome.left_out for outcome in early)
    samples = saved + sum(outcome.measures["parse_failure_rate"].n for outcome in outcomes)
    level = f"{100 * early[0].measures['parse_failure_rate'].level:g} %"
    told = (
        f"stopped early: {len(early)} of {len(outcomes)} cells; {saved:,} of {samples:,} samples were not needed; "
        f"intervals at {level} hold together at all interim analyses with {100 * LEVEL:g} %"
    )
    return [told]


def footnote(outcomes: Sequence[Outcome]) -> list[str]:
    """What the star behind a value means, where there is one."""
    noted = any(
        outcome.measures[name].note for outcome in outcomes for name in shown(outcome) if name in outcome.measures
    )
    return ["* rests on few answers, or on the readable ones of many; the note is in run.json"] if noted else []


def _named(cells: Sequence[str]) -> str:
    return cells[0] if len(cells) == 1 else f"{cells[0]} and {len(cells) - 1} more"


def _agreement(outcome: Outcome) -> str:
    """How many texts and answers changed when asked alone, nothing where that was not asked."""
    found = outcome.determinism
    if found is None:
        return ""
    gaps = f"; largest logit gap {number(max(found.gaps))}" if found.gaps else ""
    changed = f"{found.texts} of {found.samples} texts and {found.answers} of {found.samples} answers"
    return f"{outcome.cell}: {changed} change when asked alone{gaps}"


def _sources(outcomes: Sequence[Outcome]) -> list[str]:
    """Which file each scenario was run on, with the beginning of its digest."""
    found = {outcome.scenario: outcome.signature.get("data") for outcome in outcomes}
    return [f"{scenario}: {data['file']} (sha256 {data['sha256'][:12]})" for scenario, data in found.items() if data]


def _is_wrong(prediction: Prediction) -> bool:
    if prediction.answer is None:
        return True
    try:
        return float(prediction.answer) != float(prediction.gold)
    except ValueError:
        return prediction.answer != prediction.gold


def _badness(prediction: Prediction) -> float:
    if prediction.answer is None:
        return math.inf
    if prediction.probabilities:
        return prediction.probabilities.get(prediction.answer, 0.0)
    try:
        return abs(float(prediction.answer) - float(prediction.gold))
    except ValueError:
        return 0.0


def _said(prediction: Prediction) -> str:
    """The texts of the responses; where labels were scored there are none, but probabilities."""
    if any(prediction.raw) or not prediction.probabilities:
        return repr(_tail(" | ".join(prediction.raw)))
    ranked = sorted(prediction.probabilities.items(), key=lambda entry: -entry[1])
    return ", ".join(f"{label} {probability:.1%}" for label, probability in ranked[:4])


def _own_part(outcome: Outcome, prediction: Prediction) -> str:
    """What the last prompt about a sample does not share with all others; the last message where it shares all."""
    own = [rest for rest in prediction.prompts if rest is not None][-1:]
    text = "\n".join(message.content for rest in own for message in rest)
    whole = outcome.prompts(prediction)
    return text if text.strip() or not whole else whole[-1][-1].content


def _answered(prediction: Prediction) -> str:
    """The answer, or what became of it."""
    if prediction.parsed is not None:
        return f"{prediction.parsed!r} ({_words(prediction.failure)})"
    cause = f" ({_words(prediction.failure)})" if prediction.failure else ""
    return f"{_spelled(prediction.answer)}{cause}"


def _words(cause: str | None) -> str:
    return (cause or "").replace("_", " ")


def _spelled(answer: str | None) -> str:
    return "nothing readable" if answer is None else answer


def _elided(text: str) -> str:
    """The beginning and the end: the sample, and what was asked about it, in whichever order."""
    flat, half = " ".join(text.split()), _WIDTH // 2
    return flat if len(flat) <= _WIDTH else f"{flat[:half].strip()} ... {flat[-half:].strip()}"


def _tail(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _WIDTH else "..." + flat[-_WIDTH:]
