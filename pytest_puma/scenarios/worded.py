"""The bases of public benchmarks and small data sets: scenarios whose questions and answers are columns of the rows.

class GeographyQA(WordedScenario):
    instruction_pattern = "Q: What is the capital of {country}?"
    cue_pattern = "A:"
    truth_column = "capital"
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from pytest_puma.scenarios.choice import ChoiceScenario
from pytest_puma.scenarios.completion import CompletionScenario


class WordedScenario(CompletionScenario):
    """Free text as answers; the prompts are patterns, with names of columns in braces."""

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


class ListedChoiceScenario(ChoiceScenario):
    """Choices in the columns `question`, `choices` and `answer`."""

    text_fields = ("question",)

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
