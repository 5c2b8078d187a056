"""Cost of the answers, and rates of missing answers, over all predictions."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pytest_puma.core import TRUNCATED
from pytest_puma.metrics.statistic import Statistic, mean, proportion
from pytest_puma.metrics.table import Table

#: What the clock measures: a batch holds many requests, so that a request alone would take less time.
_SHARED_TIME = "from admission to the end of the reply, while the other requests of the batch are computed too"


def failures(table: Table) -> Iterator[Statistic]:
    """Yield the rates of parse failures, of truncated replies, and of prompts longer than the context."""
    finishes = [prediction.finish for prediction in table.predictions]
    truncated = np.array([finish in TRUNCATED for finish in finishes], dtype=np.bool_)
    overflow = np.array([finish == "overflow" for finish in finishes], dtype=np.bool_)
    yield proportion("parse_failure_rate", ~table.parsed, table.everything, better="low")
    yield proportion("truncation_rate", truncated, table.everything, better="low")
    yield proportion("overflow_rate", overflow, table.everything, better="low")


def statistics(table: Table) -> Iterator[Statistic]:
    """Yield the seconds and tokens per prediction."""
    usages = [prediction.usage for prediction in table.predictions]
    columns = {
        "latency_mean": [usage.seconds for usage in usages],
        "tokens_prompt_mean": [usage.prompt_tokens for usage in usages],
        "tokens_decoded_mean": [usage.decoded_tokens for usage in usages],
        "tokens_cached_mean": [usage.cached_tokens for usage in usages],
    }
    for name, column in columns.items():
        note = _SHARED_TIME if name == "latency_mean" else ""
        yield mean(name, np.array(column, dtype=np.float64), table.everything, better="low", note=note)
