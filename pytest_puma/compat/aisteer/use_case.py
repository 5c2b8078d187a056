"""The base class of a use case: a scenario whose rows, prompts and metrics are those of the user's methods.

A row is a sample, and each of its prompts a trial, so that intervals resample the questions.
"""

from __future__ import annotations

import json
from abc import abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, lru_cache, partial
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any

from pytest_puma.compat.aisteer.generation import ModelProxy, seeded
from pytest_puma.compat.aisteer.metrics import UseCaseMetric
from pytest_puma.compat.aisteer.prompts import Generation, Prompts, Reply
from pytest_puma.compat.eval_framework.task import scenario_name
from pytest_puma.core import (
    Choice,
    DataError,
    DataSource,
    Metric,
    Outcome,
    Prediction,
    PromptTrial,
    Sample,
    Scenario,
    Trial,
)
from pytest_puma.datasets.frames import Frame, to_frame
from pytest_puma.datasets.order import rank
from pytest_puma.datasets.table import read_records
from pytest_puma.scenarios.file import content_of, shown_path

#: Evaluations that are kept: each is that of a resample, with the numbers of all metrics.
_EVALUATIONS = 400


class UseCase(Scenario):
    """A use case of AISteer360. A subclass defines `generate` and `evaluate`, and no `__init__`.

    Keyword arguments become attributes. `num_samples`: the number of rows, -1 for all; `seed`: of the random numbers in
    `generate`, and of the order of the rows if `shuffle`. Gates name the numbers of `evaluation_metrics` by metric and
    key: `MCQAAccuracy.trial_mean`.
    """

    task_type = "completion"
    composes = True
    text_fields = ()
    key = "id"
    strategies = ("zero_shot",)
    max_tokens = 256

    def __init_subclass__(cls, **arguments: Any) -> None:
        """Name the scenario: `CommonsenseMCQA` is `commonsense_mcqa`."""
        super().__init_subclass__(**arguments)
        cls.name = vars(cls).get("name", scenario_name(cls.__name__))

    def __init__(
        self,
        evaluation_data: Sequence[Mapping[str, Any]] | str | Path | None = None,
        evaluation_metrics: Sequence[UseCaseMetric] = (),
        num_samples: int = -1,
        *,
        evaluation_data_path: str | Path | None = None,
        shuffle: bool = False,
        seed: int = 555,
        **arguments: Any,
    ) -> None:
        rows, self._source = self._read(evaluation_data_path if evaluation_data is None else evaluation_data)
        if shuffle:
            Random(seed).shuffle(rows)  # noqa: S311 - no secret
        self.evaluation_data = rows[:num_samples] if num_samples > 0 else rows
        self.evaluation_metrics, self.seed = list(evaluation_metrics), seed
        self._rows_by_id = {str(row.get("id", place)): row for place, row in enumerate(self.evaluation_data)}
        self._check(arguments)
        vars(self).update(arguments)
        self._evaluation = lru_cache(maxsize=_EVALUATIONS)(self._evaluated)
        self._named_rows = dict(self._rows_by_id)
        for metric in self.evaluation_metrics:
            metric.rows = self._named_rows
        for row, item in self._rows_by_id.items():
            self._validate(row, item)

    @abstractmethod
    def generate(
        self,
        model_or_pipeline: Any,
        tokenizer: Any,
        gen_kwargs: dict[str, Any] | None = None,
        runtime_overrides: dict[str, dict[str, str]] | None = None,
    ) -> list[Generation]:
        """Ask all prompts by one call of `batch_retry_generate`, and return a generation for each, in this order."""

    @abstractmethod
    def evaluate(self, generations: list[Generation]) -> dict[str, dict[str, Any]]:
        """Return what each metric makes of the generations, by its name."""

    def validate_evaluation_data(self, evaluation_data: dict[str, Any]) -> None:
        """Raise a `ValueError` for a row that cannot be used. It is called for every row."""

    def export(self, profiles: dict[str, Any], save_dir: str | Path) -> None:
        """Write `profiles.json`."""
        text = json.dumps(profiles, indent=4, ensure_ascii=False)
        Path(save_dir, "profiles.json").write_text(text, encoding="utf-8")

    def profiles(self, *outcomes: Outcome) -> dict[str, list[dict[str, Any]]]:
        """Return the runs of each model, one for each repeat, with generations and evaluations, for `export`."""
        profiles: dict[str, list[dict[str, Any]]] = {}
        for outcome in outcomes:
            runs: dict[int, list[Prediction]] = {}
            for prediction in outcome.predictions:
                runs.setdefault(self._prompts.repeat(*prediction.key), []).append(prediction)
            made = {trial: self._prompts.resampled(self._prompts.replies(runs[trial])) for trial in sorted(runs)}
            profiles[outcome.name.model] = [
                {"trial_id": trial, "generations": made[trial], "evaluations": self.evaluate(made[trial]), "params": {}}
                for trial in made
            ]
        return profiles

    # -- the rows --------------------------------------------------------------------------------

    def _read(self, data: Any) -> tuple[list[dict[str, Any]], DataSource]:
        """The rows of a list, or of a file relative to the current folder."""
        if isinstance(data, (str, Path)):
            content, name = content_of(Path(data)), shown_path(Path(data))
            rows = [row for _, row in read_records(content, name=name)]
        else:
            rows = [dict(row) for row in data or ()]
            content, name = json.dumps(rows, default=str).encode(), "evaluation_data"
        if not rows:
            msg = f"{type(self).__name__}: evaluation_data has no rows; expected dictionaries in a list, or their file"
            raise DataError(msg)
        return rows, DataSource(name=name, digest=sha256(content).hexdigest())

    def _check(self, arguments: Mapping[str, Any]) -> None:
        """Refuse equal ids, metrics without keys, and arguments that would hide a method."""
        fault = ""
        if len(self._rows_by_id) < len(self.evaluation_data):
            (name, times), *_ = Counter(str(row.get("id")) for row in self.evaluation_data).most_common(1)
            fault = f"evaluation_data has {times} rows with the id {name!r}; expected one of each"
        for metric in self.evaluation_metrics or (None,):
            if not isinstance(metric, UseCaseMetric) or not metric.keys:
                fault = (
                    f"evaluation_metrics has {metric!r}; expected objects of subclasses of Metric, whose keys are the "
                    "numbers that they compute: keys = ('mean',)"
                )
        if taken := [argument for argument in arguments if hasattr(type(self), argument)]:
            fault = f"the argument {taken[0]!r} is the name of a method or attribute; expected another name"
        if fault:
            msg = f"{type(self).__name__}: {fault}"
            raise DataError(msg)

    def _validate(self, row: str, item: dict[str, Any]) -> None:
        try:
            self.validate_evaluation_data(item)
        except Exception as error:
            msg = f"{type(self).__name__}: validate_evaluation_data refuses the row with the id {row!r}: {error}"
            raise DataError(msg) from error

    def sample(self, n: int, seed: int = 42) -> Frame:
        """The first `n` rows in the order of the seed."""
        rows = [{**row, "id": name} for name, row in self._rows_by_id.items()]
        order = sorted(range(len(rows)), key=lambda place: rank(seed, rows[place]["id"]))[:n]
        columns = dict.fromkeys(name for row in rows for name in row)
        return to_frame([rows[place] for place in order], columns=list(columns), rows=order)

    def source(self) -> DataSource:
        """The file of the rows, or the digest of a list."""
        return self._source

    # -- the prompts -----------------------------------------------------------------------------

    @cached_property
    def _prompts(self) -> Prompts:
        return Prompts(self._generate, self._named_rows)

    def _generate(self, model: ModelProxy) -> list[Generation]:
        with seeded(self.seed):
            return self.generate(model, model, {}, getattr(self, "runtime_overrides", None))

    def trials(self, sample: Sample, seed: int, repeats: int) -> Iterator[Trial]:  # noqa: ARG002 - that of the use case
        """The prompts of a row, all of them as often as `repeats`."""
        prompts = self._prompts.of_row(sample.id)
        return (PromptTrial(index, messages=messages) for index, messages in enumerate(prompts * repeats))

    def context(self, instance: dict[str, Any]) -> Mapping[str, Any]:
        """The values of `runtime_overrides` for a row, by its id, as `runtime_kwargs`."""
        columns = self._prompts.call.overrides
        if missing := [name for part in columns.values() for name in part.values() if name not in instance]:
            msg = f"runtime_overrides names the column {missing[0]!r}; the rows have: {', '.join(instance)}"
            raise DataError(msg)
        return {
            "runtime_kwargs": {
                control: {argument: instance[column] for argument, column in part.items()}
                for control, part in columns.items()
            }
        }

    def question_text(self, item: dict[str, Any], choices: Sequence[Choice], *, letters: bool = True) -> str:  # noqa: ARG002
        """Return the last message of a row's first prompt."""
        return self._prompts.of_row(item["id"])[0][-1].content

    # -- the answers -----------------------------------------------------------------------------

    def gold_label(self, instance: dict[str, Any]) -> str:  # noqa: ARG002 - it may differ between the prompts of a row
        """None: the generations have it."""
        return ""

    def valid_labels(self) -> list[str]:
        """No labels: any text."""
        return []

    def parse_response(self, response: str) -> str | None:
        """Return what `parse_fn` reads, without space around it."""
        return (self._prompts.call.read(response) or "").strip() or None

    def primary_metric(self) -> str:
        """The first key of the first metric."""
        return next(iter(self.metrics()))

    def metrics(self) -> Mapping[str, Metric]:
        """Each key of each metric."""
        numbers = {f"{metric.name}.{key}": (metric, key) for metric in self.evaluation_metrics for key in metric.keys}
        return {
            name: Metric(
                name=name,
                score=partial(self._number, metric.name, key),
                per="cell",
                better=metric.better.get(key, "neither"),
            )
            for name, (metric, key) in numbers.items()
        }

    def _number(self, metric: str, key: str, predictions: Sequence[Prediction]) -> Any:
        return self._evaluation(self._prompts.replies(predictions))[metric][key]

    def _evaluated(self, replies: tuple[Reply, ...]) -> dict[str, dict[str, Any]]:
        """The numbers of each metric, without what only `export` writes."""
        values = self.evaluate(self._prompts.resampled(replies))
        return {
            metric.name: {key: values[metric.name][key] for key in metric.keys} for metric in self.evaluation_metrics
        }
