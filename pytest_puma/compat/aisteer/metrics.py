"""Metrics of all generations of a use case, by the names and keys of AISteer360.

A reply that was not read, None, is a wrong answer of its own question, and never a letter. The letters of a question
are those that it presents, whether a model ever wrote them or not.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import lru_cache
from statistics import fmean, stdev
from typing import Any, ClassVar

from pytest_puma.core import Direction
from pytest_puma.replies.letters import LETTERS


class UseCaseMetric(ABC):
    """A function of all responses, which returns numbers by key."""

    #: The keys of the numbers that gates can name, as `MCQAAccuracy.trial_mean`.
    keys: ClassVar[tuple[str, ...]] = ()
    #: Which values of a key are better; by default neither.
    better: ClassVar[Mapping[str, Direction]] = {}

    def __init__(self, **extras: Any) -> None:
        self.name = type(self).__name__
        self.extras = extras
        #: The rows of the use case by their id; it sets them.
        self.rows: Mapping[str, Mapping[str, Any]] = {}

    @abstractmethod
    def compute(self, responses: list[Any], prompts: list[str] | None = None, **kwargs: Any) -> dict[str, Any]:
        """Return the numbers, and whatever else `export` should write, by key."""

    def __call__(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """Compute."""
        return self.compute(*args, **kwargs)


class MCQAAccuracy(UseCaseMetric):
    """Accuracy of letters: of all trials, and of questions, of which more than half of the trials must be right."""

    keys = ("trial_mean", "trial_std", "question_mean", "question_std")
    better: ClassVar = {"trial_mean": "high", "question_mean": "high"}

    def compute(
        self,
        responses: list[Any],
        prompts: list[str] | None = None,  # noqa: ARG002 - as in AISteer360
        reference_answers: Sequence[str] = (),
        question_ids: Sequence[Any] | None = None,
        **_: Any,
    ) -> dict[str, float]:
        """Return the means, and the sample standard deviations of 0 and 1."""
        right = [
            float(response is not None and _plain(response) == _plain(reference))
            for response, reference in zip(responses, reference_answers, strict=True)
        ]
        questions = _by_question(range(len(right)) if question_ids is None else question_ids, right)
        majorities = [float(sum(votes) > len(votes) / 2) for votes in questions.values()]
        return {
            "trial_mean": _mean(right),
            "trial_std": _deviation(right),
            "question_mean": _mean(majorities),
            "question_std": _deviation(majorities),
        }


class MCQAPositionalBias(UseCaseMetric):
    """Difference of the share of each letter to an equal share, as a mean over the letters that questions present.

    Always the same one of five letters has 0.32: |1 - 1/5| + 4 |0 - 1/5|, by 5. Questions with as many letters are
    counted together, and weigh as many as their readable replies.
    """

    keys = ("mean", "std")
    better: ClassVar = {"mean": "low"}

    def compute(
        self,
        responses: list[Any],
        prompts: list[str] | None = None,  # noqa: ARG002 - as in AISteer360
        reference_answers: Sequence[str] = (),
        question_ids: Sequence[Any] | None = None,
        **_: Any,
    ) -> dict[str, float]:
        """Return the bias, NaN without a readable reply, and its standard deviation over the questions."""
        letters = [_letter(response) for response in responses]
        ids = [None] * len(letters) if question_ids is None else list(question_ids)
        # Without the rows, the last letter that anything names is that of the last choice.
        named = [LETTERS.index(letter) for text in (*letters, *reference_answers) if (letter := _letter(text))]
        last = max(named, default=0) + 1
        questions = {
            name: [answer for answer in answers if answer and answer in LETTERS[: self._choices(name, last)]]
            for name, answers in _by_question(ids, letters).items()
        }
        answered = {name: answers for name, answers in questions.items() if answers}
        sizes = _by_question([self._choices(name, last) for name in answered], answered.values())
        pooled = {size: [answer for answers in several for answer in answers] for size, several in sizes.items()}
        total = sum(map(len, pooled.values()))
        weighted = [_bias(answers, size) * len(answers) / total for size, answers in pooled.items()]
        single = [_bias(answers, self._choices(name, last)) for name, answers in answered.items()]
        return {"mean": sum(weighted) if weighted else math.nan, "std": _deviation(single)}

    def _choices(self, question: Any, default: int) -> int:
        """The number of choices that a question presents."""
        choices = self.rows.get(str(question), {}).get("choices")
        return len(choices) if isinstance(choices, (list, tuple)) else default


@lru_cache(maxsize=1024)  # 300 resamples ask about the same few answers
def _plain(text: Any) -> str:
    return str(text).strip().upper()


@lru_cache(maxsize=1024)
def _letter(text: Any) -> str | None:
    """The letter that a response is; None for none."""
    letter = _plain(text)
    return letter if len(letter) == 1 and letter in LETTERS else None


def _bias(letters: Sequence[str], size: int) -> float:
    return fmean(abs(letters.count(letter) / len(letters) - 1 / size) for letter in LETTERS[:size])


def _by_question(ids: Any, values: Any) -> dict[Any, list[Any]]:
    questions: dict[Any, list[Any]] = {}
    for name, value in zip(ids, values, strict=True):
        questions.setdefault(name, []).append(value)
    return questions


def _mean(values: Sequence[float]) -> float:
    return fmean(values) if values else math.nan


def _deviation(values: Sequence[float]) -> float:
    return stdev(values) if len(values) > 1 else 0.0
