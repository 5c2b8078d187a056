"""The labelled replies about which people and the judge disagree, for the summary of the page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isqrt
from pathlib import Path
from typing import Any

import numpy as np

from pytest_puma.core import JUDGE, Messages, Prediction, Run, Turn
from pytest_puma.core.shared import whole_prompts
from pytest_puma.judges.agreement import AGREEMENT, REPLY
from pytest_puma.phrases import one_line
from pytest_puma.report.page.cells import shares
from pytest_puma.runs.prediction_file import owner_of, stored_cells

#: Characters of a question or a reply.
_SHOWN = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreement:
    """A labelled reply. `judge`: each verdict with its probability, of several judges and of both orders of a pair."""

    cell: str
    metric: str
    sample: str
    question: str
    reply: str
    people: str
    judge: str


def disagreements(run: Run, folder: Path | None) -> list[Disagreement]:
    """Return the replies of a run for which the judge, or most judges, gave another verdict than people.

    None if the run keeps no prompts: then it keeps no labels.
    """
    owners = {owner_of(outcome): outcome.cell for outcome in run.outcomes if outcome.tables.agreement}
    if folder is None or not owners:
        return []
    return [
        found
        for stored, predictions in stored_cells(folder, owners)
        for prediction in predictions
        for found in _disagreements(owners[stored.owner], stored.shared, prediction)
    ]


def _disagreements(cell: str, starts: Sequence[Messages], prediction: Prediction) -> Iterator[Disagreement]:
    judge = prediction.transcripts.get(JUDGE)
    for name, counts in prediction.scores.items():
        verdicts = [turn for turn in (judge.turns if judge else ()) if turn.metric == name and turn.continuations]
        if not name.endswith(AGREEMENT) or not isinstance(counts, tuple) or not verdicts:
            continue
        person, said = divmod(int(np.argmax(counts)), isqrt(len(counts)))
        if person != said:
            yield Disagreement(
                cell=cell,
                metric=name.removesuffix(AGREEMENT),
                sample=prediction.sample_id,
                question=one_line(_question(starts, prediction), _SHOWN),
                reply=one_line(_reply(prediction), _SHOWN),
                people=verdicts[0].continuations[person],
                judge=", ".join(map(_verdict, verdicts)),
            )


def _question(starts: Sequence[Messages], prediction: Prediction) -> str:
    """The last message of the user in the first prompt; if that is long, without what all samples have."""
    prompts = prediction.transcript.prompts[:1]
    texts = [
        text
        for prompt in (*whole_prompts(starts, prompts), *prompts)
        for text in [message.content for message in prompt or () if message.role == "user"][-1:]
    ]
    return next((text for text in texts if len(text) <= _SHOWN), texts[-1] if texts else "")


def _reply(prediction: Prediction) -> str:
    labelled: Any = prediction.fields.get(REPLY)
    return prediction.text if labelled is None else str(labelled)


def _verdict(turn: Turn) -> str:
    """The most probable verdict with its probability, as `no 0.83`."""
    chances = zip(turn.continuations, shares(turn.response.logprobs), strict=False)
    word, chance = max(chances, key=lambda pair: pair[1] or 0.0, default=("unreadable", None))
    return word if chance is None else f"{word} {chance:.2f}"
