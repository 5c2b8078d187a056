"""What a metric reads: arguments and references of a sample, the text of a reply, and its Markdown fences.

Arguments are what a scenario's `context(item)` returns for a sample. Fences are the lines of three backticks or tildes
around a block of code:

```json
{"total": 5}
```
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Annotated, Any, TypeAlias

from msgspec import Meta, ValidationError, convert

from pytest_puma.core import Direction, Metric, Prediction, Sample, SettingsError

#: The declaration of a metric of texts.
completion_metric = partial(Metric, kinds=frozenset({"completion"}))
#: A whole number from 1 on.
Count: TypeAlias = Annotated[int, Meta(ge=1)]

_REQUIRED = object()
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")


def argument(sample: Sample, name: str, form: Any, *, metric: str, expected: str, default: Any = _REQUIRED) -> Any:
    """Return an argument of a metric, or its default if the sample has none.

    Raises a `SettingsError` for one that is not of the type `form`, or for none without a default. `expected` describes
    the values of that type.
    """
    if name not in sample.context and default is not _REQUIRED:
        return default
    try:
        return convert(sample.context.get(name, _REQUIRED), form)
    except ValidationError:
        given = f"{sample.context[name]!r}" if name in sample.context else "nothing"
        msg = (
            f"{metric}: the context of sample {sample.id!r} has {given} as {name!r}; expected {expected}; "
            f"return it from the scenario's context(item)"
        )
        raise SettingsError(msg) from None


def original(sample: Sample, metric: str) -> str:
    """Return the context's `original`, the text of the question."""
    text: str = argument(sample, "original", str, metric=metric, expected="the text of the question")
    return text


def best(
    compare: Callable[[str, str], float], better: Direction = "high"
) -> Callable[[Sample, Prediction], float | None]:
    """Return the score function of a comparison of (text, reference): the best value over all references.

    None for a sample without references.
    """
    choose = min if better == "low" else max

    def score(sample: Sample, prediction: Prediction) -> float | None:
        return choose((compare(prediction.text, reference) for reference in sample.references), default=None)

    return score


def by_line(
    compare: Callable[[str, str], float], *, none: float, better: Direction = "high"
) -> Callable[[str, str], float]:
    """Return a comparison of the best line of a text with a reference, as if the others were only talk around it.

    `none`: the value of a text without any line.
    """
    choose = min if better == "low" else max

    def score(text: str, reference: str) -> float:
        # Each line once: a model that repeats itself writes thousands of equal ones.
        lines = dict.fromkeys(filter(str.strip, text.splitlines()))
        return choose((compare(line, reference) for line in lines), default=none)

    return score


def unstripped(prediction: Prediction) -> str:
    """Return the text of a prediction with the white space that the reply has around it."""
    reply = prediction.raw[-1] if prediction.raw else ""
    return reply if reply.strip() == prediction.text else prediction.text


def blocks(text: str) -> list[str]:
    """Return the contents of all fenced blocks; a block that is never closed ends with the text."""
    return [block for _, _, block in _fenced(text)]


def unfenced(text: str) -> str:
    """Return the text without white space, and without a fence around all of it."""
    text = text.strip()
    start, end, block = next(_fenced(text), (0, 0, ""))
    return block.strip() if (start, end) == (0, len(text)) else text


def longest(text: str) -> str:
    """Return the longest fenced block of a text, or the whole text if it has none."""
    return max(blocks(text), key=len, default=text)


def content(text: str) -> str:
    """Return the longest fenced block, or the whole text if it has none, without white space around it."""
    return longest(text).strip()


def _fenced(text: str) -> Iterator[tuple[int, int, str]]:
    """The blocks: where the first fence begins and the last one ends, and the text between."""
    fence, begin, start, position = "", 0, 0, 0
    # Line by line: a regular expression over all of the text would need quadratic time.
    for line in text.split("\n"):
        end = position + len(line)
        if fence and _closes(line, fence):
            yield begin, end, text[start:position].removesuffix("\n")
            fence = ""
        elif not fence and (fence := _opened(line)):
            begin, start = position, end + 1
        position = end + 1
    if fence and start <= len(text):
        yield begin, len(text), text[start:]


def _opened(line: str) -> str:
    """The fence that a line begins with; empty for none."""
    fence = _FENCE.match(line)
    return fence[1] if fence and "`" not in line[fence.end() :] else ""


def _closes(line: str, fence: str) -> bool:
    found = _FENCE.match(line)
    return found is not None and found[1].startswith(fence) and not line[found.end() :].rstrip(" \t\r").strip("`~")
