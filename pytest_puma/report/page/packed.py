"""The blocks of the page: raw deflate in base64, which a browser inflates by `DecompressionStream("deflate-raw")`."""

from __future__ import annotations

import base64
import json
import math
import zlib
from typing import Any

from pytest_puma.codec.plain import storable

#: Deflate without a header.
_RAW = -zlib.MAX_WBITS
_LEVEL = 6


def packed_json(value: Any) -> bytes:
    """Return compact JSON, deflated; lone surrogates become U+FFFD, and NaN is refused."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return packed(storable(text).encode())


def packed(data: bytes) -> bytes:
    """Return deflated bytes."""
    stream = zlib.compressobj(_LEVEL, wbits=_RAW)
    return stream.compress(data) + stream.flush()


def unpacked_json(data: bytes) -> Any:
    """Return what `packed_json` packed."""
    return json.loads(zlib.decompress(data, wbits=_RAW))


def as_text(data: bytes) -> str:
    """Return the text of a block."""
    return base64.b64encode(data).decode()


def text_length(data: bytes) -> int:
    """Return the length of that text."""
    return math.ceil(len(data) / 3) * 4


def rounded(number: float | None, digits: int) -> float | None:
    """Return a number with as many significant digits; None for NaN and infinity, which JSON does not have."""
    return None if number is None or not math.isfinite(number) else float(f"{number:.{digits}g}")
