"""A rubric as a metric: the judge gives its reasons, then its verdict about a reply.

    polite = rubric("polite", "Is the reply polite?")
    style = rubric("style", "How well is it written, from 1 (badly) to 5 (well)?", scale=grades(1, 5), shows=("reply",))

The verdict is scored, not parsed: the judge gives each allowed answer a probability, so every verdict is readable. Of a
pair, each of the two replies comes first once; verdicts that differ are a tie.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from functools import partial
from typing import Any

from pytest_puma.core import Direction, Generate, Message, Messages, Metric, Prediction, Prompt, Sample, Score, ask_all
from pytest_puma.judges.agreement import agreements_of
from pytest_puma.judges.companions import companions_of
from pytest_puma.judges.rubric import REASONS, Part, Question, Rubric
from pytest_puma.judges.scale import ENGLISH, PAIR, YES_NO, VerdictScale
from pytest_puma.judges.wording import as_task, section, words_of
from pytest_puma.metrics.library.reading import argument
from pytest_puma.replies.answers import strip_reasoning

#: The names of all metrics that ask by a rubric begin so.
PREFIX = "judge."


def rubric(
    name: str,
    question: str | Mapping[str, str],
    *,
    scale: VerdictScale = YES_NO,
    shows: tuple[Part, ...] = ("task", "reply"),
    better: Direction = "high",
    expected: bool = False,
    reasons: int = REASONS,
) -> Metric:
    """Return a metric that asks a judge one question: `rubric("polite", "Is the reply polite?")` is `judge.polite`.

    `question`: a text, or texts by language, as `{"en": ..., "de": ...}`. `scale`: its answers with their values. The
    other arguments are those of `Rubric`.
    """
    texts = {ENGLISH: question} if isinstance(question, str) else question
    questions = {"": Question(texts, PAIR if "pair" in shows else scale)}
    return metric_of(
        Rubric(name=name, questions=questions, shows=shows, better=better, expected=expected, reasons=reasons)
    )


def metric_of(asked: Rubric) -> Metric:
    """Return the metric that asks the questions of a rubric."""
    bounds = [question.scale.bounds for question in asked.questions.values()]
    name = f"{PREFIX}{asked.name}"
    return Metric(
        name=name,
        score=partial(_ask, asked),
        parts=tuple(filter(None, asked.questions)),
        better=asked.better,
        bounds=(min(low for low, _ in bounds), max(high for _, high in bounds)),
        needs=frozenset({"judge"}),
        digest=asked.digest,
        companions=(*companions_of(asked, name), *agreements_of(asked, name, _ask)),
    )


def _ask(asked: Rubric, sample: Sample, prediction: Prediction) -> Generator[Any, Any, Any]:
    """Ask the judge; return a value, or one for each part: None if it does not apply, or without a verdict."""
    language = asked.language_of(sample)
    words = words_of(language)
    talks: list[Messages] = [
        (Message(role="system", content=words.system), Message(role="user", content=text))
        for text in _openings(asked, sample, prediction, language)
    ]
    if asked.reasons:
        talks = [_then(talk, words.reasons) for talk in talks]
        reasons = yield from ask_all(Generate(prompt=Prompt(messages=talk), max_tokens=asked.reasons) for talk in talks)
        talks = [
            (*talk, Message(role="assistant", content=strip_reasoning(response.text)))
            for talk, response in zip(talks, reasons, strict=True)
        ]
    values: dict[str, float | None] = dict.fromkeys(asked.questions)
    requests = [
        _verdict(talk, question, language, words.verdict) for question in asked.questions.values() for talk in talks
    ]
    verdicts = iter((yield from ask_all(requests)))
    for part, question in asked.questions.items():
        scores = [question.scale.value(next(verdicts).logprobs, expected=asked.expected) for _ in talks]
        values[part] = _value(scores, expected=asked.expected)
    return values if any(asked.questions) else values[""]


def _openings(asked: Rubric, sample: Sample, prediction: Prediction, language: str) -> list[str]:
    """The question with the material, once for each order of a pair; none if the rubric does not apply."""
    titles = words_of(language).titles
    parts = [" ".join(question.text(language) for question in asked.questions.values())]
    if "task" in asked.shows and sample.asked:
        parts.append(section(titles["task"], as_task(sample.asked, language)))
    if "truth" in asked.shows:
        truths = [truth for truth in prediction.golds if truth]
        if not truths:
            return []
        parts.append(section(titles["truth"], *truths))
    reply = prediction.text
    if not asked.is_pair:
        return ["\n\n".join([*parts, section(titles["reply"], reply)])]
    rival = argument(
        sample, "rival", str | None, metric=f"{PREFIX}{asked.name}", expected="the other reply as a text, or None"
    )
    orders = [] if rival is None else [(reply, rival), (rival, reply)]
    return ["\n\n".join([*parts, section(titles["a"], a), section(titles["b"], b)]) for a, b in orders]


def _verdict(talk: Messages, question: Question, language: str, sentence: str) -> Score:
    answers = question.scale.shown(language)
    text = sentence.format(question.text(language), ", ".join(answers))
    return Score(prompt=Prompt(messages=_then(talk, text)), continuations=answers)


def _then(talk: Messages, text: str) -> Messages:
    """The chat with a further text of the user, in the last message if that is the user's."""
    last = talk[-1]
    if last.role == "user":
        return (*talk[:-1], Message(role="user", content=f"{last.content}\n\n{text}"))
    return (*talk, Message(role="user", content=text))


def _value(scores: Sequence[float | None], *, expected: bool) -> float | None:
    """The value of a verdict; of a pair, that of the reply under test: a tie if the orders differ, or their mean."""
    readable = [score for score in scores if score is not None]
    if not scores or len(readable) < len(scores):
        return None
    first, *swapped = readable
    if not swapped:
        return first
    second = 1 - swapped[0]
    return (first + second) / 2 if expected else first if first == second else 0.5
