"""Agreement of a judge with people: Cohen's kappa of its verdicts and of labels in the data.

A row may have a label of people in the column `human_label_NAME`, as `human_label_conciseness`, or in `human_label`: a
verdict as the judge writes it, in any language of the scale. It is about the reply in the column `human_reply`, of
which the judge is asked, too; without this column, about the reply under test, as one of `recorded:`.

Disagreements weigh as the square of the distance of their values, so that for yes and no this is the plain kappa, and
for grades the quadratic one. Source: J. Cohen, "Weighted kappa", Psychological Bulletin 70 (1968).
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from pytest_puma.core import JUDGE, Metric, Pool, Prediction, Sample, SettingsError
from pytest_puma.judges.rubric import Question, Rubric
from pytest_puma.judges.scale import VerdictScale
from pytest_puma.phrases import named
from pytest_puma.stats.arrays import Values

#: The end of the name of such a metric.
AGREEMENT = ".agreement"
LABEL, REPLY = "human_label", "human_reply"
_PEOPLE = "human_"
#: Under this kappa, verdicts say little about those of people. J. R. Landis, G. G. Koch, Biometrics 33 (1977).
WEAK = 0.4
_BOOLEANS = {"true": "yes", "false": "no"}
_Ask = Callable[[Rubric, Sample, Prediction], Generator[Any, Any, Any]]


def agreements_of(asked: Rubric, name: str, ask: _Ask) -> tuple[Metric, ...]:
    """Return the metrics of agreement of a rubric, one for each of its questions. `ask`: how the judge is asked."""
    return tuple(
        Metric(
            name=f"{name}{f'.{part}' if part else ''}{AGREEMENT}",
            score=partial(_compare, _alone(asked, part, question), ask),
            bounds=(-1.0, 1.0),
            pool=Pool(len(question.scale.values) ** 2, partial(kappa, question.scale.values)),
            needs=frozenset({"judge"}),
        )
        for part, question in asked.questions.items()
    )


def is_compared(metric: Metric, samples: Sequence[Sample]) -> bool:
    """Whether people labelled some of the samples for a metric that asks by a rubric, or for one of agreement."""
    return labelled([metric], (sample.fields for sample in samples)) > 0


def labelled(metrics: Sequence[Metric], rows: Iterable[Mapping[str, Any]]) -> int:
    """Return the number of rows that people labelled for one of these metrics."""
    rubrics = [asked for metric in metrics for asked in _rubrics(metric)]
    return sum(any(_label(asked, row) is not None for asked in rubrics) for row in rows)


def wanted_labels(metric: Metric, samples: Sequence[Sample]) -> str:
    """Return where labels for a metric are expected, and the similar columns that the samples have."""
    wanted = [*(f"{LABEL}_{asked.name}" for asked in _rubrics(metric)[:1]), LABEL]
    columns = dict.fromkeys(name for sample in samples for name in sample.fields if name.startswith(_PEOPLE))
    found = [repr(name) for name in columns if name not in {*wanted, REPLY}]
    there = f"; found {named(found)}" if found else ""
    return f"a column {' or '.join(map(repr, wanted))}{there} (docs/judges.md)"


def labelled_elsewhere(samples: Sequence[Sample]) -> bool:
    """Whether rows have the replies that people labelled."""
    return any(sample.fields.get(REPLY) is not None for sample in samples)


def judged_reply(metric: Metric, prediction: Prediction) -> str:
    """Return the reply about which a metric asks: the labelled one for a metric of agreement, if the row has it."""
    labelled = prediction.fields.get(REPLY) if metric.name.endswith(AGREEMENT) else None
    return prediction.text if labelled is None else str(labelled)


def check_labels(metrics: Sequence[Metric], samples: Sequence[Sample]) -> None:
    """Raise a `SettingsError` for a label that is no verdict of its rubric."""
    for asked in (asked for metric in metrics for asked in _rubrics(metric)):
        (question,) = asked.questions.values()
        for sample in samples:
            if (label := _label(asked, sample.fields)) is not None:
                _index(question.scale, label, asked, sample)


def _rubrics(metric: Metric) -> list[Rubric]:
    """The rubrics of a metric's agreement with people, each with one question."""
    agreements = (each for each in (metric, *metric.companions) if each.name.endswith(AGREEMENT))
    return [each.score.args[0] for each in agreements]  # type: ignore[attr-defined]


