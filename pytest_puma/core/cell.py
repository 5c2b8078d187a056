"""A cell: one scenario, asked in one strategy, of one model. It is one pytest item."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path

from pytest_puma.core.cell_id import CellId
from pytest_puma.core.conversation import Generation
from pytest_puma.core.errors import SettingsError, check_limits
from pytest_puma.core.gate import Gate
from pytest_puma.core.scenario import Scenario

DEFAULT_SAMPLES = 50
DEFAULT_SEED = 42
MAX_SEED = 2**64 - 1
#: What llama.cpp takes (sequences), and what no machine has (the others): beyond, C would wrap numbers around.
MAX_SEQUENCES, MAX_KV_SLOTS, MAX_LAYERS, MAX_THREADS = 64, 2**27, 2**15, 2**12


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOptions:
    """How a model is loaded and run; `None` leaves the choice to the engine.

    `n_ctx`: cache cells, in tokens; `gpu_layers`: -1 is all; `parallel`: sequences decoded
    together; `thinking`: whether a reasoning model may think before it answers; `strict`: every request is computed
    alone and in one order, so that neither other samples nor the number of threads change an answer.
    """

    n_ctx: int | None = None
    gpu_layers: int = -1
    threads: int | None = None
    parallel: int | None = None
    thinking: bool = False
    strict: bool = False

    def __post_init__(self) -> None:
        """Refuse what llama.cpp would abort on, and what contradicts itself."""
        if self.strict and self.parallel not in {None, 1}:
            msg = f"parallel is {self.parallel} where strict asks for one request at a time; expected one of the two"
            raise SettingsError(msg)
        check_limits(
            {
                "n_ctx": (self.n_ctx, 1, MAX_KV_SLOTS),
                "gpu_layers": (self.gpu_layers, -1, MAX_LAYERS),
                "threads": (self.threads, 1, MAX_THREADS),
                "parallel": (self.parallel, 1, MAX_SEQUENCES),
            }
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """A GGUF file under the name that ids, gates and baselines use."""

    name: str
    path: Path
    options: ModelOptions = field(default_factory=ModelOptions)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One scenario x strategy x model, with all that decides its numbers; `metrics` are those that reports show.

    `perturbation` is the name of that under which the samples are shown, None as they are. `gates` are the cell's own;
    `across` are those that compare it with other cells, `compared_metrics` the metrics to compare with other cells or
    with a baseline.
    """

    scenario: Scenario
    strategy: str
    model: Model
    perturbation: str | None = None
    samples: int = DEFAULT_SAMPLES
    seed: int = DEFAULT_SEED
    generation: Generation = field(default_factory=Generation)
    gates: tuple[Gate, ...] = ()
    across: tuple[Gate, ...] = ()
    metrics: tuple[str, ...] = ()
    compared_metrics: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """A cell without samples would measure nothing."""
        check_limits({"samples": (self.samples, 1, math.inf), "seed": (self.seed, 0, MAX_SEED)})

    @property
    def name(self) -> CellId:
        """The names that identify the cell."""
        return CellId(self.scenario.name, self.strategy, self.model.name, self.perturbation)

    @property
    def id(self) -> str:
        """`triage_jira-few_shot_3@qwen2.5-3b`; under a perturbation `triage_jira-few_shot_3+typos_5pct@qwen2.5-3b`."""
        return str(self.name)
