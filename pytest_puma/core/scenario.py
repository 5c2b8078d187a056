"""The contract of a scenario: where its samples come from, and how an answer to one is read."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

from pytest_puma.core.metric import Metric
from pytest_puma.core.prediction import Prediction
from pytest_puma.core.sample import Choice, Sample, Trial
from pytest_puma.task_types import KINDS, TaskKind

if TYPE_CHECKING:
    from pathlib import Path
    from random import Random

    import pandas as pd

Duplicates: TypeAlias = Literal["number", "drop"]
#: A metric of a whole cell: a function of all predictions, or a `Metric` with `per="cell"`, which has a direction.
OwnMetric: TypeAlias = Callable[[Sequence[Prediction]], float] | Metric


@dataclass(frozen=True, slots=True, kw_only=True)
class DataSource:
    """The file a scenario's samples were read from: its name as shown in reports, and its SHA-256."""

    name: str
    digest: str


class OptionalMembers:
    """Members of scenarios with composed prompts, choices or files; their neutral defaults suit all others.

    So code elsewhere asks no scenario for its class. `item` is a row as a dictionary.
    """

    #: Whether the methods below make the prompts, so that no template is needed.
    composes: ClassVar[bool] = False
    #: The split of few-shot examples.
    fewshot_split: ClassVar[str] = "train"
    #: Few-shot examples as turns of the chat, or as text in the user's message.
    shots_as: ClassVar[Literal["turns", "text"]] = "turns"
    #: The text between a cue and the answer, and between a text that is continued and its continuation.
    delimiter: ClassVar[str] = " "
    #: The text instead of the question, for the probability of a choice without it; None for no such probability.
    unconditional: ClassVar[str | None] = None

    @property
    def declares_examples(self) -> bool:
        """Whether the few-shot examples are a split of their own, or picked by the scenario."""
        return False

    def on_file(self, path: Path) -> Scenario | None:  # noqa: ARG002 - for overrides
        """The scenario on the user's own data; None if it reads no file."""
        return None

    def system(self, item: dict[str, Any]) -> str:  # noqa: ARG002 - for overrides
        """The system message; empty for none."""
        return ""

    def preamble(self, item: dict[str, Any]) -> str:  # noqa: ARG002 - for overrides
        """Text before the first message of the user; empty for none."""
        return ""

    def cue(self, item: dict[str, Any]) -> str:  # noqa: ARG002 - for overrides
        """The beginning of the reply, which the model continues, such as `A:`; empty for none."""
        return ""

    def continued(self, item: dict[str, Any]) -> str:  # noqa: ARG002 - for overrides
        """The text that the answer continues, such as the first part of a sentence; empty if it replies to a question.

        In plain text it takes the place of the instruction. It has no effect on prompts that show choices.
        """
        return ""

    def ending(self, item: dict[str, Any]) -> str:  # noqa: ARG002 - for overrides
        """The text behind a choice in a sentence; if there is one, `cloze_scoring` compares its probabilities.

        That is partial evaluation: P(ending | beginning, choice) in place of P(choice | beginning).
        """
        return ""

    def turns(self, item: dict[str, Any]) -> Sequence[str]:  # noqa: ARG002 - for overrides
        """The messages of the user; replies of the model stand between them. Metrics read the last reply."""
        return ()

    def reply_to(self, item: dict[str, Any], said: Sequence[str]) -> str | None:  # noqa: ARG002 - for overrides
        """The next message of the user after those of `turns`, decided by what the model `said`; None for no more."""
        return None

    def question_text(self, item: dict[str, Any], choices: Sequence[Choice]) -> str:  # noqa: ARG002 - for overrides
        """The message of the user; `choices` as shown, none for a prompt that does not show them."""
        return ""

    def target_text(self, item: dict[str, Any], *, letter: bool) -> str:  # noqa: ARG002 - for overrides
        """The answer of an example, with the cue; `letter`: of a choice, its letter instead of its text."""
        return ""

    def pick_examples(self, item: dict[str, Any], k: int, random: Random) -> Sequence[dict[str, Any]] | None:  # noqa: ARG002
        """The examples in the prompt of one row, drawn by `random`; None for those that all rows of a group share."""
        return None

    def remarks(self, samples: Sequence[Sample]) -> Sequence[str]:  # noqa: ARG002 - for overrides
        """Sentences about the data of these samples, for the reports of a run."""
        return ()


