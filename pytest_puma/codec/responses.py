"""The responses of a prediction as JSON, without what the rest of its line has already.

    {"raw": ["Major"], "finish": "stop", "usage": {...}, ..., "responses": [{}]}
    {"raw": ["Unclear.", "Answer: Major"], ..., "responses": [{"finish": "length", "usage": [90, 0, 200, 3.1]}, ...]}

An entry for each request of the conversation. `text`: only if the strategy's answer does not have all responses in this
order. `finish`: only if it differs from that of the line. `usage`: prompt, cached and decoded tokens, seconds; only if
there are several responses. `logprobs`: the number of those in the line that belong to the response, or the list of
them; absent if all belong to it. `likelihoods`: total, end, tokens, greedy of each continuation. `continuations`: the
scored ones.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any

from pytest_puma.core import DataError, Likelihood, Prediction, Response, Usage


def packed(prediction: Prediction) -> list[dict[str, Any]]:
    """Return an entry for each response."""
    responses = prediction.responses
    several = len(responses) > 1
    texts = tuple(response.text for response in responses) != prediction.raw
    listed = tuple(chain.from_iterable(response.logprobs for response in responses)) != prediction.logprobs
    entries: list[dict[str, Any]] = []
    for response, continuations in zip(responses, prediction.continuations, strict=True):
        entry: dict[str, Any] = {"text": response.text} if texts else {}
        if response.finish != prediction.finish:
            entry["finish"] = response.finish
        if several:
            usage = response.usage
            entry["usage"] = (usage.prompt_tokens, usage.cached_tokens, usage.decoded_tokens, usage.seconds)
        if listed:
            entry["logprobs"] = response.logprobs
        elif several and response.logprobs:
            entry["logprobs"] = len(response.logprobs)
        if response.likelihoods:
            entry["likelihoods"] = [(each.total, each.end, each.tokens, each.greedy) for each in response.likelihoods]
        if continuations:
            entry["continuations"] = continuations
        entries.append(entry)
    return entries


def unpacked(line: Mapping[str, Any]) -> tuple[tuple[Response, ...], tuple[tuple[str, ...], ...]]:
    """Return the responses and the scored continuations of each, from the line of a prediction.

    Lines of earlier versions have no entries. A single response is restored from the rest of the line; a `DataError`
    reports several, of which such a line lacks parts.
    """
    entries = line["responses"] if "responses" in line else _entries(line)
    several, logprobs = len(entries) > 1, iter(line["logprobs"])
    responses = tuple(
        Response(
            text=entry["text"] if "text" in entry else line["raw"][place],
            logprobs=_logprobs(entry, logprobs, several=several),
            likelihoods=tuple(map(_likelihood, entry.get("likelihoods", ()))),
            finish=entry.get("finish", line["finish"]),
            usage=_usage(*entry["usage"]) if several else Usage(**line["usage"]),
        )
        for place, entry in enumerate(entries)
    )
    return responses, tuple(tuple(entry.get("continuations", ())) for entry in entries)


def _entries(line: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The entries that a line of an earlier version implies."""
    texts, labels = line["raw"], list(line["probabilities"] or ())
    if len(texts) > 1:
        msg = f"has {len(texts)} replies, but not how each of them ended: it is of an earlier version; run again"
        raise DataError(msg)
    scored = line["finish"] == "scored" and len(labels) == len(line["logprobs"])
    return [{"continuations": labels} if scored else {}]


def _logprobs(entry: Mapping[str, Any], line: Iterator[float | None], *, several: bool) -> tuple[float, ...]:
    """The log-probabilities of an entry: its own list, or the next ones of the line."""
    own = entry.get("logprobs", 0 if several else None)
    return tuple(map(_logprob, own if isinstance(own, list) else islice(line, own)))


def _logprob(value: float | None) -> float:
    """JSON has no infinity: null is the logarithm of 0."""
    return -math.inf if value is None else value


def _likelihood(entry: Sequence[Any]) -> Likelihood:
    total, end, tokens, greedy = entry
    return Likelihood(total=_logprob(total), end=end, tokens=tokens, greedy=greedy)


def _usage(prompt: int, cached: int, decoded: int, seconds: float) -> Usage:
    return Usage(prompt_tokens=prompt, cached_tokens=cached, decoded_tokens=decoded, seconds=seconds)
