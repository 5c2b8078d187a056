"""The run as a table for the terminal, and the details of a failed cell."""

from __future__ import annotations

import math
from collections.abc import Sequence

from pytest_puma.core import LEVEL, LOSS, Flip, Outcome, Prediction, Run
from pytest_puma.report import table
from pytest_puma.report.closing import closing
from pytest_puma.report.rows import COLUMNS, all_rows, brief, gold_of, number, shown

MAX_MISSES = 5
_WIDTH = 100


def summary(run: Run, folder: str, width: int) -> list[str]:
    """Return the table of the run and the notes below it, for the end of pytest's output."""
    lines = table.lines(COLUMNS, all_rows(run.outcomes), width)
    lines += footnote(run.outcomes)
    lines += _sources(run.outcomes)
    lines += warnings(run)
    lines += [f"determinism: {sentence}" for sentence in map(_agreement, run.outcomes) if sentence]
    lines += undecided(run)
    lines += stopped(run.outcomes)
    lines += closing(run)
    lines += [*rescored(run), *kept(run)]
    return [*lines, f"predictions: {folder}"] if folder else lines


def misses(outcome: Outcome) -> list[str]:
    """Return the worst misses of a cell, each with its part of the prompt and the reply, after an empty line."""
    worst = worst_misses(outcome.predictions)
    wrong = sum(map(_is_wrong, outcome.predictions))
    lines = ["", f"the worst {len(worst)} of {wrong} misses:"] if worst else []
    for prediction in worst:
        lines += [
            f"  {_name(outcome, prediction)}: answered {_answered(prediction)}, gold is {gold_of(prediction)}",
            f"    prompt {_elided(outcome.own_text(prediction))}",
            f"    raw    {_reply(prediction)}",
        ]
    return lines


def _name(outcome: Outcome, prediction: Prediction) -> str:
    """Return the id of the sample, with the number of the trial if samples have several."""
    several = outcome.trials > outcome.samples
    return f"{prediction.sample_id} #{prediction.trial + 1}" if several else prediction.sample_id


def flips(outcome: Outcome) -> list[str]:
    """Return the answers that are better or worse than in the baseline, the worse ones first."""
    return flip_lines(outcome.cell, outcome.flips)


def flip_lines(cell: str, flips: Sequence[Flip]) -> list[str]:
    """Return a line for each flip of a cell, the worse ones first."""
    if not flips:
        return []
    worse = [flip for flip in flips if not flip.better]
    better = [flip for flip in flips if flip.better]
    lines = [f"flips of {cell}: {len(worse)} worse, {len(better)} better"]
    for word, changed in (("worse", worse), ("better", better)):
        for flip in changed:
            answers = f"gold is {brief(flip.gold) or 'none'}, was {_spelled(flip.old)}, is {_spelled(flip.new)}"
            if flip.scores is not None:
                answers += f", score {number(flip.scores[0])} to {number(flip.scores[1])}"
            lines.append(f"  {word:6}  {flip.sample}: {answers}")
    return lines


def worst_misses(predictions: Sequence[Prediction], maximum: int = MAX_MISSES) -> list[Prediction]:
    """Return wrong answers: parse failures first, then by error or by confidence."""
    wrong = [prediction for prediction in predictions if _is_wrong(prediction)]
    return sorted(wrong, key=_badness, reverse=True)[:maximum]


def warnings(run: Run) -> list[str]:
    """Return warnings on models, then on cells; a warning on several cells appears once, with their number."""
    cells: dict[str, dict[str, None]] = {}
    for outcome in run.outcomes:
        for warning in outcome.warnings:
            cells.setdefault(warning.removeprefix(f"{outcome.cell}: "), {})[outcome.cell] = None
    notes = [f"warning: {note}" for note in run.notes]
    return notes + [f"warning: {_named(list(names))}: {warning}" for warning, names in cells.items()]


def undecided(run: Run) -> list[str]:
    """Return the gates that neither pass nor fail, those of cells first; equal sentences appear once."""
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
    """Count the samples that were not run because the gates of their cells were already decided."""
    early = [outcome for outcome in outcomes if outcome.left_out]
    if not early:
        return []
    saved = sum(outcome.left_out for outcome in early)
    samples = saved + sum(outcome.samples for outcome in outcomes)
    level = f"{100 * early[0].measures['parse_failure_rate'].level:g} %"
    sentence = (
        f"stopped early: {len(early)} of {len(outcomes)} cells; {saved:,} of {samples:,} samples were not needed; "
        f"intervals at {level} hold jointly at all interim analyses with {100 * LEVEL:g} %"
    )
    return [sentence]