def kappa(values: Sequence[float], sums: Values) -> Values:
    """Return the weighted kappa of each row of sums: counts by people's and by the judge's value, one after the other.

    NaN if both always say the same: a program without any knowledge would agree as well.
    """
    size = len(values)
    counts = sums.reshape(len(sums), size, size)
    weights = np.square(np.subtract.outer(np.array(values), np.array(values)))
    total = counts.sum(axis=(1, 2))
    by_chance = np.einsum("rij,rkl,il->r", counts, counts, weights)
    observed = np.einsum("rij,ij->r", counts, weights) * total
    kappas: Values = 1 - np.divide(observed, by_chance, out=np.full(len(sums), np.nan), where=by_chance > 0)
    return kappas


def confusions(predictions: Sequence[Prediction]) -> dict[str, dict[str, dict[str, float]]]:
    """Return by metric of agreement the number of each verdict of the judge (inner key) for each of people."""
    tables: dict[str, dict[str, dict[str, float]]] = {}
    for prediction in predictions:
        judge = prediction.transcripts.get(JUDGE)
        words = {turn.metric: turn.continuations for turn in (judge.turns if judge else ()) if turn.continuations}
        for name, verdicts in words.items():
            vector = prediction.scores.get(name)
            if name.endswith(AGREEMENT) and isinstance(vector, tuple):
                counts = iter(vector)
                for person in (tables.setdefault(name, {}).setdefault(word, {}) for word in verdicts):
                    for verdict in verdicts:
                        person[verdict] = person.get(verdict, 0) + next(counts)
    return tables


def only_verdict(predictions: Sequence[Prediction], name: str) -> str:
    """Return the verdict that the judge gave for every labelled reply of a metric of agreement; empty if several."""
    people = confusions(predictions).get(name, {}).values()
    given = {verdict for person in people for verdict, count in person.items() if count}
    return given.pop() if len(given) == 1 else ""


def _alone(asked: Rubric, part: str, question: Question) -> Rubric:
    """The rubric with one of its questions, under the name that columns have."""
    return replace(asked, name="_".join(filter(None, (asked.name, part))), questions={"": question}, expected=False)


def _label(asked: Rubric, row: Mapping[str, Any]) -> str | None:
    """The label of people in a row, None without one."""
    label = row.get(f"{LABEL}_{asked.name}", row.get(LABEL))
    is_missing = label is None or label == "" or label != label  # noqa: PLR0124 - NaN of a table
    return None if is_missing else f"{label:g}" if isinstance(label, float) else str(label).strip()


def _compare(asked: Rubric, ask: _Ask, sample: Sample, prediction: Prediction) -> Generator[Any, Any, Any]:
    """Return 1 at the place of people's and the judge's value; None without a label, or without a verdict."""
    label, reply = _label(asked, sample.fields), sample.fields.get(REPLY)
    if label is None or (reply is not None and prediction.trial):
        return None
    (question,) = asked.questions.values()
    person = _index(question.scale, label, asked, sample)
    value = yield from ask(asked, sample, prediction if reply is None else replace(prediction, reply=str(reply)))
    if value is None:
        return None
    vector = np.zeros((len(question.scale.values),) * 2)
    vector[person, question.scale.values.index(value)] = 1
    return tuple(vector.ravel().tolist())


def _index(scale: VerdictScale, label: str, asked: Rubric, sample: Sample) -> int:
    wanted = _BOOLEANS.get(label.casefold(), label.casefold())
    for words in scale.words.values():
        folded = [word.casefold() for word in words]
        if wanted in folded:
            return folded.index(wanted)
    expected = " or ".join(repr(", ".join(words)) for words in scale.words.values())
    msg = f"sample {sample.id!r} has the label {label!r} for the rubric {asked.name!r}; expected one of {expected}"
    raise SettingsError(msg)
