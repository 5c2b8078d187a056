"""Metrics that run programs: the programs of a cell run together, after all its answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from pytest_puma.core import (
    SANDBOX,
    Message,
    Metric,
    MetricError,
    Outcome,
    Prediction,
    Program,
    Ran,
    Sample,
    SettingsError,
    metric,
)
from pytest_puma.evaluation.evaluate import evaluate
from pytest_puma.testing import Engine, ScriptedBackend
from tests.factories import cell


@dataclass
class Reading:
    """A sandbox that reads programs and runs none: one with the word Critical fails. `rounds`: what it received."""

    signature: Mapping[str, str] = field(default_factory=lambda: {"python": "3"})
    warnings: Sequence[str] = ()
    rounds: list[Sequence[Program]] = field(default_factory=list)

    def versions(self, languages: Iterable[str]) -> Mapping[str, str]:
        return {language: f"{language} 1" for language in languages}

    def run(self, programs: Sequence[Program]) -> list[Ran]:
        self.rounds.append(programs)
        return [Ran(passed="Critical" not in program.text, output="the end", seconds=0.5) for program in programs]


@metric(needs={"sandbox"})
def runs(_sample: Sample, prediction: Prediction) -> Any:
    ran = yield Program(text=prediction.text)
    return ran.passed


@metric(needs={"sandbox"})
def runs_twice(_sample: Sample, prediction: Prediction) -> Any:
    first = yield Program(text=prediction.text)
    second = yield Program(text=f"# again\n{prediction.text}")
    return (first.passed + second.passed) / 2


def outcome(*metrics: Metric, sandbox: Reading | None, **options: Any) -> Outcome:
    model = Engine(ScriptedBackend(lambda text: "Critical" if len(text) % 2 else "Minor"))
    return evaluate(cell(samples=8, scores=metrics, **options), model, sandbox=sandbox)


def test_a_metric_receives_what_happened_to_its_program() -> None:
    measured = outcome(runs, sandbox=Reading(warnings=["it is hot"]), gates=("runs >= 0.1",))
    passed = [prediction.answer != "Critical" for prediction in measured.predictions]
    assert [prediction.scores["runs"] for prediction in measured.predictions] == passed
    assert 0 < measured["runs"] == sum(passed) / 8 < 1
    assert measured.execution.signature["sandbox"] == {"python": "3"}
    assert measured.judgement.warnings == (f"{measured.name}: it is hot",)


def test_programs_run_in_rounds_and_equal_ones_once() -> None:
    sandbox = Reading()
    measured = outcome(runs, runs_twice, sandbox=sandbox)
    texts = {prediction.text for prediction in measured.predictions}
    assert len(texts) == 2
    assert [{program.text for program in programs} for programs in sandbox.rounds] == [
        texts,
        {f"# again\n{text}" for text in texts},
    ]
    assert all(len(programs) == 2 for programs in sandbox.rounds)


def test_a_prediction_keeps_its_programs_and_their_output() -> None:
    for prediction in outcome(runs, runs_twice, sandbox=Reading()).predictions:
        first, second = prediction.transcripts[SANDBOX].turns
        assert first.prompt == (Message(role="user", content=prediction.text),)
        assert second.prompt == (Message(role="user", content=f"# again\n{prediction.text}"),)
        assert (first.response.text, first.response.usage.seconds) == ("the end", 0.5)


def test_without_a_sandbox_such_a_metric_is_an_error_that_names_the_option() -> None:
    with pytest.raises(SettingsError, match=r"metric 'runs' runs programs .* expected --puma-run-code"):
        outcome(runs, sandbox=None)


def test_a_metric_that_yields_no_program_is_named_with_its_sample() -> None:
    @metric(needs={"sandbox"})
    def mute(_sample: Sample, _prediction: Prediction) -> Any:
        yield "print(1)"

    with pytest.raises(MetricError, match=r"the function mute of sample '.+' yields 'print\(1\)'; expected a Program"):
        outcome(mute, sandbox=Reading())


@pytest.mark.parametrize(
    ("needs", "fault"),
    [({"judge", "sandbox"}, "needs 'judge' and 'sandbox', but it can ask only one of them")],
)
def test_a_metric_asks_one_of_them(needs: set[str], fault: str) -> None:
    with pytest.raises(SettingsError, match=fault):
        metric(needs=needs)(runs.score)


def test_a_metric_without_yield_asks_nobody() -> None:
    with pytest.raises(SettingsError, match="'still' needs 'sandbox', but its function has no yield"):

        @metric(needs={"sandbox"})
        def still(_sample: Sample, _prediction: Prediction) -> float:
            return 1.0


def test_limits_under_which_nothing_starts_are_refused() -> None:
    with pytest.raises(SettingsError, match="megabytes"):
        Program(text="", megabytes=1)
