"""The naive baseline `tfidf`: a linear model on TF-IDF weights of words.

It is learned from the other folds of these very samples: five, by label; samples that share a unit are in one fold.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from pytest_puma.core import DataError, Sample, Scenario
from pytest_puma.datasets.fields import hidden_fields, text_fields
from pytest_puma.datasets.order import plain_text
from pytest_puma.stats.resampling import components

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from scipy.sparse import csr_matrix
    from sklearn.feature_extraction.text import TfidfVectorizer

    _Fold: TypeAlias = tuple[NDArray[np.intp], NDArray[np.intp]]

FOLDS = 5


def learned_answers(scenario: Scenario, samples: Sequence[Sample], seed: int) -> list[str]:
    """Return the answers of a linear model to each fold; none if a fold leaves nothing to learn.

    Each text field has weights of its own. Labels are learned by logistic regression, numbers by ridge regression.
    """
    import numpy as np
    from sklearn.base import clone
    from sklearn.compose import make_column_transformer
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression, Ridge
    from sklearn.pipeline import make_pipeline
    from threadpoolctl import threadpool_limits

    graded = scenario.kind.graded
    golds = np.array([float(sample.gold) if graded else sample.gold for sample in samples])
    folds = _folds(samples, golds, seed, by_label=not graded)
    if not folds:
        return []
    # The first word stands in every text, so that a field of empty ones has a vocabulary.
    fields = text_fields(scenario, samples, hidden_fields(scenario, samples))
    if not fields:
        msg = f"the samples have no text to learn from; text_fields are {', '.join(scenario.text_fields) or 'none'}"
        raise DataError(msg)
    texts = np.array([[f"text {_text(sample, name)}" for name in fields] for sample in samples], dtype=object)
    words = make_column_transformer(*((TfidfVectorizer(sublinear_tf=True), column) for column in range(len(fields))))
    program = make_pipeline(words, Ridge() if graded else LogisticRegression(max_iter=1000))
    answers = np.empty(len(samples), dtype=object)
    # With so few rows, two threads took five times as long.
    with threadpool_limits(1, user_api="blas"):
        for training, test in folds:
            answers[test] = clone(program).fit(texts[training], golds[training]).predict(texts[test])
    return [repr(float(answer)) if graded else str(answer) for answer in answers]


def learned_choices(scenario: Scenario, samples: Sequence[Sample], seed: int) -> list[str]:
    """Return the choice of each sample that logistic regression finds most probably right; none for too few samples.

    A choice is a row: its words, how similar they are to those of the question, and how long it is beside the others.
    """
    import numpy as np
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from threadpoolctl import threadpool_limits

    questions = [_question(scenario, sample) for sample in samples]
    texts = [_texts(sample) for sample in samples]
    folds = _folds(samples, np.zeros(len(samples)), seed, by_label=False)
    answers = [""] * len(samples)
    for training, test in folds:
        weights = TfidfVectorizer(sublinear_tf=True)
        weights.fit([*(questions[row] for row in training), *(text for row in training for text in texts[row]), "text"])
        right = [choice.right for row in training for choice in samples[row].choices]
        features = _features(weights, [questions[row] for row in training], [texts[row] for row in training])
        # With so few rows, two threads took five times as long.
        with threadpool_limits(1, user_api="blas"):
            program = LogisticRegression(max_iter=1000).fit(features, right)
        for row in test:
            scores = program.decision_function(_features(weights, [questions[row]], [texts[row]]))
            answers[row] = texts[row][int(np.argmax(scores))]
    return answers if folds else []


def _features(weights: TfidfVectorizer, questions: Sequence[str], texts: Sequence[Sequence[str]]) -> csr_matrix:
    """A row for each choice of each question."""
    from scipy.sparse import csr_matrix, hstack

    choices = weights.transform([text for own in texts for text in own])
    contexts = weights.transform([question for question, own in zip(questions, texts, strict=True) for _ in own])
    lengths = [[len(text) / max(map(len, own))] for own in texts for text in own]
    return hstack([choices, csr_matrix(choices.multiply(contexts).sum(axis=1)), csr_matrix(lengths)]).tocsr()


def _texts(sample: Sample) -> list[str]:
    return [choice.text for choice in sample.choices]


def _question(scenario: Scenario, sample: Sample) -> str:
    return scenario.question_text(dict(sample.fields), ())


def _folds(samples: Sequence[Sample], golds: NDArray[Any], seed: int, *, by_label: bool) -> list[_Fold]:
    """Training and test rows of each fold; none if there are too few, or a fold has one label alone."""
    import numpy as np
    from sklearn.model_selection import GroupKFold, StratifiedGroupKFold

    if len(samples) < 2 * FOLDS:
        return []
    groups = components([sample.units for sample in samples])
    if len(set(groups)) < FOLDS:
        # Shared units connect all samples: then folds share some units.
        groups = list(range(len(samples)))
    rarest = min(np.unique(golds, return_counts=True)[1])
    split = StratifiedGroupKFold if by_label and rarest >= FOLDS else GroupKFold
    folds = list(split(FOLDS, shuffle=True, random_state=seed).split(golds, golds, groups))
    return folds if not by_label or all(len(np.unique(golds[training])) > 1 for training, _ in folds) else []


def _text(sample: Sample, field: str) -> str:
    return plain_text(sample.fields.get(field))
