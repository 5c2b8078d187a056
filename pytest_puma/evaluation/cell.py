"""A cell: one scenario, asked with one strategy, of one model. It is one pytest item."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from pytest_puma.core import JUDGE, CellId, Gate, Generation, Metric, Model, Sample, Scenario, SettingsError
from pytest_puma.core.metric_name import MetricName
from pytest_puma.errors import check_limits
from pytest_puma.judges.agreement import is_compared
from pytest_puma.perturbations import Perturbation
from pytest_puma.strategies import Strategy, resolve_generation

DEFAULT_SAMPLES = 50
DEFAULT_SEED = 42
MAX_SEED = 2**64 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """Everything that decides the numbers of one cell.

    `samples`: their maximum number; `every`: it is that of all rows of the data, however many there are.
    `perturbation`: None for samples as they are. `repeats`: how often each sample is asked. `retries`: how often
    more if the reply has no valid answer. `prompt_suffix`: text at the end of each prompt. `subjects`: patterns of the
    groups to draw samples from, empty for all. `generation` is completed by the strategy's own settings. `gates`: the
    cell's own; `cross_cell_gates`: those that compare it with other cells. `scores`: metrics of single predictions,
    beside those that every cell of the scenario has. `judges`: the models that these ask. `metrics`: those
    that reports show; `compared_metrics`: those to compare with other cells or with a baseline.
    """

    scenario: Scenario
    strategy: Strategy
    model: Model
    perturbation: Perturbation | None = None
    samples: int = DEFAULT_SAMPLES
    every: bool = False
    repeats: int = 1
    retries: int = 0
    prompt_suffix: str = ""
    subjects: tuple[str, ...] = ()
    seed: int = DEFAULT_SEED
    generation: Generation = field(default_factory=Generation)
    gates: tuple[Gate, ...] = ()
    cross_cell_gates: tuple[Gate, ...] = ()
    scores: tuple[Metric, ...] = ()
    judges: tuple[Model, ...] = ()
    metrics: tuple[str, ...] = ()
    compared_metrics: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse a cell that would measure nothing, or the same text several times."""
        kinds = self.strategy.kinds
        if kinds and self.scenario.task_type not in kinds:
            msg = (
                f"strategy {self.strategy.name} is for {', '.join(sorted(kinds))}; {self.scenario.name} is a "
                f"{self.scenario.task_type}: leave it out for this scenario"
            )
            raise SettingsError(msg)
        check_limits(
            {
                "samples": (self.samples, 1, math.inf),
                "repeats": (self.repeats, 1, math.inf),
                "seed": (self.seed, 0, MAX_SEED),
            }
        )
        object.__setattr__(
            self, "generation", resolve_generation(self.strategy, self.generation, self.scenario.max_tokens)
        )
        if self.repeats > 1 and not self.generation.temperature:
            msg = (
                f"strategy {self.strategy.name}: repeats is {self.repeats} and temperature is 0, so all repeats of a "
                "sample would be the same; expected a positive temperature, as --puma-temperature 0.7, or 1 repeat"
            )
            raise SettingsError(msg)

    @property
    def judged(self) -> tuple[Metric, ...]:
        """The metrics that ask a judge."""
        return tuple(metric for metric in self.scores if metric.asks == JUDGE)

    @property
    def gated_judges(self) -> list[Metric]:
        """The metrics that ask a judge and that gates limit."""
        limited = {
            MetricName.parse(gate.metric).base for gate in (*self.gates, *self.cross_cell_gates) if not gate.word
        }
        return [metric for metric in self.judged if not limited.isdisjoint(metric.names)]

    def uncompared(self, samples: Sequence[Sample]) -> list[Metric]:
        """Return the metrics that gates limit, and whose judge was never compared with labels of people."""
        return [metric for metric in self.gated_judges if not is_compared(metric, samples)]

    @property
    def name(self) -> CellId:
        """The names that identify the cell."""
        perturbation = None if self.perturbation is None else self.perturbation.name
        return CellId(self.scenario.name, self.strategy.name, self.model.name, perturbation)

    @property
    def id(self) -> str:
        """`triage_jira-few_shot_3@qwen2.5-3b`; under a perturbation `triage_jira-few_shot_3+typos_5pct@qwen2.5-3b`."""
        return str(self.name)
