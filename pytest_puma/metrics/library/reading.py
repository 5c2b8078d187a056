"""What a metric reads: arguments and references of a sample, and the text of a reply.

Arguments are what a scenario's `context(item)` returns for a sample.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Annotated, Any, TypeAlias

from msgspec import Meta, ValidationError, convert

from pytest_puma.core import Direction, Metric, Prediction, Sample, SettingsError

#: The declaration of a metric of texts.
completion_metric = partial(Metric, kinds=frozenset({"completion"}))
#: A whole number from 1 on.
Count: TypeAlias = Annotated[int, Meta(ge=1)]

_REQUIRED = object()


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
