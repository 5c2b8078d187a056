"""Tables of planted replies: for each rubric 20 pairs of a good and a bad one, `pairs/NAME.jsonl`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_puma.core import Message, Messages, Metric, Prediction, Responder, Sample
from pytest_puma.evaluation.judge import judge
from pytest_puma.evaluation.predict import CellPredictions
from pytest_puma.judges.rubric import Rubric
from tests.factories import cell, prediction, sample

FOLDER = Path(__file__).parent / "pairs"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlantedPair:
    """One line of a table. `part`: the part of the rubric's metric in which the replies differ."""

    good: str
    bad: str
    language: str
    canary: str
    task: str | list[str] = ""
    truth: str = ""
    part: str = ""

    @property
    def asked(self) -> Messages:
        """The turns of the task, from the user and from the model alternately."""
        turns = [self.task] if isinstance(self.task, str) else self.task
        return tuple(
            Message(role="assistant" if index % 2 else "user", content=turn) for index, turn in enumerate(turns) if turn
        )

    def about(self, name: str, reply: str, rival: str) -> tuple[Sample, Prediction]:
        """A sample of this task, and a model's reply to it."""
        context = {"language": self.language, "rival": rival}
        asked = sample(name, gold=self.truth, asked=self.asked, context=context)
        return asked, prediction(name, gold=self.truth, answer=reply, raw=(reply,))


def table(rubric: Rubric) -> list[PlantedPair]:
    """Return the pairs of a rubric."""
    lines = (FOLDER / f"{rubric.name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [PlantedPair(**json.loads(line)) for line in lines]


def judged(metric: Metric, pairs: Iterable[PlantedPair], by: Responder) -> Iterator[tuple[Prediction, Prediction]]:
    """Let a judge look at the good and at the bad reply of each pair, in one batch: yields both, with their scores."""
    replies = [
        pair.about(f"{index}-{name}", *texts)
        for index, pair in enumerate(pairs)
        for name, texts in (("good", (pair.good, pair.bad)), ("bad", (pair.bad, pair.good)))
    ]
    samples, predictions = zip(*replies, strict=True)
    answered = CellPredictions(
        samples=samples, predictions=predictions, planned=len(samples), hidden=frozenset(), signature={}
    )
    seen: Any = iter(judge(cell(scores=(metric,)), answered, [by]).predictions)
    yield from zip(seen, seen, strict=True)
