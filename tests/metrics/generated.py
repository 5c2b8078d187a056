"""Generated answers and probabilities for property tests."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from tests.factories import LABELS

rows_of_labels = st.lists(st.tuples(st.sampled_from(LABELS), st.sampled_from([*LABELS, None])), min_size=1, max_size=60)


def distributions(labels: Sequence[str]) -> st.SearchStrategy[dict[str, float]]:
    shares = st.lists(st.integers(0, 20), min_size=len(labels), max_size=len(labels)).filter(any)
    return shares.map(lambda parts: {label: part / sum(parts) for label, part in zip(labels, parts, strict=True)})
