"""The predicted cost of a cell, before it runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pytest_puma.core.power import Power


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """Predicted cost and power of a cell.

    Tokens are counted as the run will report them. Only the second turn of a conversation is shorter: it lacks the
    reply to the first.

    `trials`: the number of conversations, more than `samples` if a sample has several. `model`: the name of the model;
    `weights_bytes`: the size of its weights in memory. `scored_tokens`: the tokens of scored continuations;
    `max_tokens`: the maximum length of all replies together; `overflows`: the number of samples whose prompt exceeds
    the context. `context_bytes`: the size of all that llama.cpp keeps beside the weights; `cache_bytes`: that of the
    cache, None if the file does not specify it. `seconds`: None if the model wrote no replies here, only scored labels.
    `kept`: the number of answers that the response store has; `seconds` are those of the rest.
    `difference`: the true change of `metric`, against a baseline on the same samples, that 80 % of such runs detect.
    `powers`: the power of each gate on a baseline.
    """

    cell: str
    model: str
    weights_bytes: int
    samples: int
    trials: int
    prompt_tokens: int
    cached_tokens: int
    scored_tokens: int
    max_tokens: int
    overflows: int
    cache_bytes: int | None
    context_bytes: int
    seconds: float | None
    kept: int = 0
    metric: str
    difference: float
    powers: Mapping[str, Power] = field(default_factory=dict)
