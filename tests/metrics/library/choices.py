"""Questions with choices, and predictions of their likelihoods, as the strategies give them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from hypothesis import strategies as st

from pytest_puma.core import Choice, Likelihood, Prediction, Sample
from pytest_puma.metrics.library import LIBRARY
from tests.factories import prediction, sample


def question(texts: Sequence[str], right: Iterable[int] = (0,), *, idk: int | None = None) -> Sample:
    places = set(right)
    choices = (Choice(text=text, right=place in places, idk=place == idk) for place, text in enumerate(texts))
    return sample("q", choices=tuple(choices))


def likelihoods(totals: Iterable[float], tokens: Iterable[int] | None = None) -> tuple[Likelihood, ...]:
    """The end of turn is unlikely, so that a metric that counts it gets another result."""
    totals = tuple(totals)
    counts = [1] * len(totals) if tokens is None else tokens
    return tuple(
        Likelihood(total=total, end=-50.0 * place, tokens=count, greedy=False)
        for place, (total, count) in enumerate(zip(totals, counts, strict=True))
    )


def scored(totals: Iterable[float], **fields: Any) -> Prediction:
    return prediction("q", likelihoods=likelihoods(totals), **fields)


def score(name: str, about: Sample, answered: Prediction | Sequence[Prediction]) -> Any:
    return LIBRARY[name].score(about, answered)


#: Log-probabilities of a text, down to where their exponentials are 0.
log_probabilities = st.floats(-900, -0.001)


@st.composite
def questions_and_totals(draw: st.DrawFn) -> tuple[Sample, list[float]]:
    """A question with one to three right choices, and the log-probability of each choice."""
    texts = draw(st.lists(st.text(min_size=1, max_size=12), min_size=2, max_size=7, unique=True))
    right = draw(st.sets(st.integers(0, len(texts) - 1), min_size=1, max_size=3))
    totals = draw(st.lists(log_probabilities, min_size=len(texts), max_size=len(texts)))
    return question(texts, right), totals
