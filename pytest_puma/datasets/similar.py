"""Few-shot examples of each sample's own: rows that are like it in their words.

Words weigh by TF-IDF among the rows that may be examples; likeness is the cosine of two texts. Nothing is learned from
gold answers, and nothing is random: of equally similar rows, the first in the order of few-shot examples is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from pytest_puma.core import Sample, Scenario
from pytest_puma.datasets.fields import hidden_fields, text_fields
from pytest_puma.datasets.order import grouped, plain_text
from pytest_puma.datasets.sampling import apart, candidates_by_group, first_examples, is_long, question_of

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_matrix

    _Scores: TypeAlias = NDArray[np.float64]

#: Weight of the likeness to the sample; that to the examples already chosen has the rest.
LAMBDA = 0.5
#: Very long rows come after all others, whose scores differ by less.
_LATE = 4.0
#: Digits of a likeness: equal rows stay equal on each processor.
_DIGITS = 9


def similar_examples(
    scenario: Scenario, k: int, seed: int, samples: Sequence[Sample], *, diverse: bool = False
) -> Mapping[str, Sequence[Mapping[str, Any]]]:
    """Return the `k` most similar examples of each sample by its id, the most similar one last, before the sample.

    They are rows that `examples_by_group` could give to the sample, without those with the text of any sample; a
    `SettingsError` gives their number when they are too few. `diverse`: chosen by maximal marginal relevance, one after
    the other: LAMBDA times the likeness to the sample minus 1 - LAMBDA times that to the most similar example so far.
    Source: J. Carbonell, J. Goldstein, "The use of MMR, diversity-based reranking for reordering documents and
    producing summaries", SIGIR 1998; here both sides weigh the same.
    """
    from sklearn.feature_extraction.text import TfidfVectorizer

    text = _texts(scenario, samples)
    asked = {_plain(text(sample)) for sample in samples}
    candidates, chosen = candidates_by_group(scenario, seed, samples), dict[str, Sequence[Mapping[str, Any]]]()
    for group, members in grouped(samples, lambda sample: sample.group).items():
        rows = [row for row in candidates.get(group, ()) if _plain(text(row)) not in asked]
        # Digits are words. The last text stands for rows and for words where there are none.
        texts = [*map(text, rows), "text"]
        weights = TfidfVectorizer(sublinear_tf=True, token_pattern=r"\w+")  # noqa: S106 - tokens of a text
        pool = weights.fit_transform(texts)[:-1]
        late = np.array([_LATE * is_long(scenario, row) for row in rows])
        for sample in members:
            likeness = _likeness(pool, weights.transform([text(sample)])) - late
            order = _diverse(pool, likeness) if diverse else iter(np.argsort(-likeness, kind="stable").tolist())
            best = first_examples(scenario, k, apart(rows[index] for index in order), len(samples), group)
            chosen[sample.id] = best[::-1]
    return chosen


def _texts(scenario: Scenario, samples: Sequence[Sample]) -> Callable[[Sample], str]:
    """The function that returns the text of a sample or row: its question, or its text fields."""
    if scenario.composes:
        return lambda sample: question_of(scenario, sample)
    names = text_fields(scenario, samples, hidden_fields(scenario, samples))
    return lambda sample: "\n".join(plain_text(sample.fields.get(name)) for name in names)


def _plain(text: str) -> str:
    """The text without the differences of copies: case and white space."""
    return " ".join(text.casefold().split())


def _likeness(pool: csr_matrix, text: csr_matrix) -> _Scores:
    """The cosine of a text and each row of the pool, between 0 and 1."""
    return np.asarray((pool @ text.T).toarray().ravel().round(_DIGITS), dtype=np.float64)


def _diverse(pool: csr_matrix, likeness: _Scores) -> Iterator[int]:
    """The rows by maximal marginal relevance."""
    gains, repeated = LAMBDA * likeness, np.zeros(len(likeness))
    for _ in range(len(likeness)):
        best = int(np.argmax(gains - (1 - LAMBDA) * repeated))
        yield best
        gains[best] = -np.inf
        repeated = np.maximum(repeated, _likeness(pool, pool[best]))
