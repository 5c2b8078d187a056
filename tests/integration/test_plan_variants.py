"""`--puma-plan` and the doctor on variants of a model: their loads, memory and minutes."""

from __future__ import annotations

import json

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
