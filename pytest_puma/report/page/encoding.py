"""The encoding of samples in the blocks of the page.

A block of JSON is raw deflate in base64, which a browser inflates by `DecompressionStream("deflate-raw")`. The flags of
an answer, by which the page filters samples, have a bit for each property.
"""

from __future__ import annotations

import base64
import json
import math
import zlib
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

from pytest_puma.codec.plain import storable
from pytest_puma.core import Flip, Key, Prediction
from pytest_puma.task_types import TaskKind

Name = TypeVar("Name")
#: Deflate without a header.
_RAW = -zlib.MAX_WBITS
_LEVEL = 6

PRESENT = 1 << 0
RIGHT = 1 << 1
PARSE_FAILURE = 1 << 2
CUT_OFF = 1 << 3
FLIP_WORSE = 1 << 4
FLIP_BETTER = 1 << 5
LEFT_OUT = 1 << 6
SHORTENED = 1 << 7
DIFFERS = 1 << 8
SURE_AND_WRONG = 1 << 9
UNSCORED = 1 << 10

#: Minimum probability of the most probable label of a sure answer.
_SURE = 0.9


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


def numbered(numbers: dict[Name, int], name: Name) -> int:
    """Return the number of a name; a new one gets the next number."""
    return numbers.setdefault(name, len(numbers))


def rounded(number: float | None, digits: int) -> float | None:
    """Return a number with as many significant digits; None for NaN and infinity, which JSON does not have."""
    return None if number is None or not math.isfinite(number) else float(f"{number:.{digits}g}")


def flags_of(kind: TaskKind, predictions: Iterable[Prediction], flips: Iterable[Flip]) -> Iterator[int]:
    """Yield the flags of each prediction, but those that depend on other cells or on the size of the page."""
    flipped = {key_of(flip): FLIP_BETTER if flip.better else FLIP_WORSE for flip in flips}
    for prediction in predictions:
        # As metrics count it: an answer without a loss is a text that its metric does not apply to.
        failed = prediction.answer is None or (prediction.loss is None and not kind.scored)
        wrong = failed or prediction.loss not in {0, None}
        yield (
            PRESENT
            | (RIGHT if prediction.loss == 0 else 0)
            | (PARSE_FAILURE if failed else 0)
            | (UNSCORED if prediction.loss is None and not failed else 0)
            | (CUT_OFF if prediction.truncated or prediction.finish == "overflow" else 0)
            | (SURE_AND_WRONG if wrong and (top_probability(prediction) or 0) >= _SURE else 0)
            | flipped.get(prediction.key, 0)
        )


def key_of(flip: Flip) -> Key:
    """Return the sample and trial of a flip, as files have it."""
    return storable(flip.sample_id), flip.trial or 0


def top_probability(prediction: Prediction) -> float | None:
    """Return the probability of the most probable label, None without probabilities."""
    return max(prediction.probabilities.values()) if prediction.probabilities else None
