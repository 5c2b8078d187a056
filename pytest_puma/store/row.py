"""A response as a row of the store, and back, exact to the last bit.

SQLite has no checksums of its pages: each row has one of its own, over its keys and every value.
"""

from __future__ import annotations

import json
import struct
import zlib
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, cast

from pytest_puma.core import Likelihood, Response, Usage
from pytest_puma.core.conversation import Finish

#: Columns of the table `response` that hold a response.
COLUMNS = ("finish", "text", "packed", "logprobs", "likelihoods", "usage")
#: Texts with more bytes are deflated.
_PLAIN = 512
#: Total, end, number of tokens, whether there is an end, whether it is greedy.
_LIKELIHOOD = struct.Struct("<ddq??")


@dataclass(frozen=True, slots=True)
class KeptResponse:
    """A response that the store has, the company it was computed in, and the id and the name of the run."""

    response: Response
    company: bytes
    run: tuple[int, str]


def values_of(response: Response) -> tuple[Any, ...]:
    """Return the values of `COLUMNS`."""
    text = response.text.encode("utf-8", "surrogatepass")
    packed = len(text) > _PLAIN
    usage = response.usage
    return (
        response.finish,
        zlib.compress(text) if packed else text,
        int(packed),
        struct.pack(f"<{len(response.logprobs)}d", *response.logprobs),
        b"".join(map(_likelihood, response.likelihoods)),
        json.dumps([usage.prompt_tokens, usage.cached_tokens, usage.decoded_tokens, usage.seconds]),
    )


def response_of(values: tuple[Any, ...]) -> Response:
    """Return the response of the values of `COLUMNS`."""
    finish, text, packed, logprobs, likelihoods, usage = values
    prompt_tokens, cached_tokens, decoded_tokens, seconds = json.loads(usage)
    return Response(
        text=(zlib.decompress(text) if packed else text).decode("utf-8", "surrogatepass"),
        logprobs=struct.unpack(f"<{len(logprobs) // 8}d", logprobs),
        likelihoods=tuple(
            Likelihood(total=total, end=end if has_end else None, tokens=tokens, greedy=greedy)
            for total, end, tokens, has_end, greedy in _LIKELIHOOD.iter_unpack(likelihoods)
        ),
        finish=cast("Finish", finish),
        usage=Usage(
            prompt_tokens=prompt_tokens, cached_tokens=cached_tokens, decoded_tokens=decoded_tokens, seconds=seconds
        ),
    )


def check_of(request: bytes, company: bytes, values: tuple[Any, ...]) -> bytes:
    """Return the checksum of a row."""
    digest = blake2b(digest_size=8)
    for value in (request, company, *values):
        content = value if isinstance(value, bytes) else str(value).encode()
        digest.update(len(content).to_bytes(8, "little"))
        digest.update(content)
    return digest.digest()


def _likelihood(each: Likelihood) -> bytes:
    end = 0.0 if each.end is None else each.end
    return _LIKELIHOOD.pack(each.total, end, each.tokens, each.end is not None, each.greedy)