def rescored(run: Run) -> list[str]:
    """Name the run whose answers were read, if none was computed."""
    return [] if run.rescored_from is None else [f"rescored from: the answers of the run {run.rescored_from}"]


def kept(run: Run) -> list[str]:
    """Count the answers that come from the response store, and name the runs that computed them."""
    cells = [outcome.kept for outcome in run.outcomes if outcome.kept is not None]
    if not cells:
        return []
    runs = list(dict.fromkeys(name for each in cells for name in each.runs))
    number, of_all = sum(each.kept for each in cells), sum(each.responses for each in cells)
    where = "1 cell" if len(cells) == 1 else f"{len(cells)} cells"
    counted = f"all {number:,} of" if number == of_all else f"{number:,} of {of_all:,} in"
    return [f"kept answers: {counted} {where}, from run {_named(runs)}"]


def footnote(outcomes: Sequence[Outcome]) -> list[str]:
    """Explain the star behind a value, if there is one."""
    noted = any(
        outcome.measures[name].note for outcome in outcomes for name in shown(outcome) if name in outcome.measures
    )
    return ["* few answers, or many parse failures; the note is in run.json"] if noted else []


def _named(cells: Sequence[str]) -> str:
    return cells[0] if len(cells) == 1 else f"{cells[0]} and {len(cells) - 1} more"


def _agreement(outcome: Outcome) -> str:
    """Count the texts and answers that changed in a re-run of each sample alone."""
    determinism = outcome.determinism
    if determinism is None:
        return ""
    gaps = f"; largest logit gap {number(max(determinism.gaps))}" if determinism.gaps else ""
    texts = f"{determinism.texts} of {determinism.samples} texts"
    answers = f"{determinism.answers} of {determinism.samples} answers"
    return f"{outcome.cell}: {texts} and {answers} change when run alone{gaps}"


def _sources(outcomes: Sequence[Outcome]) -> list[str]:
    """Return the data file of each scenario, with the beginning of its digest."""
    sources = {outcome.scenario: outcome.signature.get("data") for outcome in outcomes}
    return [f"{scenario}: {data['file']} (sha256 {data['sha256'][:12]})" for scenario, data in sources.items() if data]


def _is_wrong(prediction: Prediction) -> bool:
    unscored = prediction.answer is not None and prediction.scores.get(LOSS, 0) is None
    return prediction.loss != 0 and not unscored


def _badness(prediction: Prediction) -> float:
    """Sort parse failures first, then confident answers, or answers far from the gold label."""
    if prediction.loss is None:
        return math.inf
    if prediction.probabilities and prediction.answer is not None:
        return prediction.probabilities.get(prediction.answer, 0.0)
    return prediction.loss


def _reply(prediction: Prediction) -> str:
    """Return the texts of the responses; for scored labels, which have none, their probabilities."""
    if any(prediction.raw) or not prediction.probabilities:
        return repr(_tail(" | ".join(prediction.raw)))
    ranked = sorted(prediction.probabilities.items(), key=lambda entry: -entry[1])
    return ", ".join(f"{label} {probability:.1%}" for label, probability in ranked[:4])


def _answered(prediction: Prediction) -> str:
    """Return the answer, or the cause of its absence."""
    if prediction.parsed is not None:
        return f"{prediction.parsed!r} ({_words(prediction.failure)})"
    cause = f" ({_words(prediction.failure)})" if prediction.failure else ""
    return f"{_spelled(prediction.answer)}{cause}"


def _words(cause: str | None) -> str:
    return (cause or "").replace("_", " ")


def _spelled(answer: str | None) -> str:
    return "no answer" if answer is None else brief(answer)


def _elided(text: str) -> str:
    """Return the beginning and the end: the sample and the question, in either order."""
    flat, half = " ".join(text.split()), _WIDTH // 2
    return flat if len(flat) <= _WIDTH else f"{flat[:half].strip()} ... {flat[-half:].strip()}"


def _tail(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _WIDTH else "..." + flat[-_WIDTH:]
