"""A response as a row of the store, and back, exact to the last bit; and the counts of such responses of a cell.

SQLite has no checksums of its pages: each row has one of its own, over its cell, the key of its engine, its own keys
and every value. So a damaged index cannot give a cell the answers of another one, or those of other weights.
"""

from __future__ import annotations

import struct
import zlib
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from json import dumps
from typing import Any, cast

import msgspec

from pytest_puma.core import EngineError, Likelihood, Response, StoreShare, TopTokens, Usage
from pytest_puma.core.conversation import Finish

#: Columns of the table `response` that hold a response.
COLUMNS = ("finish", "text", "packed", "logprobs", "likelihoods", "usage", "top")
#: Texts with more bytes are deflated.
_PLAIN = 512
#: Bytes of the longest text that is deflated: a store from elsewhere could have four megabytes that become gigabytes.
MOST = 2**22
#: Prompt, cached and decoded tokens, seconds.
_USAGE = msgspec.json.Decoder(tuple[int, int, int, int | float])
#: Total, end, number of tokens, whether there is an end, whether it is greedy.
_LIKELIHOOD = struct.Struct("<ddq??")


@dataclass(frozen=True, slots=True)
class KeptResponse:
    """A response that the store has, the key of the batch it was computed in, and the id and the name of the run."""

    response: Response
    batch: bytes
    run: tuple[int, str]


@dataclass(slots=True)
class KeptTally:
    """Counts of the `responses` of a cell, and of the `kept` ones of them.

    `together`: all kept ones were computed in the batch that asks for them. `counted`: the tokens of each are known.
    """

    responses: int = 0
    kept: int = 0
    together: bool = True
    counted: bool = True
    _batches: set[bytes] = field(default_factory=set)
    _most_batches: int = 0
    _runs: set[tuple[int, str]] = field(default_factory=set)

    def begin_batch(self) -> None:
        """Count the batches of kept responses anew."""
        self._batches = set()

    def take(self, response: KeptResponse, *, together: bool) -> None:
        """Count a kept response."""
        self.responses += 1
        self.kept += 1
        self.together &= together
        self.counted &= response.response.usage.decoded_tokens > 0 or not response.response.text
        self._batches.add(response.batch)
        self._most_batches = max(self._most_batches, len(self._batches))
        self._runs.add(response.run)

    def share(self) -> StoreShare | None:
        """Return the share of kept responses, None if there are none; the newest of their runs comes first."""
        if not self.kept:
            return None
        runs = tuple(name for _, name in sorted(self._runs, reverse=True))
        return StoreShare(
            responses=self.responses, kept=self.kept, together=self.together, batches=self._most_batches, runs=runs
        )


def values_of(response: Response) -> tuple[Any, ...]:
    """Return the values of `COLUMNS`."""
    text = response.text.encode("utf-8", "surrogatepass")
    packed = _PLAIN < len(text) <= MOST
    usage = response.usage
    return (
        response.finish,
        zlib.compress(text) if packed else text,
        int(packed),
        struct.pack(f"<{len(response.logprobs)}d", *response.logprobs),
        b"".join(map(_likelihood, response.likelihoods)),
        dumps([usage.prompt_tokens, usage.cached_tokens, usage.decoded_tokens, usage.seconds]),
        b"".join(map(_top, response.top)),
    )


def response_of(values: tuple[Any, ...]) -> Response:
    """Return the response of the values of `COLUMNS`; `sound_response` lists the errors of damaged ones."""
    finish, text, packed, logprobs, likelihoods, usage, top = values
    prompt_tokens, cached_tokens, decoded_tokens, seconds = _USAGE.decode(usage)
    return Response(
        text=(inflated(text) if packed else text).decode("utf-8", "surrogatepass"),
        logprobs=struct.unpack(f"<{len(logprobs) // 8}d", logprobs),
        likelihoods=tuple(
            Likelihood(total=total, end=end if has_end else None, tokens=tokens, greedy=greedy)
            for total, end, tokens, has_end, greedy in _LIKELIHOOD.iter_unpack(likelihoods)
        ),
        top=tuple(_tops(top)),
        finish=cast("Finish", finish),
        usage=Usage(
            prompt_tokens=prompt_tokens, cached_tokens=cached_tokens, decoded_tokens=decoded_tokens, seconds=seconds
        ),
    )


def sound_response(owner: tuple[str, bytes], row: tuple[Any, ...]) -> Response | None:
    """Return the response of a row of its request, batch, `COLUMNS` and checksum; None if it is damaged.

    `owner`: the cell, and the key of the engine, whose answer it should be.
    """
    *values, check = row
    if check != check_of(*owner, *values):
        return None
    try:
        return response_of(tuple(values[2:]))
    except (EngineError, ValueError, TypeError, struct.error, zlib.error):
        return None


def inflated(data: bytes, dictionary: bytes = b"") -> bytes:
    """Return a deflated text; a `ValueError` or `zlib.error` if it is damaged, or has more than `MOST` bytes."""
    inflate = zlib.decompressobj(zdict=dictionary)
    text = inflate.decompress(data, MOST + 1)
    if not inflate.eof or len(text) > MOST:
        msg = f"expected a whole text of up to {MOST:,} bytes"
        raise ValueError(msg)
    return text


def check_of(*row: object) -> bytes:
    """Return the checksum of a row: its cell, the key of its engine, request, batch and the values of `COLUMNS`.

    An empty `top`, the last of these, is left out, as in rows from before there was one.
    """
    row = row if row[-1] else row[:-1]
    contents = [value if isinstance(value, bytes) else str(value).encode() for value in row]
    sized = [len(content).to_bytes(8, "little") + content for content in contents]
    return blake2b(b"".join(sized), digest_size=8).digest()


def _top(top: TopTokens) -> bytes:
    """The number of tokens, then all tokens, then all log-probabilities, each in four bytes."""
    count = len(top.tokens)
    return struct.pack(f"<i{count}i{count}f", count, *top.tokens, *top.logprobs)


def _tops(data: bytes) -> Iterator[TopTokens]:
    start = 0
    while start < len(data):
        (count,) = struct.unpack_from("<i", data, start)
        tokens, logprobs = (
            struct.unpack_from(f"<{count}{kind}", data, start + 4 + 4 * shift)
            for kind, shift in (("i", 0), ("f", count))
        )
        yield TopTokens(array("i", tokens), array("f", logprobs))
        start += 4 + 8 * count


def _likelihood(likelihood: Likelihood) -> bytes:
    end = 0.0 if likelihood.end is None else likelihood.end
    return _LIKELIHOOD.pack(likelihood.total, end, likelihood.tokens, likelihood.end is not None, likelihood.greedy)
