"""The verdict of a judge behind a server: the probabilities with which it would write each of the allowed answers.

A server gives no log-probabilities of texts. It writes a short reply, held to the answers by a grammar (llama.cpp) or
by a JSON schema: `{"verdict": "yes"}`. A reply that states none of them (`replies.verdicts`) is unreadable.

Where the server gives the most probable tokens at each place, those at the place where the verdict begins are its
probabilities: `yes`, `Yes` and ` y` all begin `yes`. A token that begins several answers, as `1` begins `1` and `10`,
counts for the one that is written, else for the shortest. Elsewhere the written answer has all of the probability.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Any

from pytest_puma.core import Generate, Score
from pytest_puma.core.conversation import written
from pytest_puma.replies.answers import strip_reasoning
from pytest_puma.replies.verdicts import stated_verdict
from pytest_puma.servers.chat import Reply, body_of, read_reply
from pytest_puma.servers.kind import ServerKind

#: The field of a body with the JSON schema.
SCHEMA = "response_format"
#: Tokens of the object around an answer.
_OBJECT = 16
_MARKS = " \t\n\r\"'`*_.,:;()[]{}<>!▁Ġ"


def verdict_body(request: Score, model: str, kind: ServerKind) -> dict[str, Any]:
    """Return the body that asks for one of the allowed answers."""
    tokens = {"top_logprobs": kind.tops} if kind.tops else {}
    return body_of(_asked(request, kind), model, kind) | tokens | ({} if kind.grammar else {SCHEMA: _schema(request)})


def read_verdict(content: Any, request: Score, kind: ServerKind, seconds: float) -> Reply:
    """Return the response with the log-probability of each answer; with none if it states none of them."""
    reply = read_reply(content, _asked(request, kind), seconds)
    text, answers = strip_reasoning(reply.response.text), request.continuations
    chances: Mapping[str, float] = {}
    if (stated := stated_verdict(text, answers)) is not None:
        verdict, start = stated
        probable = _probable(content["choices"][0]["logprobs"]["content"], text, start) if kind.tops else ()
        chances = _chances(verdict, answers, probable)
        if not any(chances.values()):
            chances = {verdict: 1.0}
    logprobs = tuple(math.log(chances[answer]) if chances.get(answer) else -math.inf for answer in answers)
    return replace(reply, response=replace(reply.response, logprobs=logprobs if chances else (), finish="scored"))


def _asked(request: Score, kind: ServerKind) -> Generate:
    asked = written(request, grammar=kind.grammar, logprobs=kind.tops > 0)
    return asked if kind.grammar else replace(asked, max_tokens=asked.max_tokens + _OBJECT)


def _schema(request: Score) -> dict[str, Any]:
    """The answers as an object with one field: hosted servers take no other schema than that of an object."""
    verdict = {"type": "string", "enum": list(request.continuations)}
    closed = {"required": ["verdict"], "additionalProperties": False}
    schema = {"type": "object", "properties": {"verdict": verdict}, **closed}
    return {"type": "json_schema", "json_schema": {"name": "verdict", "strict": True, "schema": schema}}


def _chances(verdict: str, answers: Sequence[str], probable: Iterable[tuple[str, float]]) -> Mapping[str, float]:
    """The probability of each answer that a token begins."""
    chances: dict[str, float] = defaultdict(float)
    for token, logprob in probable:
        begun = [answer for answer in answers if answer.casefold().startswith(token)]
        if verdict in begun:
            chances[verdict] += math.exp(logprob)
        elif len(begun) == 1 or token in map(str.casefold, begun):
            chances[min(begun, key=len)] += math.exp(logprob)
    return chances


def _probable(tokens: Sequence[dict[str, Any]], text: str, start: int) -> Iterator[tuple[str, float]]:
    """Yield the probable tokens at the place of the one with the character `start` of the text, without its marks."""
    # Thoughts may stand before the text.
    start += max("".join(str(token["token"]) for token in tokens).rfind(text), 0)
    ends = accumulate(len(str(token["token"])) for token in tokens)
    place = next((token for token, end in zip(tokens, ends, strict=True) if end > start), tokens[-1])
    # The written token may be none of the most probable ones, if a grammar or a schema chose it.
    listed = {str(token["token"]): float(token["logprob"]) for token in (*place["top_logprobs"], place)}
    for token, logprob in listed.items():
        if word := token.strip(_MARKS).casefold():
            yield word, logprob
