"""The base class of a task. What kind of scenario a task is follows from its `RESPONSE_TYPE`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from pytest_puma.compat.eval_framework.author import Author
from pytest_puma.compat.eval_framework.mapped import Mapped
from pytest_puma.compat.eval_framework.metrics import class_name, scores_of
from pytest_puma.compat.eval_framework.nouns import Message, ResponseType, Role
from pytest_puma.compat.eval_framework.nouns import Sample as TaskSample
from pytest_puma.compat.eval_framework.rows import SUBJECT, subject_names
from pytest_puma.compat.eval_framework.styles import Styled, declared
from pytest_puma.core import Choice, DataError, Sample, SettingsError
from pytest_puma.scenarios.choice import ChoiceScenario
from pytest_puma.scenarios.completion import CompletionScenario

Subject = TypeVar("Subject")

_REQUIRED = ("NAME", "DATASET_PATH", "SAMPLE_SPLIT", "FEWSHOT_SPLIT", "RESPONSE_TYPE")
#: Metrics for which the last choice stands for "I don't know".
_WITH_IDK = frozenset({"TernaryScore", "DistributionalCorrectnessScore"})


class CompletionTask(Mapped, CompletionScenario):
    """The scenario of a task with free text as answers."""

    instruction, truth = Mapped.user_message, Mapped.truths

    def target(self, item: dict[str, Any]) -> str:
        """Return the answer of an example."""
        return self._get_fewshot_target_text(item).strip()

    def post_process(self, text: str, sample: Sample) -> str | None:
        """Return the text that the author makes of a reply."""
        fields = dict(sample.fields)
        answer = self.post_process_generated_completion(
            text,
            TaskSample(
                id=0,
                subject=sample.groups.get("subject", ""),
                messages=[Message(Role.USER, self.user_message(fields))],
                ground_truth=list(sample.references),
                context=dict(sample.context),
            ),
        )
        if not isinstance(answer, str):
            name = type(self).__name__
            msg = f"{name}: post_process_generated_completion returned {answer!r}; expected a text"
            raise DataError(msg)
        return answer.strip() or None


class ChoiceTask(Mapped, ChoiceScenario):
    """The scenario of a task with choices. The author's instruction shows them, or does not."""

    question = Mapped.user_message

    def instruction(self, item: dict[str, Any], options: str) -> str:
        """Return the same, with a line for each choice if the strategy asks for a letter."""
        return "\n".join(filter(None, (self.user_message(item), self._with_labels(options))))

    def choices(self, item: dict[str, Any]) -> Sequence[str]:
        """Return the texts to score, without surrounding space."""
        texts = self._value(item, "created_completions")
        if texts is None:
            msg = f"{type(self).__name__}: _get_possible_completions returned None; expected the texts to score"
            raise DataError(msg)
        return [self.without_cue(text, self.cue(item)) for text in texts]

    def continued(self, item: dict[str, Any]) -> str:
        """Return the text before the choices: of a partial evaluation, and of a style without a line break."""
        goes_on = not getattr(self.TASK_STYLER, "trailing_newline", True) and not self.cue(item)
        return self.user_message(item) if self.is_partial or goes_on else ""

    def ending(self, item: dict[str, Any]) -> str:
        """Return the text behind them."""
        return str(item.get("created_ending", ""))

    def answer(self, item: dict[str, Any]) -> Any:
        """Return the texts of the right choices."""
        return self.truths(item)

    def options(self, instance: dict[str, Any]) -> tuple[Choice, ...]:
        """Return the choices; with a metric that needs it, the last one stands for "I don't know"."""
        *before, last = super().options(instance)
        return (*before, replace(last, idk=not _WITH_IDK.isdisjoint(map(class_name, self.METRICS))))

    def target_text(self, item: dict[str, Any], *, letter: bool) -> str:
        """Return the answer of an example: the author's, or a letter."""
        return super().target_text(item, letter=True) if letter else self._get_fewshot_target_text(item).strip()


_KINDS: Mapping[ResponseType, Any] = {
    ResponseType.COMPLETION: CompletionTask,
    ResponseType.LOGLIKELIHOODS: ChoiceTask,
}


