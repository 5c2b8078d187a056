"""The log-probability of the text of every choice, which the prompt does not show. No text is generated.

The end of the turn is not scored: longer texts with the same beginning are other answers, not other endings.
"""

from __future__ import annotations

from pytest_puma.core import Answer, Conversation, ask_all
from pytest_puma.scenarios.choice import ChoiceScenario
from pytest_puma.strategies.option_scoring import softmax
from pytest_puma.strategies.task import Task


def cloze_scoring(task: Task) -> Conversation:
    """Answer with the choice whose text is the most probable.

    If a metric needs it, the texts are scored without the question, too: a prompt that all samples share.
    """
    texts = [choice.text for choice in task.sample.choices]
    requests = [task.score(task.prompt(), texts, ends=False)]
    if "unconditional" in task.needs and isinstance(task.scenario, ChoiceScenario):
        requests.append(task.score(task.without_question(task.scenario.unconditional), texts, ends=False))
    responses = yield from ask_all(requests)
    if any(response.finish == "overflow" for response in responses):
        return Answer(value=None, responses=responses[:1], failure="overflow")
    probabilities = dict(zip(texts, softmax(responses[0].logprobs), strict=True))
    return Answer(
        value=task.scenario.kind.choose(probabilities),
        responses=responses[:1],
        probabilities=probabilities,
        likelihoods=responses[0].likelihoods,
        unconditional=responses[1].likelihoods if len(responses) > 1 else (),
    )
