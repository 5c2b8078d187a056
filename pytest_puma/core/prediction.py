"""A prediction: the answer to one sample, beside its gold label."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pytest_puma.core.conversation import Usage
from pytest_puma.core.shared import Messages


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """One sample's answer beside its gold. `answer is None` means no answer: a datum, not an error.

    `raw` holds the text of each response; `finish` is the last response's. `failure` is the cause of a missing answer,
    in one word, and `parsed` the text that was read where it is not a valid answer. `fields` are those of the sample.
    `prompts` holds for each request the messages behind those that the cell shares, `None` where the prompt is that of
    the request before; `Outcome.prompts` joins them.
    """

    sample_id: str
    gold: str
    answer: str | None
    raw: tuple[str, ...] = ()
    probabilities: Mapping[str, float] | None = None
    logprobs: tuple[float, ...] = ()
    finish: str = "stop"
    failure: str | None = None
    parsed: str | None = None
    units: tuple[str, ...] = ()
    fields: Mapping[str, Any] = field(default_factory=dict)
    prompts: tuple[Messages | None, ...] = ()
    usage: Usage = field(default_factory=Usage)
