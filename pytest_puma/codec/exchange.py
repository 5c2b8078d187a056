"""Requests and responses as bytes, for an engine in another process. Every text and number is exact.

    [["Generate", {"prompt": {"messages": [{"role": "user", "content": "Is it urgent?"}]}, "max_tokens": 4}]]
    [[7, {"text": "Major", "finish": "stop"}]]

The second list has tickets. JSON of ASCII alone also has lone surrogates and infinities.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import msgspec

from pytest_puma.core import Generate, Request, Response, Score, TopTokens


def requests_bytes(requests: Sequence[Request]) -> bytes:
    """Return requests as bytes."""
    return _dumped([["Score" if isinstance(request, Score) else "Generate", request] for request in requests])


def requests_from(data: bytes) -> list[Request]:
    """Return the requests in these bytes."""
    return [
        msgspec.convert(fields, Score) if kind == "Score" else msgspec.convert(fields, Generate)
        for kind, fields in json.loads(data)
    ]


def responses_bytes(responses: Mapping[int, Response]) -> bytes:
    """Return responses by ticket as bytes, in their order."""
    return _dumped(list(responses.items()))


def responses_from(data: bytes) -> dict[int, Response]:
    """Return the responses in these bytes, by ticket."""
    return {ticket: _typed(msgspec.convert(fields, Response)) for ticket, fields in json.loads(data)}


def _dumped(value: object) -> bytes:
    return json.dumps(msgspec.to_builtins(value, enc_hook=_listed)).encode("ascii")


def _listed(value: Any) -> Any:
    """The builtin value of an array of top tokens, and of a number or a text of another library."""
    return str(value) if isinstance(value, str) else value.tolist()


def _typed(response: Response) -> Response:
    """The response with the arrays of top tokens that an engine returns."""
    if not response.top:
        return response
    top = tuple(TopTokens(array("i", place.tokens), array("f", place.logprobs)) for place in response.top)
    return replace(response, top=top)
