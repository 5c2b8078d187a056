"""The log-probability of the text of every choice, which the prompt does not show. No text is generated.

The end of the turn is not scored: longer texts with the same beginning are other answers, not other endings.

If the choices stand inside a sentence, the text behind them is scored after each choice (partial evaluation): "The
trophy did not fit into the suitcase because the ... was too large". The choices themselves differ in frequency.
Source: T. Trinh, Q. Le, "A simple method for commonsense reasoning", 2018.
"""

from __future__ import annotations

from dataclasses import replace

from pytest_puma.core import Answer, Conversation, Response, Score, ask_all
from pytest_puma.strategies.option_scoring import softmax
from pytest_puma.strategies.task import Task


def cloze_scoring(task: Task) -> Conversation:
    """Answer with the choice whose text is the most probable, or after which its ending is.

    If a metric needs it, the texts are scored without the question, too: a prompt that all samples share.
    """
    texts = [choice.text for choice in task.sample.choices]
    ending = task.scenario.ending(dict(task.sample.fields))
    scored = _of_endings(task, texts, ending) if ending else [task.score(task.prompt(), texts, ends=False)]
    alone = () if ending else _without_question(task, texts)
    responses = yield from ask_all([*scored, *alone])
    if any(response.finish == "overflow" for response in responses):
        return Answer(value=None, responses=responses[:1], failure="overflow")
    answers: tuple[Response, ...] = tuple(responses[: len(scored)])
    logprobs = [value for response in answers for value in response.logprobs]
    probabilities = dict(zip(texts, softmax(logprobs), strict=True))
    return Answer(
        value=task.scenario.kind.choose(probabilities),
        responses=answers,
        probabilities=probabilities,
        likelihoods=tuple(each for response in answers for each in response.likelihoods),
        unconditional=tuple(each for response in responses[len(scored) :] for each in response.likelihoods),
    )


def _of_endings(task: Task, texts: list[str], ending: str) -> list[Score]:
    """A request for each choice, which ends the prompt."""
    prompt, joint = task.prompt(), task.delimiter
    beginnings = (joint.join(filter(None, (prompt.prefill, text))) for text in texts)
    return [task.score(replace(prompt, prefill=beginning), [ending], ends=False) for beginning in beginnings]


def _without_question(task: Task, texts: list[str]) -> list[Score]:
    """The request for the probabilities of the choices alone, if a metric needs them."""
    cue = task.scenario.unconditional
    if "unconditional" not in task.needs or cue is None:
        return []
    return [task.score(task.without_question(cue), texts, ends=False)]
