"""What the replies of a cell cost: seconds, tokens and joules for each prediction."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from pytest_puma.core.metric import Source
from pytest_puma.metrics.kernels import average
from pytest_puma.metrics.statistic import IntervalBasis, Kernel, Statistic, masked, mean, ratio
from pytest_puma.metrics.table import PredictionTable
from pytest_puma.stats.arrays import Values, Weights

#: The mean of a field of the usage of each prediction.
_MEANS = {
    "tokens_prompt_mean": "prompt_tokens",
    "tokens_decoded_mean": "decoded_tokens",
    "tokens_cached_mean": "cached_tokens",
}
#: The share of predictions that a percentile is above, and the rows from which its interval covers it in 93 %: of a
#: lognormal latency, that of `latency_p95` did in 84 % with 60 rows, in 87 % with 100, in 97 % with 200.
_PERCENTILES = {"latency_p50": (0.50, 30), "latency_p95": (0.95, 200)}
SOURCES: Mapping[str, Source] = {
    **dict.fromkeys(("latency_mean", *_PERCENTILES, "tokens_per_second"), "clock"),
    **dict.fromkeys(_MEANS, "tokens"),
    **dict.fromkeys(("joules_mean", "joules_per_right"), "energy"),
}


def statistics(table: PredictionTable) -> Iterator[Statistic]:
    """Yield the latencies, the speed of the replies, the means of the tokens and the energy."""
    usages = [prediction.usage for prediction in table.predictions]

    def column(name: str) -> Values:
        return np.array([getattr(usage, name) for usage in usages], dtype=np.float64)

    seconds, decoded, everything = column("seconds"), column("decoded_tokens"), table.everything
    timed: dict[str, Any] = {"source": "clock", "better": "low"}
    yield mean("latency_mean", seconds, everything, **timed)
    for name, (share, rows) in _PERCENTILES.items():
        basis, inputs = IntervalBasis(min_rows=rows), masked(seconds, everything)
        kernel = percentile(seconds, share)
        yield Statistic(name=name, kernel=kernel, n=len(seconds), inputs=inputs, interval=basis, **timed)
    wrote = decoded > 0
    # Of equal replies, the times still differ.
    rates = np.divide(decoded, seconds, out=np.zeros_like(seconds), where=seconds > 0)
    yield Statistic(
        name="tokens_per_second",
        kernel=ratio(decoded, np.where(wrote, seconds, 0.0)),
        n=int(wrote.sum()),
        source="clock",
        inputs=masked(rates, wrote),
        optional=True,
    )
    for name, field in _MEANS.items():
        yield mean(name, column(field), everything, source="tokens", better="low")
    joules = np.array([prediction.joules for prediction in table.predictions], dtype=np.float64)
    known = joules > 0
    of_energy: dict[str, Any] = {"source": "energy", "better": "low", "unit": "J", "optional": True}
    yield mean("joules_mean", joules, known, **of_energy)
    answers = zip(known.tolist(), table.predictions, table.right.tolist(), strict=True)
    right = [
        energy and (hit if prediction.loss is None else prediction.loss == 0) for energy, prediction, hit in answers
    ]
    kernel = ratio(joules, np.array(right, dtype=np.float64))
    yield Statistic(
        name="joules_per_right", kernel=kernel, n=int(known.sum()), inputs=masked(joules, known), **of_energy
    )


def percentile(values: Values, share: float) -> Kernel:
    """Return the kernel of the smallest value that this share of the weighted rows does not exceed (nearest rank)."""
    if not values.size:
        return average(values)
    order = np.argsort(values)
    ascending = values[order]

    def kernel(weights: Weights) -> Values:
        ends = np.cumsum(weights[:, order], axis=1)
        # Rounded, a share of whole weights may be a little more than a whole number.
        reached = ends >= np.maximum(share * ends[:, -1:] - 1e-9, 1e-9)
        return np.where(ends[:, -1] > 0, ascending[np.argmax(reached, axis=1)], np.nan)

    return kernel