class Scenario(OptionalMembers, ABC):
    """A task: samples with a gold answer, and a reader of the reply to one.

    A new scenario is one class with the four methods below, plus a folder of templates
    `prompts/<name>/<strategy>.jinja`. The attributes and methods after them have defaults.
    """

    name: ClassVar[str]
    task_type: ClassVar[str]
    #: Fields of an instance that hold natural language, in the order in which a reader meets them.
    text_fields: ClassVar[tuple[str, ...]] = ("title", "description")
    #: The column that identifies a row; without one, a hash of the row does.
    key: ClassVar[str | None] = None
    #: Columns naming the units a row is made of; without any, the row is its own unit.
    unit_columns: ClassVar[tuple[str, ...]] = ()
    #: Columns whose values sort the rows into groups, as `subject` does: metrics can be sliced by them.
    group_columns: ClassVar[tuple[str, ...]] = ()
    #: Metrics of single predictions, beside those that every scenario has: the name of a known one, or a `Metric`.
    scores: ClassVar[tuple[str | Metric, ...]] = ()
    #: Rows that are equal in every column: `number` counts each under a number of its own, `drop` keeps the first.
    duplicates: ClassVar[Duplicates] = "number"
    #: Whether the labels of a classification are steps of a scale, so that an answer can be off by one.
    ordered: ClassVar[bool] = False
    #: Tags around the sample's texts in the prompt: what a reply repeats between them is no answer.
    data_tags: ClassVar[tuple[str, ...]] = ()
    #: Another scenario's template folder, for a variant that asks the same questions.
    template_folder: ClassVar[str | None] = None
    #: Strategies of a benchmark that names none; empty for those of the kind of task.
    strategies: ClassVar[tuple[str, ...]] = ()
    #: Words that no perturbation changes, beside labels and choices.
    protected: ClassVar[tuple[str, ...]] = ()
    #: Text at the end of the last message of each prompt, as it is; the option `--puma-prompt-suffix` replaces it.
    prompt_suffix: ClassVar[str] = ""
    #: Strings at which a reply ends; they are not part of it.
    stop: ClassVar[tuple[str, ...]] = ()
    #: Maximum number of tokens of a reply, unless an option or a strategy that reasons needs more.
    max_tokens: ClassVar[int | None] = None

    def stops(self, item: dict[str, Any]) -> tuple[str, ...]:  # noqa: ARG002 - for overrides
        """Return the strings at which the reply to a row ends: by default `stop`."""
        return self.stop

    @property
    def kind(self) -> TaskKind:
        """The kind of task, by `task_type`."""
        return KINDS[self.task_type]

    @abstractmethod
    def sample(self, n: int, seed: int = 42) -> pd.DataFrame:
        """At most `n` rows, one an instance; `sample(n)` is a prefix of `sample(m)` for n < m."""

    @abstractmethod
    def gold_label(self, instance: dict[str, Any]) -> str:
        """The right answer to an instance (a row as a dictionary); for a regression, a number as text."""

    @abstractmethod
    def parse_response(self, response: str) -> str | None:
        """The answer that a model's text gives, `None` when it gives none."""

    @abstractmethod
    def valid_labels(self) -> list[str]:
        """All answers there are, in their natural order; for a regression, the values to choose from."""

    def parse_conclusion(self, reply: str) -> str | None:
        """The answer in a reply that was to end in an `Answer:` line and has none, `None` when it gives none.

        The default takes a reply that is a valid label, or in a regression a number, and nothing else.
        """
        bare = reply.strip().strip("*_`\"'.#").strip()
        return self.kind.bare(bare, self.valid_labels())

    def hidden_fields(self) -> Sequence[str]:
        """Fields of an instance that tell the gold answer: templates do not see them.

        One that `gold_label` returns as it stands is hidden even if it is not among them.
        """
        return ()

    def examples(self) -> pd.DataFrame | None:
        """The pool of few-shot examples: rows like those of `sample`, none of them ever evaluated.

        A column `rationale` explains the gold answer in chain-of-thought examples. `None`, the
        default, takes rows of the scenario that are not evaluated in the run.
        """
        return None

    def references(self, instance: dict[str, Any]) -> Sequence[str]:  # noqa: ARG002 - for overrides
        """All ground truths of an instance, the gold answer first; empty if there is no other."""
        return ()

    def options(self, instance: dict[str, Any]) -> Sequence[Choice]:  # noqa: ARG002 - for overrides
        """The choices that an instance presents, in the order of the data."""
        return ()

    def context(self, instance: dict[str, Any]) -> Mapping[str, Any]:  # noqa: ARG002 - for overrides
        """Arguments of metrics for an instance, such as a JSON schema."""
        return {}

    def read(self, text: str, sample: Sample, order: Sequence[int] = ()) -> str | None:  # noqa: ARG002 - for overrides
        """The answer that a model's text about a sample gives, `None` when it gives none.

        `order`: the places of the sample's choices in the order in which they were shown.
        """
        return self.parse_response(text)

    def read_conclusion(self, reply: str, sample: Sample, order: Sequence[int] = ()) -> str | None:  # noqa: ARG002
        """The answer in a reply that was to end in an `Answer:` line and has none; see `read`."""
        return self.parse_conclusion(reply)

    def trials(self, sample: Sample, seed: int, repeats: int) -> Iterator[Trial]:  # noqa: ARG002 - for overrides
        """The trials of a sample, numbered from 0: one for each repeat.

        `seed` is that of the run, for trials that are drawn at random.
        """
        return (Trial(index) for index in range(repeats))

    def metrics(self) -> Mapping[str, OwnMetric]:
        """The scenario's own metrics: a name, and a function of all predictions of a cell.

        `@metric(per="cell", better="low")` before the function states which values are better.
        """
        return {}

    def source(self) -> DataSource | None:
        """The file that the samples come from, where there is one."""
        return None

    def primary_metric(self) -> str:
        """The metric that reports put first."""
        if self.kind.primary_metric or not self.scores:
            return self.kind.primary_metric
        first = self.scores[0]
        return first if isinstance(first, str) else first.names[0]

    def decisive_metric(self) -> str:
        """The metric whose change decides whether answers became worse."""
        return self.kind.decisive_metric or self.primary_metric()
