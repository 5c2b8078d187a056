"""The programs of naive baselines: each answers all samples of a scenario.

    majority    the most frequent label, or ground truth     mean, median   of the gold values
    guess       a random label, by the frequencies of the gold labels, or a random choice
    first       the first choice of the data                 longest        the choice with the most characters
    empty       the empty reply                              echo           the question as the reply
    tfidf       a linear model on TF-IDF weights of words

`majority`, `guess` of labels, `mean` and `median` use the frequencies of the gold answers, which no model knows.
`tfidf` is learned from the other folds of these very samples: five, by label; a unit is in one fold alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from random import Random
from statistics import fmean, median
from typing import TYPE_CHECKING, TypeAlias

from pytest_puma.core import DataError, Sample, Scenario
from pytest_puma.datasets.fields import hidden_fields, text_fields
from pytest_puma.datasets.order import plain_text
from pytest_puma.phrases import named

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from scipy.sparse import csr_matrix
    from sklearn.feature_extraction.text import TfidfVectorizer

#: Computes the answers to all samples of a scenario; none if there is nothing to learn. The last argument is a seed.
Program: TypeAlias = Callable[[Scenario, Sequence[Sample], int], Sequence[str]]


def _majority(scenario: Scenario, samples: Sequence[Sample], _: int) -> Sequence[str]:
    counts = Counter(sample.gold for sample in samples)
    # The order of the labels decides ties.
    commonest = max(scenario.valid_labels() or list(counts), key=lambda answer: counts[answer])
    repeated = scenario.kind.closed or (commonest and counts[commonest] > 1)
    return [commonest] * len(samples) if repeated else []


def _guess(scenario: Scenario, samples: Sequence[Sample], seed: int) -> Sequence[str]:
    random = Random(seed)  # noqa: S311 - no secret
    if scenario.kind.form == "choices":
        return [random.choice(sample.choices).text for sample in samples]
    return random.choices([sample.gold for sample in samples], k=len(samples))


def _of_golds(value: Callable[[Sequence[float]], float]) -> Program:
    """The program that answers every sample with one value of the gold answers."""
    return lambda _, samples, __: [repr(value([float(sample.gold) for sample in samples]))] * len(samples)


def _of_choices(picked: Callable[[Sequence[str]], str]) -> Program:
    """The program that picks a choice of each sample by their texts."""
    return lambda _, samples, __: [picked(_texts(sample)) for sample in samples]


def _echo(scenario: Scenario, samples: Sequence[Sample], _: int) -> Sequence[str]:
    if scenario.composes:
        return [_question(scenario, sample) for sample in samples]
    names = text_fields(scenario, samples, hidden_fields(scenario, samples))
    return ["\n".join(plain_text(sample.fields.get(name)) for name in names) for sample in samples]


def _tfidf(scenario: Scenario, samples: Sequence[Sample], seed: int) -> Sequence[str]:
    from threadpoolctl import threadpool_limits

    learned = _learned_choices if scenario.kind.form == "choices" else _learned_answers
    # With so few rows, two threads took five times as long.
    with threadpool_limits(1, user_api="blas"):
        return learned(scenario, samples, seed)


def _learned_answers(scenario: Scenario, samples: Sequence[Sample], seed: int) -> list[str]:
    """Answers of a linear model to each fold; none if a fold leaves nothing to learn.

    Each text field has weights of its own. Labels are learned by logistic regression, numbers by ridge regression.
    """
    import numpy as np
    from scipy.sparse import hstack
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression, Ridge

    from pytest_puma.analysis.folds import folds_of

    graded = scenario.kind.graded
    golds = np.array([float(sample.gold) if graded else sample.gold for sample in samples])
    folds = folds_of(samples, golds, seed, by_label=not graded)
    if not folds:
        return []
    fields = text_fields(scenario, samples, hidden_fields(scenario, samples))
    if not fields:
        msg = f"the samples have no text to learn from; text_fields are {named(scenario.text_fields)}"
        raise DataError(msg)
    # The first word stands in every text, so that a field of empty ones has a vocabulary.
    rows = [[f"text {plain_text(sample.fields.get(name))}" for name in fields] for sample in samples]
    # Counting the words of a text takes longest, and needs no fold.
    counts = [CountVectorizer().fit_transform(texts) for texts in zip(*rows, strict=True)]
    answers = np.empty(len(samples), dtype=object)
    for training, test in folds:
        words = hstack([_weighted(field, training) for field in counts]).tocsr()
        program = Ridge() if graded else LogisticRegression(max_iter=1000)
        answers[test] = program.fit(words[training], golds[training]).predict(words[test])
    return [repr(float(answer)) if graded else str(answer) for answer in answers]


def _weighted(counts: csr_matrix, training: NDArray[np.intp]) -> csr_matrix:
    """The TF-IDF weights of all texts, by the words and frequencies of the training rows alone."""
    from sklearn.feature_extraction.text import TfidfTransformer

    known = counts[:, counts[training].getnnz(axis=0) > 0]
    weights: csr_matrix = TfidfTransformer(sublinear_tf=True).fit(known[training]).transform(known)
    return weights


def _learned_choices(scenario: Scenario, samples: Sequence[Sample], seed: int) -> list[str]:
    """The choice of each sample that logistic regression finds most probably right; none for too few samples.

    A choice is a row: its words, how similar they are to those of the question, and how long it is beside the others.
    """
    import numpy as np
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression

    from pytest_puma.analysis.folds import folds_of

    questions = [_question(scenario, sample) for sample in samples]
    texts = [_texts(sample) for sample in samples]
    folds = folds_of(samples, np.zeros(len(samples)), seed, by_label=False)
    answers = [""] * len(samples)
    for training, test in folds:
        weights = TfidfVectorizer(sublinear_tf=True)
        weights.fit([*(questions[row] for row in training), *(text for row in training for text in texts[row]), "text"])
        right = [choice.right for row in training for choice in samples[row].choices]
        features = _features(weights, [questions[row] for row in training], [texts[row] for row in training])
        program = LogisticRegression(max_iter=1000).fit(features, right)
        for row in test:
            scores = program.decision_function(_features(weights, [questions[row]], [texts[row]]))
            answers[row] = texts[row][int(np.argmax(scores))]
    return answers if folds else []


def _features(weights: TfidfVectorizer, questions: Sequence[str], texts: Sequence[Sequence[str]]) -> csr_matrix:
    """A row for each choice of each question."""
    from scipy.sparse import csr_matrix, hstack

    rows = [(question, text, choices) for question, choices in zip(questions, texts, strict=True) for text in choices]
    words = weights.transform([text for _, text, _ in rows])
    contexts = weights.transform([question for question, _, _ in rows])
    lengths = [[len(text) / max(map(len, choices))] for _, text, choices in rows]
    return hstack([words, csr_matrix(words.multiply(contexts).sum(axis=1)), csr_matrix(lengths)]).tocsr()


def _texts(sample: Sample) -> list[str]:
    return [choice.text for choice in sample.choices]


def _question(scenario: Scenario, sample: Sample) -> str:
    return scenario.question_text(dict(sample.fields), ())


#: The kind of task selects some of them.
PROGRAMS: Mapping[str, Program] = {
    "majority": _majority,
    "guess": _guess,
    "mean": _of_golds(fmean),
    "median": _of_golds(median),
    "first": _of_choices(lambda texts: texts[0]),
    "longest": _of_choices(lambda texts: max(texts, key=len)),
    "empty": lambda _, samples, __: [""] * len(samples),
    "echo": _echo,
    "tfidf": _tfidf,
}
