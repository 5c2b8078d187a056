"""Benchmark specs: made from settings, or read from run-spec files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_puma.core import Gate, SettingsError
from pytest_puma.planning.runspec import read_specs
from pytest_puma.planning.settings import BenchmarkSpec, Judging, Request, Settings
from pytest_puma.scenarios import TriageJiraScenario
from tests.factories import model

# As a user of PUMA has it: every key of its format, and nothing of ours.
PUMA = """\
# Does a worked example help a 3B model to sort issues by priority?
id: triage_examples_3b
description: "Zero-shot against three examples, with and without a chain of thought"
scenario: triage_jira
sample_size: 50
models: [qwen2.5:3b, "mistral:7b"]
adaptation:
  strategy: [zero-shot, few-shot-3]
  cot: [false, true]
inference:
  temperature: 0.0
  seed: 42
  max_tokens: 256
  logprobs: true
  top_logprobs: 0
  format: null
perturbations: []
metrics: [f1_macro, parse_failure_rate]
sustainability:
  codecarbon: false
  country_iso: ESP
repeat: 1
profile_required: null
"""
MINIMAL = "scenario: triage_jira\nadaptation:\n  strategy: zero_shot\n"  # three lines


def settings(*, gates: tuple[Gate, ...] = (), **request: Any) -> Settings:
    """Settings with two models."""
    asked = replace(Request(models=(model("a"), model("b"))), **request)
    return Settings(request=asked, judging=Judging(gates=gates))


def spec(**fields: Any) -> BenchmarkSpec:
    return replace(BenchmarkSpec(scenario=TriageJiraScenario()), **fields)


def read(
    folder: Path, spec: str | bytes, *, name: str = "triage.puma.yaml", settings: Settings | None = None
) -> dict[str, BenchmarkSpec]:
    path = folder / name
    path.write_bytes(spec if isinstance(spec, bytes) else spec.encode())
    return read_specs(path, settings or Settings())


def refusal(folder: Path, spec: str | bytes, *, settings: Settings | None = None) -> str:
    """The sentence behind the file's name."""
    with pytest.raises(SettingsError) as caught:
        read(folder, spec, settings=settings)
    start = f"{folder / 'triage.puma.yaml'}, "
    assert str(caught.value).startswith(start)
    return str(caught.value).removeprefix(start)


def the_one(folder: Path, spec: str) -> BenchmarkSpec:
    (request,) = read(folder, spec).values()
    return request
