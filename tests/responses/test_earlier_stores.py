"""Stores that an earlier version wrote: all their answers are found."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from pytest_puma.core import Score
from tests.responses.keeping_runs import Run, generate, once, prompt, twice

#: Written at commit 93aa214 by the conversations below, when the digest of its source files identified an engine.
BEFORE_VERSIONS = Path(__file__).with_name("store_of_93aa214.sqlite")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copy(BEFORE_VERSIONS, tmp_path / "responses.sqlite")
    return tmp_path


def ask(run: Run) -> list[str | None]:
    """Greedy, sampled and scored requests, one of them depending on a response."""
    return run.run_cell(
        once(generate("p")),
        twice("q"),
        once(generate("r", temperature=0.7, seed=3, logprobs=True)),
        once(Score(prompt=prompt("s"), continuations=("abcs", " no"))),
    )


def test_answers_of_an_engine_without_a_version_are_found(folder: Path, tmp_path: Path) -> None:
    run = Run(folder, "new")
    answers = ask(run)
    kept = run.end().kept
    assert run.backend.prompts == []
    assert kept is not None
    # They were computed in batches of the first version.
    assert (kept.kept, kept.responses, kept.together, kept.runs) == (5, 5, False, ("old",))
    assert answers == ask(Run(tmp_path / "another"))


def test_strict_answers_of_an_engine_without_a_version_are_found(folder: Path) -> None:
    run = Run(folder, "new", strict=True)
    assert run.run_cell(once(generate("p"))) == ["abcp"]
    assert run.backend.prompts == []
