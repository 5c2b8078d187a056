"""Strategies that score given answers: no text is generated, so there are no parse failures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from pytest_puma.core import Answer, Conversation, Score, SettingsError, ask, ask_all
from pytest_puma.replies.letters import LETTERS
from pytest_puma.strategies.task import Task


def option_scoring(task: Task) -> Conversation:
    """Answer with the label or choice of the smallest expected loss, by the log-probability of every valid answer.

    Labels are scored as whole replies, because one may begin another: 1 and 13. Of choices, the letters are scored,
    which cannot, so that no end of the turn is scored: a reply may go on after its letter.
    """
    labels, lettered = task.labels, bool(task.choices)
    if not labels:
        msg = (
            f"{task.scenario.name}: valid_labels() is [], and option_scoring compares its values; return them, or name "
            "other strategies"
        )
        raise SettingsError(msg)
    options = LETTERS[: len(labels)] if lettered else labels
    response = yield from ask(task.score(task.prompt(), options, ends=not lettered))
    if response.finish == "overflow":
        return Answer(value=None, responses=(response,))
    probabilities = dict(zip(labels, softmax(response.logprobs), strict=True))
    return Answer(value=task.scenario.kind.choose(probabilities), responses=(response,), probabilities=probabilities)


def cloze_scoring(task: Task) -> Conversation:
    """Answer with the choice whose text is the most probable, or after which its ending is; prompts show no choices.

    The end of the turn is not scored: longer texts with the same beginning are other answers, not other endings. If a
    metric needs it, the texts are scored without the question, too: a prompt that all samples share.

    If the choices stand inside a sentence, the text behind them is scored after each choice (partial evaluation): "The
    trophy did not fit into the suitcase because the ... was too large". The choices themselves differ in frequency.
    Source: T. Trinh, Q. Le, "A simple method for commonsense reasoning", 2018.
    """
    scenario, prompt = task.scenario, task.prompt()
    texts = [choice.text for choice in task.sample.choices]
    scored, alone = [task.score(prompt, texts, ends=False)], list[Score]()
    if ending := scenario.ending(dict(task.sample.fields)):
        beginnings = (task.delimiter.join(filter(None, (prompt.prefill, text))) for text in texts)
        scored = [task.score(replace(prompt, prefill=beginning), [ending], ends=False) for beginning in beginnings]
    elif "unconditional" in task.needs and scenario.unconditional is not None:
        alone = [task.score(task.without_question(scenario.unconditional), texts, ends=False)]
    responses = yield from ask_all([*scored, *alone])
    if any(response.finish == "overflow" for response in responses):
        return Answer(value=None, responses=responses[:1], failure="overflow")
    answers = responses[: len(scored)]
    logprobs = [logprob for response in answers for logprob in response.logprobs]
    probabilities = dict(zip(texts, softmax(logprobs), strict=True))
    return Answer(
        value=scenario.kind.choose(probabilities),
        responses=answers,
        probabilities=probabilities,
        likelihoods=tuple(likelihood for response in answers for likelihood in response.likelihoods),
        unconditional=tuple(likelihood for response in responses[len(scored) :] for likelihood in response.likelihoods),
    )


def softmax(logprobs: Sequence[float]) -> list[float]:
    """Return probabilities that add up to 1, from logarithms of any size."""
    largest = max(logprobs)
    weights = [math.exp(value - largest) for value in logprobs]
    total = sum(weights)
    return [weight / total for weight in weights]
