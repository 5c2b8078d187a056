"""What the answers cost, and how many never came: means and rates over all predictions."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pytest_puma.core import TRUNCATED
from pytest_puma.metrics.statistic import Statistic, mean, proportion
from pytest_puma.metrics.table import Table


def failures(table: Table) -> Iterator[Statistic]:
    """Answers that could not be read, replies that were cut off, and prompts that were longer than the context."""
    finishes = [prediction.finish for prediction in table.predictions]
    truncated = np.array([finish in TRUNCATED for finish in finishes], dtype=np.bool_)
    overflow = np.array([finish == "overflow" for finish in finishes], dtype=np.bool_)
    yield proportion("parse_failure_rate", ~table.read, table.everything, better="low")
    yield proportion("truncation_rate", truncated, table.everything, better="low")
    yield proportion("overflow_rate", overflow, table.everything, better="low")


def statistics(table: Table) -> Iterator[Statistic]:
    """Seconds and tokens per prediction."""
    usages = [prediction.usage for prediction in table.predictions]
    columns = {
        "latency_mean": [usage.seconds for usage in usages],
        "tokens_prompt_mean": [usage.prompt_tokens for usage in usages],
        "tokens_decoded_mean": [usage.decoded_tokens for usage in usages],
        "tokens_cached_mean": [usage.cached_tokens for usage in usages],
    }
    for name, column in columns.items():
        yield mean(name, np.array(column, dtype=np.float64), table.everything, better="low")