class BaseTask(Author, Generic[Subject]):
    """A task of eval-framework. Its scenario has the name `geography_qa` for `NAME = "GeographyQA"`.

    An instance is of a subclass that is a scenario with completions or with choices. So a subclass can have another
    `RESPONSE_TYPE` than its base.
    """

    if TYPE_CHECKING:
        # The scenario of the response type has them.
        def __init__(self, num_fewshot: int = 0, *, data: Path | None = None) -> None: ...
        def question_text(self, item: dict[str, Any], choices: Sequence[Choice]) -> str: ...  # noqa: D102
        def target_text(self, item: dict[str, Any], *, letter: bool) -> str: ...  # noqa: D102
        def _get_fewshot_target_text(self, item: dict[str, Any]) -> str: ...

    def __init_subclass__(cls, **arguments: Any) -> None:
        super().__init_subclass__(**arguments)
        if isinstance(name := vars(cls).get("NAME"), str):
            cls.name = scenario_name(name)

    def __new__(cls, *_: Any, **__: Any) -> BaseTask[Subject]:
        """Make an instance of the task's scenario."""
        return super().__new__(cls if issubclass(cls, Mapped) else _scenario_of(cls))


def scenario_name(name: str) -> str:
    """Return the name of a scenario: `GeographyQA` -> `geography_qa`, `MMLU Pro` -> `mmlu_pro`."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name)
    plain = re.sub(r"\W+", "_", words).strip("_").lower()
    return plain if plain.isidentifier() else f"_{plain}"


@cache
def _scenario_of(task: type[BaseTask[Any]]) -> type[BaseTask[Any]]:
    """The task with the methods of a scenario of its response type."""
    if task.TASK_STYLER is not None:
        attributes = declared(task.__name__, task.TASK_STYLER, task.METRICS)
        task = type(task.__name__, (task, Styled), {"__module__": task.__module__, **attributes})
    kind = _kind_of(task)
    namespace = {"__module__": task.__module__, "__qualname__": task.__qualname__, "__init__": _constructor(task)}
    return type(task.__name__, (task, kind), namespace | _declared(task))


def _constructor(task: type[BaseTask[Any]]) -> Callable[..., None]:
    """A constructor that calls the author's, which knows no data, and takes what it sets."""
    scored = task.RESPONSE_TYPE is ResponseType.LOGLIKELIHOODS

    def construct(self: Any, num_fewshot: int = 0, *, data: Path | None = None) -> None:
        self.given_data = data
        task.__init__(self, num_fewshot)
        without_shots, with_shots = ("cloze_scoring", "cloze_scoring") if scored else ("zero_shot", "few_shot")
        if task.TASK_STYLER is not None:
            without_shots, with_shots = task.TASK_STYLER.strategy, task.TASK_STYLER.with_examples
        self.strategies = (f"{with_shots}_{num_fewshot}" if num_fewshot else without_shots,)
        stops = self.stop_sequences or ()
        # A lone text is refused with all other attributes; a tuple of its letters would not be.
        self.stop = stops if isinstance(stops, str) else tuple(stops)

    return construct


def _kind_of(task: type[BaseTask[Any]]) -> Any:
    """The scenario class of the response type. Raises a `SettingsError` if an attribute is missing or wrong."""
    absent = [name for name in _REQUIRED if not hasattr(task, name)]
    if absent:
        msg = f"{task.__name__}: found no {absent[0]}; a task needs {', '.join(_REQUIRED)}"
        raise SettingsError(msg)
    if task.RESPONSE_TYPE not in _KINDS:
        msg = f"{task.__name__}: RESPONSE_TYPE is {task.RESPONSE_TYPE!r}; expected one of {', '.join(map(str, _KINDS))}"
        raise SettingsError(msg)
    return _KINDS[task.RESPONSE_TYPE]


def _declared(task: type[BaseTask[Any]]) -> dict[str, Any]:
    """The attributes of a scenario, by those of the task."""
    return {
        "split": task.SAMPLE_SPLIT,
        "fewshot_split": task.FEWSHOT_SPLIT,
        "group_columns": (SUBJECT,) if len(subject_names(task.SUBJECTS)) > 1 else (),
        "scores": scores_of(task.__name__, task.METRICS),
        "protected": tuple(task.PERTURBATION_UNMODIFIABLE_WORDS or ()),
    }
