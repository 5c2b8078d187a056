"""`--puma-compare` and other options that name a run, with a run folder that is damaged or of an earlier format."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from tests.integration.conftest import TRIAGE, Project


def cut(text: str) -> str:
    """A file that ends in the middle of its first line."""
    return text[:40]


def garbled(text: str) -> str:
    """Every prediction unreadable, below a readable cell."""
    first, *rest = text.splitlines(keepends=True)
    return first + "".join("{\n" for _ in rest)


def without_transcripts(text: str) -> str:
    """Predictions of an earlier format: their answers stand beside the key, and not in turns."""
    return re.sub(r'"transcripts": ?\{', '"raw": "", "texts": {', text)


def damage(project: Project, name: str, change: Callable[[str], str]) -> None:
    path = project.folder / name
    text = path.read_text(encoding="utf-8")
    assert change(text) != text
    path.write_text(change(text), encoding="utf-8")


@pytest.mark.parametrize(
    ("change", "fault"),
    [(garbled, ": line 2 cannot be read (*"), (without_transcripts, " is of an earlier format of pytest-puma*")],
)
@pytest.mark.parametrize("value", ["last", "run:1"])
def test_predictions_that_cannot_be_read_are_a_problem_of_the_run(
    scripted: Project, value: str, change: Callable[[str], str], fault: str
) -> None:
    scripted.write(test_it=TRIAGE)
    scripted.run().assert_outcomes(passed=1)
    damage(scripted, "predictions.jsonl", change)
    result = scripted.run(f"--puma-compare={value}")

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    output = result.stdout.str() + result.stderr.str()
    assert "INTERNALERROR" not in output
    assert "nothing to compare" not in output
    result.stdout.fnmatch_lines(
        [f"puma: the comparison with run 1: *predictions.jsonl{fault}", "* 1 failed, 1 passed*"]
    )


@pytest.mark.parametrize("option", ["--puma-compare=run:1", "--puma-rescore=1"])
def test_a_damaged_record_is_a_usage_error(scripted: Project, option: str) -> None:
    scripted.write(test_it=TRIAGE)
    scripted.run().assert_outcomes(passed=1)
    damage(scripted, "run.json", cut)
    result = scripted.run(option, model=False)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: puma: {option.partition('=')[0]} *RUN '1': no such run; *"])


def test_predictions_of_an_earlier_format_are_an_error_of_a_rescored_cell(scripted: Project) -> None:
    scripted.write(test_it=TRIAGE)
    scripted.run().assert_outcomes(passed=1)
    damage(scripted, "predictions.jsonl", without_transcripts)
    result = scripted.run("--puma-rescore=last", model=False)

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert "INTERNALERROR" not in result.stdout.str() + result.stderr.str()
    result.stdout.fnmatch_lines(["*predictions.jsonl is of an earlier format of pytest-puma*"])
