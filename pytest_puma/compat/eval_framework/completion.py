"""A task whose response type is a completion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pytest_puma.compat.eval_framework.mapped import Mapped
from pytest_puma.compat.eval_framework.nouns import Message, Role
from pytest_puma.compat.eval_framework.nouns import Sample as TaskSample
from pytest_puma.core import DataError, Sample
from pytest_puma.scenarios.completion import CompletionScenario


class CompletionTask(Mapped, CompletionScenario):
    """The scenario of a task with free text as answers."""

    def instruction(self, item: dict[str, Any]) -> str:
        """Return the message of the user."""
        return self.user_message(item)

    def truth(self, item: dict[str, Any]) -> Sequence[str]:
        """Return the ground truths without the cue."""
        return self._answers(item)[0]

    def target(self, item: dict[str, Any]) -> str:
        """Return the answer of an example."""
        return self._get_fewshot_target_text(item).strip()

    def post_process(self, text: str, sample: Sample) -> str | None:
        """Return the text that the author makes of a reply."""
        fields = dict(sample.fields)
        answer = self.post_process_generated_completion(
            text,
            TaskSample(
                id=0,
                subject=sample.groups.get("subject", ""),
                messages=[Message(Role.USER, self.user_message(fields))],
                ground_truth=list(sample.references),
                context=dict(sample.context),
            ),
        )
        if not isinstance(answer, str):
            name = type(self).__name__
            msg = f"{name}: post_process_generated_completion returned {answer!r}; expected a text"
            raise DataError(msg)
        return answer.strip() or None
