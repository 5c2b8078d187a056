"""What a cell will cost and what its gates can detect, before it runs; and the words for shares and sizes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

#: The power for which sample sizes and detectable differences are stated.
TARGET_POWER = 0.8
#: The memory that a judge needs beside its weights, to open beside a model: its cache and buffers, in bytes.
BESIDE = 512 << 20
_NOISE = 1e-9  # of floating point: 100 * 0.07 is slightly above 7


@dataclass(frozen=True, slots=True, kw_only=True)
class Power:
    """Probability that a gate FAILs if its metric is truly worse by `loss`.

    `caught`: this probability with `n` samples; `needed`: the number of samples for a probability of 80 %, infinite if
    no number is enough. `loss` is a share of the old value if `relative`; with a
    `metric`, it is in the unit of this metric, which has no bounds. `changed`: the assumed share of answers that
    go from right to wrong or back, None if answers are numbers. `at_least`: a second test of the gate adds to this
    probability. `renewals`: the number of renewed baselines over which the loss accumulates, for a gate on a series.
    """

    loss: float
    relative: bool
    caught: float
    n: int
    needed: float
    changed: float | None = None
    at_least: bool = False
    renewals: int | None = None
    metric: str = ""

    def __str__(self) -> str:
        """`a loss of 5 points is caught in 23 % of runs at n=50; 80 % needs about 470 samples (...)`."""
        caught = f"{'at least ' if self.at_least else ''}{rounded_down(self.caught)}"
        assumed = "" if self.changed is None else f" (where {percent(self.changed)} of the answers change)"
        among = "runs" if self.renewals is None else "series"
        return f"{self.lost} is caught in {caught} of {among} at n={self.n}; {self._sizes}{assumed}"

    @property
    def lost(self) -> str:
        """The loss in words."""
        if self.metric:
            return f"a loss of {self.loss:.3g} in {self.metric}"
        over = "" if self.renewals is None else f" over {self.renewals} renewals"
        return f"a loss of {100 * self.loss:.3g} {'%' if self.relative else 'points'}{over}"

    @property
    def _sizes(self) -> str:
        if math.isinf(self.needed):
            return f"no number of samples gives {percent(TARGET_POWER)}"
        bound = "at most " if self.at_least else "about "
        return f"{percent(TARGET_POWER)} needs {bound}{rounded_up(self.needed)} samples"


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeForecast:
    """Predicted cost of a judge of a cell, which is asked by `rubrics`.

    `verdicts`: their number, None if a metric cannot be asked about an empty reply. `weights_bytes`, `context_bytes`:
    as in `Forecast`, 0 for a judge that is no file here. `seconds`: the maximum time of the verdicts that are not kept;
    None if it is unknown.
    """

    judge: str
    rubrics: tuple[str, ...]
    verdicts: int | None = None
    weights_bytes: int = 0
    context_bytes: int = 0
    seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """Predicted cost and power of a cell.

    Tokens are counted as the run will report them. Only the second turn of a conversation is shorter: it lacks the
    reply to the first.

    `trials`: the number of conversations, more than `samples` if a sample has several. `model`: the name of the model,
    `loaded` that of the model whose weights it shares with other variants, `weights_bytes` their size in memory,
    `controls`: that of each file that its variant puts on them. `max_tokens`: the maximum length of all replies
    together; `overflows`: the number of samples whose prompt exceeds the context. `context_bytes`: the size of all that
    llama.cpp keeps beside the weights; `cache_bytes`: that of the cache, None if the file does not specify it.
    `seconds`: None if the model wrote no replies here, only scored labels. `kept`: the number of answers that the
    response store has; `seconds` are those of the rest, `reply_tokens` the mean length of its replies.
    `distance_tokens`: those that are read to measure the distance of variants from their plain model; `seconds` include
    them. `judges`: what their verdicts cost on top.
    `difference`: the true change of `metric`, against a baseline on the same samples, that 80 % of such runs detect.
    `powers`: the power of each gate on a baseline.
    """

    cell: str
    model: str
    loaded: str = ""
    weights_bytes: int
    controls: Mapping[str, int] = field(default_factory=dict)
    samples: int
    trials: int
    prompt_tokens: int
    cached_tokens: int
    max_tokens: int
    overflows: int
    cache_bytes: int | None
    context_bytes: int
    seconds: float | None
    kept: int = 0
    reply_tokens: float = 0.0
    distance_tokens: int = 0
    judges: tuple[JudgeForecast, ...] = ()
    metric: str
    difference: float
    powers: Mapping[str, Power] = field(default_factory=dict)


def percent(share: float) -> str:
    """Format a share: `23 %`."""
    return f"{100 * share:.0f} %"


def rounded_down(share: float) -> str:
    """Format a lower bound of a share, which must not promise more: 0.239 is `23 %`."""
    return f"{math.floor(100 * share + _NOISE):d} %"


def bounded_above(share: float) -> str:
    """Format an upper bound of a share with two digits, rounded up: 0.025 is `2.5 %`, and 0.225 is `23 %`."""
    if share <= 0:
        return percent(0.0)
    step = 10.0 ** (math.floor(math.log10(100 * share) + _NOISE) - 1)
    return f"{math.ceil(100 * share / step - _NOISE) * step:.4g} %"


def rounded_up(number: float) -> str:
    """Round up to two digits: 470, 1,300."""
    step = 10 ** max(0, math.floor(math.log10(number)) - 1)
    return f"{math.ceil(number / step) * step:,}"
