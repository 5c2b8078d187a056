"""The run as a table for the terminal, and the details of a failed cell."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

from pytest_puma.core import LOSS, Flip, Key, Outcome, Prediction, Run
from pytest_puma.core.shared import common_end
from pytest_puma.phrases import one_line
from pytest_puma.report import notes, table
from pytest_puma.report.rows import COLUMNS, all_rows, brief, number

_MAX_MISSES = 5
_WIDTH = 100
#: Prompts that are compared to find their common end.
_COMPARED = 100
#: The causes of a missing answer, as sentences; a strategy may have others.
_CAUSES = {
    "overflow": "the prompt is longer than the context",
    "truncated": "the reply was cut off before one",
    "empty": "the reply is empty",
    "no_answer_line": "the reply has no line that begins with `Answer:`",
    "unparsed": "the parser found none in the reply",
}


def summary(run: Run, folder: str, width: int) -> list[str]:
    """Return the table of the run and the notes below it, for the end of pytest's output."""
    lines = table.lines(COLUMNS, all_rows(run.outcomes), width)
    lines += notes.footnotes(run.outcomes)
    lines += notes.sources(run.outcomes)
    lines += map(str, notes.warnings(run))
    lines += notes.determinism(run.outcomes)
    lines += map(str, notes.undecided(run))
    lines += notes.remarks(run)
    return [*lines, f"predictions: {folder}"] if folder else lines


def misses(outcome: Outcome) -> list[str]:
    """Return the worst misses of a cell, each with its part of the prompt and the reply, after an empty line.

    Below a regression, those come first that are worse than in the baseline, each with the answer there.
    """
    worse = _worse_flips(outcome)
    worst = worst_misses(outcome.predictions, first=worse)
    wrong = sum(map(_is_wrong, outcome.predictions))
    order = f", first the {len(worse)} that are worse than in the baseline" if worse else ""
    lines = ["", f"the worst {len(worst)} of {wrong} misses{order}:"] if worst else []
    compared = (*outcome.predictions[:_COMPARED], *worst) if worst else ()
    end = common_end(list(map(outcome.own_text, compared)))
    for prediction in worst:
        flip = worse.get(prediction.key)
        text, golds = outcome.own_text(prediction), brief(" | ".join(prediction.golds))
        lines += [
            f"  {_name(outcome, prediction)}: {_answered(prediction)}"
            # Where judges score the replies, samples have no right answer.
            + (f", gold is {golds}" if golds else "")
            + (f", was {_spelled(flip.old)}{_scores(flip)}" if flip else ""),
            f"    prompt {_elided(text.removesuffix(end) or text)}",
            f"    raw    {reply(prediction)}",
        ]
    return lines


def _worse_flips(outcome: Outcome) -> dict[Key, Flip]:
    """The flips for the worse by trial, if a failed gate compares the cell with its baseline."""
    if not any(verdict.gate.word or verdict.gate.other == "baseline" for verdict in outcome.failed):
        return {}
    return {(flip.sample_id, flip.trial or 0): flip for flip in outcome.judgement.flips if not flip.better}


def _scores(flip: Flip) -> str:
    return "" if flip.scores is None else f", score {number(flip.scores[0])} to {number(flip.scores[1])}"


def _name(outcome: Outcome, prediction: Prediction) -> str:
    """Return the id of the sample, with the number of the trial if samples have several."""
    several = outcome.execution.trials > outcome.execution.samples
    return f"{prediction.sample_id} #{prediction.trial + 1}" if several else prediction.sample_id


def flip_lines(cell: str, flips: Sequence[Flip]) -> list[str]:
    """Return a line for each flip of a cell, the worse ones first."""
    if not flips:
        return []
    worse = sum(not flip.better for flip in flips)
    lines = [f"flips of {cell}: {worse} worse, {len(flips) - worse} better"]
    for flip in sorted(flips, key=lambda flip: flip.better):
        answers = f"gold is {brief(flip.gold) or 'none'}, was {_spelled(flip.old)}, is {_spelled(flip.new)}"
        lines.append(f"  {'better' if flip.better else 'worse':6}  {flip.sample}: {answers}{_scores(flip)}")
    return lines


def worst_misses(predictions: Sequence[Prediction], *, first: Collection[Key] = ()) -> list[Prediction]:
    """Return wrong answers: the `first` ones, then parse failures, then by error or by confidence."""
    wrong = [prediction for prediction in predictions if _is_wrong(prediction)]
    return sorted(wrong, key=lambda prediction: (prediction.key in first, _badness(prediction)), reverse=True)[
        :_MAX_MISSES
    ]


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


def reply(prediction: Prediction) -> str:
    """Return the texts of the responses; for scored labels, which have none, their probabilities."""
    if any(prediction.raw) or not prediction.probabilities:
        return repr(_tail(" | ".join(prediction.raw)))
    ranked = sorted(prediction.probabilities.items(), key=lambda entry: -entry[1])
    return ", ".join(f"{label} {probability:.1%}" for label, probability in ranked[:4])


def _answered(prediction: Prediction) -> str:
    """Return the answer, or the cause of its absence in words and as `run.json` has it."""
    cause = prediction.failure or ""
    if prediction.parsed is not None:
        return f"answered {prediction.parsed!r} ({cause.replace('_', ' ')})"
    if prediction.answer is not None:
        return f"answered {_spelled(prediction.answer)}"
    words = _CAUSES.get(cause, "")
    return "no answer" + (f", as {words}" if words else "") + (f" ({cause})" if cause else "")


def _spelled(answer: str | None) -> str:
    return "no answer" if answer is None else brief(answer)


def _elided(text: str) -> str:
    """Return the beginning and the end: the sample and the question, in either order."""
    flat, half = one_line(text, limit=None), _WIDTH // 2
    return flat if len(flat) <= _WIDTH else f"{flat[:half].strip()} ... {flat[-half:].strip()}"


def _tail(text: str) -> str:
    flat = one_line(text, limit=None)
    return flat if len(flat) <= _WIDTH else "..." + flat[-_WIDTH:]
