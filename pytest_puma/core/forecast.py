"""What a cell will take, told before it runs."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """Of a cell. Tokens as the run will report them, but for a second turn, which comes without the reply to the first.

    `model` is its name, `weights_bytes` what llama.cpp loads of it. `scored_tokens` are fed for continuations;
    `most_tokens` is what the replies may have at most; `overflows` counts samples with a prompt that is too long.
    `cache_bytes` is None where the file does not tell, `seconds` where the model never ran here. `difference` is the
    smallest one between two runs of so many samples that shows in `metric` at 95 %.
    """

    cell: str
    model: str
    weights_bytes: int
    samples: int
    prompt_tokens: int
    cached_tokens: int
    scored_tokens: int
    most_tokens: int
    overflows: int
    cache_bytes: int | None
    seconds: float | None
    metric: str
    difference: float
