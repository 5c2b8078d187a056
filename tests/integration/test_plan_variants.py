"""`--puma-plan` and the doctor on variants of a model: their loads, memory and minutes."""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing

import pytest

from pytest_puma.cli import main
from tests.integration.conftest import Project
from tests.integration.test_plan import rows
from tests.integration.varying import write_files
from tests.tiny_controls import WIDTH, write_lora

ARGUMENT = "q.gguf,steer=loud.gguf:0/1/2,lora=a.gguf:0/1"


def _lines(result: pytest.RunResult, start: str) -> list[str]:
    return [line for line in result.outlines if line.startswith(start)]


@pytest.fixture
def planned(alone: Project) -> Project:
    alone.write(conftest="")
    write_lora(alone.pytester.path / "a.gguf")
    return write_files(alone)


def test_a_grid_is_planned_with_one_load_and_its_adapters_counted_once(planned: Project) -> None:
    result = planned.run("--puma-plan", f"--puma-model={ARGUMENT}", model=False)
    assert _lines(result, "6 variants") == ["6 variants of q (1 load), 6 cells"]
    assert len(rows(result)) == 6 + 1
    folder = planned.pytester.path
    size = sum((folder / name).stat().st_size for name in ("a.gguf", "loud.gguf")) / 2**20
    (memory,) = _lines(result, "memory: ")
    assert f" MB of weights, {size:,.1f} MB of adapters and vectors, " in memory
    assert len(_lines(result, "minutes: q read ")) == len(_lines(result, "minutes: ")) == 1
    assert _lines(result, "warning: ") == []


def test_a_plain_model_has_neither_of_these_lines(planned: Project) -> None:
    result = planned.run("--puma-plan", "--puma-model=q.gguf", model=False)
    assert "variant" not in str(result.stdout)
    assert "adapters" not in str(result.stdout)


def test_the_minutes_of_a_variant_are_its_own_else_those_of_the_plain_model(planned: Project) -> None:
    folder = planned.pytester.path
    key, day = f"q.gguf:{(folder / 'q.gguf').stat().st_size}", "2026-11-01"
    replies = {"triage_jira-zero_shot": 2.0}
    speeds = {key: 100.0, f"{key}+loud-1": 10.0}
    (folder / ".puma").mkdir()
    entries = {name: {"prefill": it, "decode": it, "day": day, "replies": replies} for name, it in speeds.items()}
    (folder / ".puma" / "throughput.json").write_text(json.dumps(entries))
    result = planned.run("--puma-plan", "--puma-model=q.gguf,steer=loud.gguf:0/1/2", model=False)
    assert _lines(result, "minutes: ") == [
        f"minutes: q read 100 and wrote 100 tokens a second on {day}",
        f"minutes: q+loud-1 read 10 and wrote 10 tokens a second on {day}",
    ]
    minutes = {name.partition("@")[2]: columns[5] for name, columns in rows(result).items()}
    assert minutes["q"] == minutes["q+loud-2"] != minutes["q+loud-1"]


@pytest.mark.parametrize(("rank", "state"), [(2, "ok"), (64, "advice")])
def test_the_doctor_names_an_adapter_larger_than_a_tenth_of_the_weights(
    planned: Project, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, rank: int, state: str
) -> None:
    folder = planned.pytester.path
    monkeypatch.chdir(folder)
    names = ("attn_q", "attn_output")
    matrices = {f"blk.{layer}.{name}.weight": (WIDTH, WIDTH) for layer in range(3) for name in names}
    write_lora(folder / "wide.gguf", matrices, rank=rank)
    assert main(["doctor", "q.gguf,lora=wide.gguf:0/1,steer=loud.gguf:1/2"]) == 0
    (line,) = (line for line in capsys.readouterr().out.splitlines() if " adapters " in line)
    assert line.startswith(f"{state:<9}adapters    fit q (")
    assert "wide.gguf (" in line
    assert "loud.gguf (" in line
    result = planned.run("--puma-plan", "--puma-model=q.gguf,lora=wide.gguf", model=False)
    warnings = _lines(result, "warning: wide.gguf has ")
    assert len(warnings) == (state == "advice")


DISTANCE = """
import pytest

@pytest.mark.puma("triage_jira", strategies=["zero_shot", "option_scoring"], samples=6, max_tokens=8, gates=GATES)
def test_triage(puma):
    pass
"""
SWEEP = "--puma-model=q.gguf,steer=loud.gguf:0/1/2"


def _distance_tokens(result: pytest.RunResult) -> int:
    """The tokens that a plan counts for distances; 0 if it has no such line."""
    found = [re.fullmatch(r"distance: . of . cells read ([\d,]+) tokens more .*", line) for line in result.outlines]
    return next((int(match[1].replace(",", "")) for match in found if match), 0)


def _scored_tokens(project: Project) -> int:
    """The tokens that runs computed to measure distances."""
    (store,) = (project.pytester.path / ".puma").glob("responses.sqlite")
    with closing(sqlite3.connect(store)) as connection:
        usages = [json.loads(usage) for (usage,) in connection.execute("SELECT usage FROM response WHERE top != x''")]
    return sum(prompt - cached + decoded for prompt, cached, decoded, _ in usages)


def test_the_pass_that_measures_distances_is_counted_as_it_is_run(planned: Project) -> None:
    planned.write(test_it=DISTANCE.replace("GATES", "[]"))
    assert _distance_tokens(planned.run("--puma-plan", SWEEP, model=False)) == 0
    planned.run(SWEEP, model=False).assert_outcomes(passed=6)
    planned.write(test_it=DISTANCE.replace("GATES", '["kl <= 100"]'))
    # The answers are kept, so that all replies are known.
    tokens = _distance_tokens(planned.run("--puma-plan", SWEEP, model=False))
    planned.run(SWEEP, model=False).assert_outcomes(passed=6)
    assert tokens == _scored_tokens(planned) > 0
    assert _distance_tokens(planned.run("--puma-plan", SWEEP, model=False)) == 0


def test_replies_that_are_not_written_yet_have_the_length_that_the_plan_assumes(planned: Project) -> None:
    planned.write(test_it=DISTANCE.replace("GATES", '["kl <= 100"]').replace(', "option_scoring"', ""))
    sweep = "--puma-model=q.gguf,steer=loud.gguf:0/1"
    tokens = _distance_tokens(planned.run("--puma-plan", sweep, model=False))
    planned.run(sweep, model=False).assert_outcomes(passed=2)
    # Two models score 6 replies of at most 8 tokens; those of this model may be shorter.
    assert 0 <= tokens - _scored_tokens(planned) <= 2 * 6 * 8
