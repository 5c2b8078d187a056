from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import StratifiedGroupKFold

from pytest_puma.analysis.folds import FOLDS, LabelledFolds


@given(
    rows=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 60)), max_size=80),
    seed=st.integers(0, 2**32 - 1),
    alone=st.booleans(),
)
def test_the_folds_are_those_of_scikit_learn(rows: list[tuple[int, int]], seed: int, *, alone: bool) -> None:
    # Each label at least once a fold, and as many groups as folds.
    rows += [(label, 100 + group) for label in range(2) for group in range(FOLDS)]
    rows += [(label, 200) for label, _ in rows for _ in range(FOLDS)]
    labels = np.array([str(label) for label, _ in rows])
    groups = list(range(len(rows))) if alone else [group for _, group in rows]

    def folds(kind: type[StratifiedGroupKFold]) -> list[tuple[list[int], list[int]]]:
        split = kind(FOLDS, shuffle=True, random_state=seed).split(labels, labels, groups)
        return [(training.tolist(), test.tolist()) for training, test in split]

    assert folds(LabelledFolds) == folds(StratifiedGroupKFold)
