"""DROP (Dua et al. 2019): answers that are several spans of a text, or numbers, in any order.

context = {"answers": [["Rome", "Milan"], ["Milan"]]}

Each answer is a list of spans; without the context, the parts of each reference between commas. The spans of a reply
are paired with those of an answer so that the sum of their F1 is the highest. A span is a bag of words without case,
punctuation and English articles; a number in a span of the answer must be in that of the reply.

    "the Milan team, 3 goals" and ["Milan", "3"]: F1 of the spans 2/3 and 2/3, so drop.f1 is 0.67 and drop.exact 0
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Sequence
from typing import TypeAlias

from pytest_puma.core import Prediction, Sample
from pytest_puma.metrics.library.exact import ARTICLE
from pytest_puma.metrics.library.reading import argument, completion_metric

#: From the spans of a reply and of an answer to a score.
_Compare: TypeAlias = Callable[[Sequence[str], Sequence[str]], float]

#: A comma between spans; that of 1,200 is not.
_BETWEEN_SPANS = re.compile(r",(?!\d{3}(?!\d))")
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?")
_PUNCTUATION = str.maketrans("", "", string.punctuation)


def spans(text: str) -> list[str]:
    """Return the parts of a text between commas, without surrounding space; one at least."""
    return [part for part in map(str.strip, _BETWEEN_SPANS.split(text)) if part] or [text.strip()]


def drop_f1(found: Sequence[str], answer: Sequence[str]) -> float:
    """Return the mean F1 of the best pairs of spans, to two decimals; a span without a partner has 0."""
    from scipy.optimize import linear_sum_assignment

    f1 = [[_f1(_words(span), _words(other)) for other in map(_normalised, answer)] for span in map(_normalised, found)]
    rows, columns = linear_sum_assignment(f1, maximize=True)
    total = sum(f1[row][column] for row, column in zip(rows, columns, strict=True))
    return round(float(total / max(len(found), len(answer))), 2)


def drop_exact(found: Sequence[str], answer: Sequence[str]) -> float:
    """Return 1 if the spans are equal in any order, else 0."""
    same = set(map(_normalised, found)) == set(map(_normalised, answer))
    return float(same and len(found) == len(answer))


def _f1(found: frozenset[str], answer: frozenset[str]) -> float:
    numbers = set(filter(_NUMBER.fullmatch, answer))
    if numbers and not numbers & found:
        return 0.0
    return 2 * len(found & answer) / (len(found) + len(answer)) if found or answer else 1.0


def _words(span: str) -> frozenset[str]:
    return frozenset(span.split())


def _normalised(span: str) -> str:
    """The words of a span; one that is only an article or punctuation keeps it, as an empty reply is no answer."""
    words = [ARTICLE.sub(" ", _token(token)) for token in re.split(r"[ -]", span.lower())]
    return " ".join(" ".join(words).split()) or " ".join(span.lower().split())


def _token(token: str) -> str:
    """A token without punctuation; a number as Python writes it, so that 5 equals 5.0."""
    bare = token if _NUMBER.fullmatch(token) else token.translate(_PUNCTUATION)
    return str(float(bare)) if _NUMBER.fullmatch(bare) else bare


def _best(metric: str, compare: _Compare) -> Callable[[Sample, Prediction], float | None]:
    """Return the score function: the best value over all answers, of the reply as one span and of its parts."""

    def score(sample: Sample, prediction: Prediction) -> float | None:
        given: list[list[str]] = argument(
            *(sample, "answers", list[list[str]]),
            metric=metric,
            expected='a list of answers, each a list of spans, as [["Rome", "Milan"], ["Milan"]]',
            default=[spans(reference) for reference in sample.references],
        )
        answers = [answer for answer in given if any(map(str.strip, answer))]
        readings = [[prediction.text.strip()], spans(prediction.text)]
        return max((compare(found, answer) for found in readings for answer in answers), default=None)

    return score


METRICS = tuple(
    completion_metric(name=name, score=_best(name, compare))
    for name, compare in (("drop.f1", drop_f1), ("drop.exact", drop_exact))
)
