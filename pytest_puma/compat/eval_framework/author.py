"""The interface of eval-framework for the author of a task: attributes in capitals, methods with an underscore."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from textwrap import indent
from typing import Any, ClassVar, cast

from pytest_puma.compat.eval_framework.nouns import Language, Message, ResponseType, Role, Sample
from pytest_puma.core import DataError
from pytest_puma.scenarios.composed import ComposedScenario


class Author(ComposedScenario):
    """The part of a task that its author overrides, with the defaults of eval-framework."""

    NAME: ClassVar[str]
    DATASET_PATH: ClassVar[str]
    SAMPLE_SPLIT: ClassVar[str]
    FEWSHOT_SPLIT: ClassVar[str]
    RESPONSE_TYPE: ClassVar[ResponseType]
    METRICS: ClassVar[Sequence[Any]] = ()
    SUBJECTS: ClassVar[Sequence[Any]] = ()
    HF_REVISION: ClassVar[str | None] = None
    PERTURBATION_UNMODIFIABLE_WORDS: ClassVar[Sequence[str] | None] = None
    LANGUAGE: ClassVar[Language | Mapping[Any, Any] | None] = None
    #: A style of `styles`, which words the prompt in place of the methods for it.
    TASK_STYLER: ClassVar[Any] = None

    #: The constructor of a task may set these.
    num_fewshot: int = 0
    stop_sequences: Sequence[str] | None = None
    #: The file or folder of `--puma-data`, which the constructor of a task does not know.
    given_data: Path | None = None
    #: The rows by split, and the random generator, for `_sample_fewshot_examples`.
    dataset: Mapping[str, list[dict[str, Any]]] = {}
    rnd: Random

    def __init__(self, num_fewshot: int = 0) -> None:
        # A marker with a class as its only argument passes the test function here, which the base class refuses.
        super().__init__(cast("Path", num_fewshot) if callable(num_fewshot) else self.given_data)
        self.num_fewshot = num_fewshot

    @abstractmethod
    def _get_instruction_text(self, item: dict[str, Any]) -> str:
        """The message of the user."""

    @abstractmethod
    def _get_ground_truth(self, item: dict[str, Any]) -> str | list[str] | None:
        """The right answer, or several; None if there is none."""

    def _get_initial_prompt_text(self, item: dict[str, Any]) -> str:  # noqa: ARG002 - for overrides
        """Text before the first message of the user."""
        return ""

    def _get_system_prompt_text(self, item: dict[str, Any]) -> str | None:  # noqa: ARG002 - for overrides
        """The system message."""
        return None

    def _get_cue_text(self, item: dict[str, Any]) -> str:  # noqa: ARG002 - for overrides
        """The beginning of the reply."""
        return ""

    def _get_possible_completions(self, item: dict[str, Any]) -> list[str] | None:  # noqa: ARG002 - for overrides
        """The texts to score; one of them is right."""
        return None

    def _get_raw_question(self, item: dict[str, Any]) -> str:
        """The question of a task with a style."""
        raise self._absent("_get_raw_question", item)

    def _get_choices(self, item: dict[str, Any]) -> list[str]:
        """The texts of its choices."""
        raise self._absent("_get_choices", item)

    def _get_correct_index(self, item: dict[str, Any]) -> int:
        """The place of the right one, from 0."""
        raise self._absent("_get_correct_index", item)

    def _absent(self, method: str, item: Mapping[str, Any]) -> DataError:
        name = type(self).__name__
        return DataError(f"{name}: TASK_STYLER needs {method}; add it to the class; the row has: {', '.join(item)}")

    def _with_labels(self, options: str) -> str:
        """The lines of the choices, with a space before each if the style asks for it."""
        return indent(options, " " if getattr(self.TASK_STYLER, "space_prefixed_labels", False) else "")

    def _get_context(self, item: dict[str, Any]) -> Any:  # noqa: ARG002 - for overrides
        """Arguments of metrics: a `BaseMetricContext`, a dictionary, or a list of them."""
        return None

    def _sample_fewshot_examples(self, item: dict[str, Any]) -> list[dict[str, Any]]:
        """`num_fewshot` rows of the few-shot split, never the row itself."""
        rows = [row for row in self.dataset[self.FEWSHOT_SPLIT] if row != item]
        return self.rnd.sample(rows, min(self.num_fewshot, len(rows)))

    def _create_samples(self, item: dict[str, Any], index: int, subject: str) -> list[Sample]:
        """The questions of a row: by default one."""
        return [
            Sample(
                id=index,
                subject=subject,
                messages=self._get_messages(item),
                ground_truth=self._get_ground_truth(item),
                possible_completions=self._get_possible_completions(item),
                context=self._get_context(item),
            )
        ]

    def post_process_generated_completion(self, completion_text: str, sample: Sample | None = None) -> str:  # noqa: ARG002
        """The text that metrics read."""
        return completion_text

    def _get_messages(self, item: dict[str, Any]) -> list[Message]:
        """The messages of a row, without examples: a strategy adds those."""
        question = (self._get_initial_prompt_text(item), self._get_instruction_text(item))
        parts = (
            (Role.SYSTEM, self._get_system_prompt_text(item)),
            (Role.USER, "\n\n".join(filter(None, question))),
            (Role.ASSISTANT, self._get_cue_text(item)),
        )
        return [Message(role, text) for role, text in parts if text]
