"""The same command gives the same answers: alone, in part, in another order, and on workers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.prediction_lines import prediction_lines

BENCHMARKS = """
import pytest

@pytest.mark.puma("triage_jira", strategies={triage}, samples=8, max_tokens=12, logprobs=True)
def test_triage(puma):
    pass

@pytest.mark.puma("estimation_tawos", strategies=["zero_shot", "option_scoring"], samples=8, max_tokens=12)
def test_points(puma):
    pass

@pytest.mark.puma("estimation_tawos", strategies=["zero_shot_cot"], samples=6, max_tokens=400)
def test_thoughts(puma):
    pass
"""
TRIAGE = ["zero_shot", "few_shot_3", "self_consistency_3"]
#: One thread each: with flash attention on a CPU their number may change near-ties.
COMMAND = ("--puma-threads=1", "-p", "no:cacheprovider")


@pytest.fixture
def answers(pytester: pytest.Pytester, gguf: Path) -> Any:
    """Runs the benchmarks on a real model; the predictions of that run by cell and sample, without what took time.

    Without a response store, from which a second run would take the answers of the first one.
    """
    pytester.makeini("[pytest]\npuma_store = off\npuma_naive_baselines = false\n")

    def run(*arguments: str, triage: list[str] = TRIAGE) -> dict[tuple[str, str], Any]:
        pytester.makepyfile(test_all=BENCHMARKS.format(triage=triage))
        done = pytester.runpytest_subprocess(f"--puma-model={gguf}", *COMMAND, *arguments)
        assert done.ret == 0, done.stdout.str()
        folder = max((pytester.path / ".puma" / "runs").iterdir(), key=lambda each: each.stat().st_mtime_ns)
        result = prediction_lines(folder / "predictions.jsonl")
        for turn in (turn for each in result for turn in each["turns"]):
            # What is left of a prompt depends on what all samples of the run share.
            turn.pop("prompt", None)
        return {(each["cell"], each["sample_id"]): each for each in result}

    return run


@pytest.fixture(scope="module")
def predictions_of_all() -> dict[tuple[str, str], Any]:
    return {}


@pytest.fixture
def whole(answers: Any, predictions_of_all: dict[tuple[str, str], Any]) -> dict[tuple[str, str], Any]:
    """Predictions of the whole command, which runs once for all tests of a process."""
    if not predictions_of_all:
        predictions_of_all.update(answers())
    return predictions_of_all


def test_a_repeated_command_repeats_every_byte(answers: Any, whole: Any, request: pytest.FixtureRequest) -> None:
    # Only the second run starts cold, with another hash seed and at other addresses than the first one.
    request.getfixturevalue("cold")
    assert answers() == whole
    thoughts = [each["usage"] for (cell, _), each in whole.items() if "zero_shot_cot" in cell]
    # More is written than read: these were computed in streams.
    assert sum(usage["decoded_tokens"] - usage["prompt_tokens"] + usage["cached_tokens"] for usage in thoughts) > 0


def test_a_selection_answers_as_the_whole(answers: Any, whole: Any) -> None:
    part = answers("-k", "few_shot or option")
    assert len(part) == 16
    assert {key: whole[key] for key in part} == part


def test_another_order_of_cells_changes_nothing(answers: Any, whole: Any) -> None:
    assert answers(triage=TRIAGE[::-1]) == whole


@pytest.mark.parametrize("dist", [[], ["--dist=load"]], ids=["by model", "cell by cell"])
def test_workers_answer_as_one_process(answers: Any, whole: Any, dist: list[str]) -> None:
    assert answers("-n2", *dist) == whole


def test_strict_answers_do_not_depend_on_the_samples_beside_them(answers: Any) -> None:
    few, many = (
        answers("--puma-strict", "--puma-samples=2"),
        answers("--puma-strict", "--puma-samples=4", "--puma-threads=2"),
    )
    shared = few.keys() & many.keys()
    assert shared
    assert [few[key] for key in sorted(shared)] == [many[key] for key in sorted(shared)]
