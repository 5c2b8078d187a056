"""A scenario with choices: each row presents its own.

class CommonsenseMCQA(ChoiceScenario):
    name = "commonsense_mcqa"
    data = "evaluation_qa.jsonl"          # {"question": "Where ...?", "choices": ["desk", "house"], "answer": "house"}

    def question(self, item):
        return item["question"]

    def choices(self, item):
        return item["choices"]

    def answer(self, item):
        return item["answer"]
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any, ClassVar

from pytest_puma.core import Choice, DataError, Sample, SettingsError, Trial
from pytest_puma.datasets.order import rank
from pytest_puma.platform.signals import READING, limited
from pytest_puma.replies.letters import LETTERS, lettered, read_choice
from pytest_puma.scenarios.composed import ComposedScenario


class ChoiceScenario(ComposedScenario):
    """A question and its choices in each row, of which one is right, or several.

    `orders` above 1 asks each question in that many orders of its choices. They are cyclic shifts of one that is drawn
    at random, so that each position holds every choice equally often.
    """

    task_type = "choice"
    #: The number of orders; 1 for that of the data.
    orders: ClassVar[int] = 1
    #: Choices that keep their positions at the end, as `All of the above`.
    keep_last: ClassVar[str] = r"(all|none|both|neither) of"
    #: The text of one more choice for "I don't know", which is never right; None for no such choice.
    idk: ClassVar[str | None] = None
    #: The text before the question.
    question_first: ClassVar[str] = "Question: "
    #: The text instead of the question, for the probability of a choice without it.
    unconditional: ClassVar[str] = "Answer:"

    @abstractmethod
    def question(self, item: dict[str, Any]) -> str:
        """The question, without the choices."""

    @abstractmethod
    def choices(self, item: dict[str, Any]) -> Sequence[str]:
        """The texts of the choices."""

    @abstractmethod
    def answer(self, item: dict[str, Any]) -> int | str | Sequence[int]:
        """The right choice: its place from 0, its text, or its key of `keys`; the places of several."""

    def keys(self, item: dict[str, Any]) -> Sequence[str]:
        """The names by which the data call the choices, such as 1, 2, 3; by default A, B, C."""
        return LETTERS[: len(self.choices(item))]

    def instruction(self, item: dict[str, Any], options: str) -> str:
        """The message of the user; `options` has a line for each choice, and is empty if they are not shown."""
        return "\n".join(filter(None, (f"{self.question_first}{self.question(item)}", options)))

    def cue(self, item: dict[str, Any]) -> str:  # noqa: ARG002 - for overrides
        """The beginning of the reply. One that the instruction ends with is not repeated."""
        return "Answer:"

    # -- the contract of Scenario ----------------------------------------------------------------

    def options(self, instance: dict[str, Any]) -> tuple[Choice, ...]:
        """The choices in the order of the data, that for "I don't know" last."""
        returned = self.choices(instance)
        if isinstance(returned, str):  # a list of its letters
            msg = f"its choices are the text {returned!r}; expected at least two texts, in a list"
            raise DataError(msg)
        texts = list(returned)
        _check_texts(texts, self.idk)
        right = self._right(instance, texts)
        choices = [Choice(text=text, right=position in right) for position, text in enumerate(texts)]
        return (*choices, *(() if self.idk is None else (Choice(text=self.idk, right=False, idk=True),)))

    def references(self, instance: dict[str, Any]) -> tuple[str, ...]:
        """The texts of the right choices."""
        return tuple(choice.text for choice in self.options(instance) if choice.right)

    def read(self, text: str, sample: Sample, order: Sequence[int] = ()) -> str | None:
        """Return the choice that a reply names by its letter or text; None if it names none, or several."""
        positions = order or range(len(sample.choices))
        return read_choice(text, [sample.choices[position].text for position in positions])

    def trials(self, sample: Sample, seed: int, repeats: int) -> Iterator[Trial]:
        """The orders of the choices, each as often as `repeats`."""
        # The choices in the order of a perturbation, else of the data.
        ranks = {text: position for position, text in enumerate(sample.labels)}
        positions = sorted(range(len(sample.choices)), key=lambda index: ranks.get(sample.choices[index].text, 0))
        fixed = [position for position in positions if self._is_last(sample.choices[position])]
        moved = [position for position in positions if position not in fixed]
        if self.orders > 1 and not sample.labels:
            moved.sort(key=lambda position: rank(seed, "order", sample.id, position))
        indices = count()
        for shift in range(self.orders):
            first = shift % max(len(moved), 1)
            order = (*moved[first:], *moved[:first], *fixed)
            for _ in range(repeats):
                yield Trial(next(indices), () if order == tuple(range(len(order))) else order)

    def question_text(self, item: dict[str, Any], choices: Sequence[Choice]) -> str:
        """Return the message of the user."""
        question = self.question(item)
        if not isinstance(question, str) or not question.strip():
            msg = f"question() returned {question!r}; expected a text that is not empty"
            raise DataError(msg)
        return self.instruction(item, lettered([choice.text for choice in choices]))

    def target_text(self, item: dict[str, Any], *, letter: bool) -> str:
        """Return the cue and the right choice."""
        options = self.options(item)
        position = next(position for position, choice in enumerate(options) if choice.right)
        answer = (LETTERS[position],) if letter else (options[position].text, self.ending(item))
        return self.delimiter.join(filter(None, (self.cue(item), *answer)))

    def _is_last(self, choice: Choice) -> bool:
        """Whether a choice keeps its place at the end."""
        try:
            with limited(READING):
                return choice.idk or bool(self.keep_last and re.match(self.keep_last, choice.text, re.IGNORECASE))
        except (TimeoutError, re.error) as error:
            fault = f"keep_last is {self.keep_last!r}, which fails on the choice {choice.text!r}: {error}"
            msg = f"{type(self).__name__}: {fault}; expected a regular expression of the beginning of some choices"
            raise SettingsError(msg) from error

    def _right(self, item: dict[str, Any], texts: Sequence[str]) -> set[int]:
        """The positions of the right choices; a `DataError` if the answer is none of the choices."""
        answer = self.answer(item)
        answers: Sequence[Any] = [answer] if isinstance(answer, (int, str)) else list(answer)
        keys = list(map(str, self.keys(item)))
        positions = {self._position_of(value, texts, keys) for value in answers}
        if None in positions or not positions:
            names = ", ".join(f"{key}: {text!r}" for key, text in zip(keys, texts, strict=False))
            msg = f"its answer is {answer!r}; expected the place from 0, the text or the key of a choice ({names})"
            raise DataError(msg)
        return {position for position in positions if position is not None}

    @staticmethod
    def _position_of(answer: Any, texts: Sequence[str], keys: Sequence[str]) -> int | None:
        if isinstance(answer, int) and not isinstance(answer, bool):
            return answer if 0 <= answer < len(texts) else None
        names = (texts, keys) if answer in texts else (keys,)
        return next((texts.index(answer) for texts in names if answer in texts), None)


class ListedChoiceScenario(ChoiceScenario):
    """Choices in the columns `question`, `choices` and `answer`."""

    text_fields: ClassVar[tuple[str, ...]] = ("question",)

    def question(self, item: dict[str, Any]) -> str:
        """Return the question."""
        return str(item["question"])

    def choices(self, item: dict[str, Any]) -> Sequence[str]:
        """Return the texts of the choices."""
        return tuple(item["choices"])

    def answer(self, item: dict[str, Any]) -> str | Sequence[int]:
        """Return the text of the right choice, or the places of all right ones."""
        answer: str | Sequence[int] = item["answer"]
        return answer


def _check_texts(texts: Sequence[str], idk: str | None) -> None:
    """Refuse choices that answers could not distinguish."""
    if len(texts) < 2 or not all(isinstance(text, str) and text.strip() for text in texts):  # noqa: PLR2004
        msg = f"its choices are {texts!r}; expected at least two texts that are not empty"
        raise DataError(msg)
    shown = [*texts, *(() if idk is None else (idk,))]
    if equal := next((text for text in shown if shown.count(text) > 1), None):
        msg = f"two of its choices are {equal!r}; expected different texts: remove or correct one"
        raise DataError(msg)
    if len(shown) > len(LETTERS):
        msg = f"it has {len(shown)} choices; expected at most {len(LETTERS)}, as many as there are letters"
        raise DataError(msg)
