"""A scenario with free text as answers.

class GeographyQA(CompletionScenario):
    name = "geography_qa"
    data = {"test": "geography_test.jsonl", "train": "geography_train.jsonl"}   # beside the module of the class
    scores = ("exact_match", "f1_words")

    def instruction(self, item):
        return f"Q: What is the capital of {item['country']}?"

    def cue(self, item):
        return "A:"

    def truth(self, item):
        return item["capital"]
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

from pytest_puma.core import Choice, DataError, Metric, Sample
from pytest_puma.scenarios.composed import ComposedScenario


class CompletionScenario(ComposedScenario):
    """A question in each row, and no, one or several ground truths. `scores` are its metrics, the primary one first."""

    task_type = "completion"
    scores: ClassVar[tuple[str | Metric, ...]] = ("exact_match",)
    max_tokens = 256

    @abstractmethod
    def instruction(self, item: dict[str, Any]) -> str:
        """The message of the user."""

    @abstractmethod
    def truth(self, item: dict[str, Any]) -> str | Sequence[str] | None:
        """The ground truth without the cue; several, or None if there is none."""

    def target(self, item: dict[str, Any]) -> str:
        """The answer of a few-shot example: by default the cue, the delimiter and the first truth."""
        truth = next(iter(self.references(item)), "")
        if not truth:
            msg = f"{type(self).__name__}: an example has no ground truth to show; override target()"
            raise DataError(msg)
        return self.delimiter.join(filter(None, (self.cue(item), truth)))

    def post_process(self, text: str, sample: Sample) -> str | None:  # noqa: ARG002 - for overrides
        """The text that metrics read, made of the reply without its reasoning; None for none."""
        return text.strip() or None

    def turns(self, item: dict[str, Any]) -> Sequence[str]:
        """The messages of the user; replies of the model stand between them. Metrics read the last reply."""
        return (self.instruction(item),)

    # -- the contract of Scenario ----------------------------------------------------------------

    def references(self, instance: dict[str, Any]) -> tuple[str, ...]:
        """All ground truths."""
        truth = self.truth(instance)
        truths = () if truth is None else (truth,) if isinstance(truth, str) else truth
        if not isinstance(truths, Sequence) or not all(isinstance(text, str) for text in truths):
            msg = f"truth() returned {truth!r}; expected a text, a list of texts, or None"
            raise DataError(msg)
        return tuple(truths)

    def read(self, text: str, sample: Sample, order: Sequence[int] = ()) -> str | None:  # noqa: ARG002 - no choices
        """Return the text that metrics read."""
        return self.post_process(text, sample)

    def question_text(self, item: dict[str, Any], choices: Sequence[Choice]) -> str:  # noqa: ARG002 - no choices
        """Return the first message of the user."""
        turns = self.turns(item)
        if isinstance(turns, str):  # whose first letter would be the first message
            msg = f"turns() returned the text {turns!r}; expected a list of messages: [{turns!r}]"
            raise DataError(msg)
        return turns[0]

    def target_text(self, item: dict[str, Any], *, letter: bool) -> str:  # noqa: ARG002 - no choices
        """Return the target."""
        return self.target(item)


class WordedScenario(CompletionScenario):
    """Free text as answers; the prompts are patterns, with names of columns in braces.

    class GeographyQA(WordedScenario):
        instruction_pattern = "Q: What is the capital of {country}?"
        cue_pattern = "A:"
        truth_column = "capital"
    """

    #: The message of the user.
    instruction_pattern: ClassVar[str]
    #: Text before the first message.
    preamble_pattern: ClassVar[str] = ""
    #: The beginning of the reply.
    cue_pattern: ClassVar[str] = ""
    #: The answer of an example, behind the beginning; empty for the first ground truth.
    target_pattern: ClassVar[str] = ""
    #: The column with the ground truth, or with several; empty if there is none.
    truth_column: ClassVar[str] = "answer"

    def preamble(self, item: dict[str, Any]) -> str:
        """Return the text before the first message."""
        return self.preamble_pattern.format_map(item)

    def instruction(self, item: dict[str, Any]) -> str:
        """Return the message of the user."""
        return self.instruction_pattern.format_map(item)

    def cue(self, item: dict[str, Any]) -> str:
        """Return the beginning of the reply."""
        return self.cue_pattern.format_map(item)

    def truth(self, item: dict[str, Any]) -> str | Sequence[str] | None:
        """Return the value of the column of the truth."""
        return item[self.truth_column] if self.truth_column else None

    def target(self, item: dict[str, Any]) -> str:
        """Return the beginning and the answer of an example."""
        if not self.target_pattern:
            return super().target(item)
        return self.delimiter.join(filter(None, (self.cue(item), self.target_pattern.format_map(item))))
