"""A task whose response type is the likelihoods of given texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pytest_puma.compat.eval_framework import created
from pytest_puma.compat.eval_framework.mapped import Mapped
from pytest_puma.compat.eval_framework.metrics import class_name
from pytest_puma.core import Choice, DataError
from pytest_puma.scenarios.choice import ChoiceScenario

#: Metrics for which the last choice stands for "I don't know".
_WITH_IDK = frozenset({"TernaryScore", "DistributionalCorrectnessScore"})


class ChoiceTask(Mapped, ChoiceScenario):
    """The scenario of a task with choices. The author's instruction shows them, or does not."""

    def question(self, item: dict[str, Any]) -> str:
        """Return the message of the user."""
        return self.user_message(item)

    def instruction(self, item: dict[str, Any], options: str) -> str:
        """Return the same, with a line for each choice if the strategy asks for a letter."""
        return "\n".join(filter(None, (self.user_message(item), options)))

    def choices(self, item: dict[str, Any]) -> Sequence[str]:
        """Return the texts to score, without surrounding space."""
        texts = created.value(item, created.COMPLETIONS, self._get_possible_completions)
        if texts is None:
            msg = f"{type(self).__name__}: _get_possible_completions returned None; expected the texts to score"
            raise DataError(msg)
        return [self.without_cue(text, self.cue(item)) for text in texts]

    def answer(self, item: dict[str, Any]) -> Any:
        """Return the texts of the right choices."""
        return self._answers(item)[0]

    def options(self, instance: dict[str, Any]) -> tuple[Choice, ...]:
        """Return the choices; with a metric that needs it, the last one stands for "I don't know"."""
        *others, last = super().options(instance)
        return (*others, replace(last, idk=not _WITH_IDK.isdisjoint(map(class_name, self.METRICS))))

    def target_text(self, item: dict[str, Any], *, letter: bool) -> str:
        """Return the answer of an example: the author's, or a letter."""
        return super().target_text(item, letter=True) if letter else self._get_fewshot_target_text(item).strip()
