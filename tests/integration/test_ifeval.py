"""IFEval as its user runs it: the published format by `--puma-data`, all four numbers gated and measured."""

from __future__ import annotations

import json
from typing import Any

from tests.integration.conftest import ONE_PROCESS, Project

TEST = """
import pytest

@pytest.mark.puma(
    "ifeval",
    samples=4,
    gates=["ifeval.prompt >= 0.1", "ifeval.instruction.loose >= 0.1"],
    metrics=["ifeval.instruction", "ifeval.prompt.loose", "ifeval.instruction.loose"],
)
def test_ifeval(puma):
    pass
"""
MODEL = """
import json
from pathlib import Path
from pytest_puma.testing import ScriptedBackend

def pytest_puma_backend(model):
    return ScriptedBackend(json.loads(Path("replies.json").read_text()))
"""
#: Prompts, their instructions, a reply, and whether it follows each of them, strictly and loosely.
ROWS: list[tuple[str, dict[str, dict[str, Any]], str, list[bool], list[bool]]] = [
    ("Describe a lake.", {"punctuation:no_comma": {}}, "It is wet.", [True], [True]),
    (
        "Name a colour in quotes.",
        {"startend:quotation": {}, "punctuation:no_comma": {}},
        'Sure, here:\n"Blue"',
        [False, False],
        [True, True],
    ),
    (
        "Count to three.",
        {"length_constraints:number_words": {"num_words": 3, "relation": "at least"}},
        "one two",
        [False],
        [False],
    ),
    (
        # No language is asked for: to tell it takes seconds, and tests/metrics/ifeval has it.
        "Name two colours.",
        {"keywords:existence": {"keywords": ["blue"]}, "startend:end_checker": {"end_phrase": "The end."}},
        "Red and blue. The end!",
        [True, False],
        [True, False],
    ),
]


def _write(project: Project) -> None:
    project.write(test_ifeval=TEST, conftest=MODEL)
    lines = (
        {"key": key, "prompt": prompt, "instruction_id_list": list(kinds), "kwargs": list(kinds.values())}
        for key, (prompt, kinds, *_) in enumerate(ROWS, start=1000)
    )
    path = project.pytester.path
    (path / "input_data.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    replies = {prompt: reply for prompt, _, reply, *_ in ROWS}
    (path / "replies.json").write_text(json.dumps(replies), encoding="utf-8")


def _check(project: Project) -> None:
    """All numbers, and those of each row."""
    (outcome,) = project.record()["outcomes"]
    measured = {name: measure["value"] for name, measure in outcome["measures"].items() if name.startswith("ifeval")}
    strict, loose = [row[3] for row in ROWS], [row[4] for row in ROWS]
    assert measured == {
        "ifeval.prompt": sum(map(all, strict)) / 4,
        "ifeval.instruction": sum(map(sum, strict)) / 6,
        "ifeval.prompt.loose": sum(map(all, loose)) / 4,
        "ifeval.instruction.loose": sum(map(sum, loose)) / 6,
    }
    assert [verdict["status"] for verdict in outcome["verdicts"]] == ["PASS", "PASS"]
    for line, (_, _, reply, followed, loosely) in zip(project.predictions(), ROWS, strict=True):
        assert line["raw"] == [reply]
        assert line["scores"]["ifeval.instruction"] == [sum(followed), len(followed)]
        assert line["scores"]["ifeval.instruction.loose"] == [sum(loosely), len(loosely)]


@ONE_PROCESS
def test_published_rows_are_asked_and_scored_on_both_levels(project: Project) -> None:
    _write(project)
    project.run("--puma-data=ifeval=input_data.jsonl").assert_outcomes(passed=1)
    _check(project)


@ONE_PROCESS
def test_published_responses_are_scored_without_a_model(project: Project) -> None:
    _write(project)
    lines = (json.dumps({"prompt": prompt, "response": reply}) for prompt, _, reply, *_ in reversed(ROWS))
    (project.pytester.path / "input_response_data_gpt4.jsonl").write_text("\n".join(lines), encoding="utf-8")
    recorded = "--puma-model=recorded:gpt4=input_response_data_gpt4.jsonl,text=response"
    project.run("--puma-data=ifeval=input_data.jsonl", recorded, model=False).assert_outcomes(passed=1)
    assert project.cell_ids() == ["ifeval-zero_shot@gpt4"]
    _check(project)


@ONE_PROCESS
def test_without_the_file_nothing_runs_and_the_error_says_where_it_is(project: Project) -> None:
    _write(project)
    result = project.run()
    assert result.ret != 0
    result.stdout.fnmatch_lines(["*scenario 'ifeval' has no data of its own: get 541 prompts*"])
