"""Transcripts of predictions that no run made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Any

from pytest_puma.core import MODEL, Messages, Prediction, Response, Transcript, Turn


def replied(
    prediction: Prediction,
    *raw: str,
    prompts: Sequence[Messages | None] = (),
    continuations: Sequence[tuple[str, ...]] = (),
    **last: Any,
) -> Prediction:
    """The prediction with a turn for each text, prompt or list of continuations; `last`: the rest of the last turn."""
    texts = raw or ("",) * max(len(prompts), len(continuations), 1)
    responses = [Response(text=text) for text in texts[:-1]] + [Response(text=texts[-1], **last)]
    parts = list(zip_longest(responses, prompts, continuations))
    turns = (
        Turn(response=response or Response(), prompt=prompt, continuations=scored or (), cited=response is not None)
        for response, prompt, scored in parts
    )
    return replace(prediction, transcripts={MODEL: Transcript(tuple(turns))})
