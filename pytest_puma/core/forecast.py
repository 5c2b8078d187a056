"""What a cell will take, told before it runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pytest_puma.core.power import Power


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """Of a cell. Tokens as the run will report them, but for a second turn, which comes without the reply to the first.

    `model` is its name, `weights_bytes` what llama.cpp loads of it. `scored_tokens` are fed for continuations;
    `most_tokens` is what the replies may have at most; `overflows` counts samples with a prompt that is too long.
    `cache_bytes` is None where the file does not tell, `seconds` where the model never ran here. `difference` is the
    true change of `metric` against a baseline on the same samples that 80 % of such runs show; `powers` has what each
    gate on a baseline can see.
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
    powers: Mapping[str, Power] = field(default_factory=dict)
