"""The comparison that a run suggests."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from pytest_puma.runs.suggestion import next_comparison


@pytest.mark.parametrize(
    ("new", "old", "command"),
    [
        (["a-zero_shot@m"], ["a-zero_shot@m", "b-egi@m"], "pytest-puma compare last~1 last"),
        (
            ["b-egi@gemma", "a-zero_shot@gemma"],
            ["a-zero_shot@smollm2", "a-egi@other"],
            "the same tests with --puma-model smollm2 --puma-model gemma --puma-compare model --puma-offline",
        ),
        (["a-zero_shot+case_upper@m"], ["a-zero_shot@n"], ""),
        (["a-zero_shot@m"], ["b-zero_shot@n"], ""),
    ],
    ids=["the same cells", "another model", "another perturbation", "nothing in common"],
)
def test_the_command_fits_what_both_runs_have(new: Sequence[str], old: Sequence[str], command: str) -> None:
    assert next_comparison(new, old) == command
