"""Predictions that no run made, with their transcripts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Any

from pytest_puma.core import MODEL, Messages, Prediction, Response, Transcript, Turn

#: Parts of a transcript that `prediction` takes as fields.
_TURNS = ("raw", "prompts", "continuations", "finish", "logprobs", "usage")


def prediction(sample_id: str = "s0", *, gold: str = "A", answer: str | None = "A", **fields: Any) -> Prediction:
    """A prediction; `raw`, `prompts`, `continuations`, `finish`, `logprobs` and `usage` as in `replied`."""
    turns = {name: fields.pop(name) for name in _TURNS if name in fields}
    bare = Prediction(sample_id=sample_id, gold=gold, answer=answer, **fields)
    return replied(bare, *turns.pop("raw", ()), **turns) if turns else bare


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
