"""A trial with the conversation about it, which becomes a prediction."""

from __future__ import annotations

from typing import NamedTuple

from pytest_puma.core import MODEL, EngineError, Prediction
from pytest_puma.evaluation.conversations import ConversationState
from pytest_puma.strategies import Strategy, Task, failure_of


class Answered(NamedTuple):
    """A trial and the conversation about it; `several`: its sample has more trials."""

    task: Task
    state: ConversationState
    several: bool

    def prediction(self, strategy: Strategy) -> Prediction:
        """Return the prediction; an `EngineError` if the strategy, which may be a user's, names no response."""
        task, sample, answer = self.task, self.task.sample, self.state.answer
        if answer is None or not answer.responses:
            msg = f"the strategy answered sample {sample.id!r} without a response; expected Answer(responses=...)"
            raise EngineError(msg)
        failure = failure_of(task, answer, self.state.last, final_line=strategy.final_line)
        return Prediction(
            sample_id=sample.id,
            trial=task.trial.index,
            tries=answer.tries,
            gold=sample.gold,
            answer=answer.value if failure is None else None,
            probabilities=answer.probabilities,
            failure=None if failure is None else failure.cause,
            parsed=None if failure is None else failure.parsed,
            # Trials of one sample are not independent.
            units=(sample.id, *sample.units) if self.several else sample.units,
            fields=sample.fields,
            groups=sample.groups,
            references=sample.references if len(sample.references) > 1 else (),
            choices=tuple(choice.text for choice in sample.choices),
            order=task.trial.order,
            reply=(answer.value or "") if task.scenario.kind.form == "texts" else None,
            likelihoods=answer.likelihoods,
            unconditional=answer.unconditional,
            transcripts={MODEL: self.state.transcript()},
        )
