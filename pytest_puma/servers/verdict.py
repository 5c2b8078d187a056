"""The verdict of a judge behind a server: the probabilities with which it would begin each of the allowed answers.

A server gives no log-probabilities of texts, but those of the most probable tokens at each place that it writes. The
first one of a short reply decides: `yes`, `Yes` and ` y` all begin `yes`. A token that begins several answers, as `1`
begins `1` and `10`, counts for the one that the reply goes on to, else for the shortest.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from pytest_puma.core import Score
from pytest_puma.core.conversation import written
from pytest_puma.servers.chat import Reply, body_of, read_reply
from pytest_puma.servers.kind import ServerKind

_MARKS = " \t\n\r\"'`*_.,:;()[]{}<>!▁Ġ"


def verdict_body(request: Score, model: str, kind: ServerKind) -> dict[str, Any]:
    """Return the body that asks for an answer, held to the allowed ones if the server follows grammars."""
    return body_of(written(request, grammar=kind.grammar, logprobs=True), model, kind) | {"top_logprobs": kind.tops}


def read_verdict(content: Any, request: Score, kind: ServerKind, seconds: float) -> Reply:
    """Return the response with the log-probability of each answer; with none if no token begins any."""
    reply = read_reply(content, written(request, grammar=kind.grammar, logprobs=True), seconds)
    answers = [answer.casefold() for answer in request.continuations]
    text = reply.response.text.strip(_MARKS).casefold()
    stated = max((answer for answer in answers if text.startswith(answer)), key=len, default="")
    chances = dict.fromkeys(answers, 0.0)
    for token, logprob in _first(content["choices"][0]["logprobs"]["content"]):
        begun = [answer for answer in answers if answer.startswith(token)]
        if stated in begun and text.startswith(token):
            chances[stated] += math.exp(logprob)
        elif token in begun or len(begun) == 1:
            chances[min(begun, key=len)] += math.exp(logprob)
    logprobs = tuple(math.log(chances[answer]) if chances[answer] else -math.inf for answer in answers)
    readable = max(logprobs) > -math.inf
    return replace(reply, response=replace(reply.response, logprobs=logprobs if readable else (), finish="scored"))


def _first(tokens: Sequence[dict[str, Any]]) -> Iterator[tuple[str, float]]:
    """Yield each probable token at the place of the first one with letters, as it begins an answer."""
    place = next((token for token in tokens if str(token["token"]).strip(_MARKS)), None)
    if place is not None:
        # The written token may be none of the most probable ones, if a grammar chose it.
        probable = {str(token["token"]): float(token["logprob"]) for token in (*place["top_logprobs"], place)}
        for token, logprob in probable.items():
            if word := token.strip(_MARKS).casefold():
                yield word, logprob
