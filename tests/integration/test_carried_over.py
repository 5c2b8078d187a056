"""A scenario of another system, carried over as it is: four methods, data of any columns, labels spelled otherwise."""

from __future__ import annotations

import pytest

from tests.integration.conftest import Project

PAINT = """
import re

import pandas as pd
import pytest

from pytest_puma import Scenario


class PaintScenario(Scenario):
    name = "paint"
    task_type = "classification"

    def sample(self, n, seed=42):
        frame = pd.read_csv("paint.csv")
        return frame.sample(n=min(n, len(frame)), random_state=seed).reset_index(drop=True)

    def gold_label(self, instance):
        return str(instance["answer"])

    def parse_response(self, response):
        tone = re.search(r"\\b(WarmTone|ColdTone)\\b", response, re.IGNORECASE)
        return tone.group(1){spelled} if tone else None

    def valid_labels(self):
        return ["WarmTone", "ColdTone"]


@pytest.mark.puma(PaintScenario, samples=12, strategies=["zero_shot"], gates=["accuracy >= 0"])
def test_paint(puma):
    pass
"""
CONFTEST = """
from pytest_puma.testing import ScriptedBackend

def pytest_puma_backend(model):
    return ScriptedBackend(lambda prompt: "It is coldtone." if "blue" in prompt.lower() else "It is WarmTone.")
"""


def _paint(project: Project, *, columns: tuple[str, str], spelled: str = "") -> None:
    rows = [f"{'red' if n % 2 else 'blue'} wall {n},tin {n},{'WarmTone' if n % 2 else 'ColdTone'}" for n in range(12)]
    text = "\n".join([",".join((*columns, "answer")), *rows])
    (project.pytester.path / "paint.csv").write_text(text, encoding="utf-8")
    folder = project.pytester.path / "prompts" / "paint"
    folder.mkdir(parents=True)
    template = f"Tone of {{{{ {columns[0]} }}}}: {{{{ labels | join(' or ') }}}}?"
    (folder / "zero_shot.jinja").write_text(template, encoding="utf-8")
    project.write(conftest=CONFTEST, test_paint=PAINT.replace("{spelled}", spelled))


@pytest.mark.parametrize("columns", [("title", "colour"), ("wall", "tin")])
def test_data_without_the_default_text_fields_are_read_as_they_are(alone: Project, columns: tuple[str, str]) -> None:
    _paint(alone, columns=columns, spelled='.title().replace("tone", "Tone")')
    result = alone.run("--puma-perturb=case_upper", "--puma-gate=accuracy > naive.tfidf - 1")
    result.assert_outcomes(passed=2)
    result.stdout.no_fnmatch_line("*left out*")
    plain, loud = alone.record()["outcomes"]
    assert plain["naive_baselines"].keys() == {"majority", "guess", "tfidf"}
    assert (plain["measures"]["accuracy"]["value"], loud["measures"]["accuracy"]["value"]) == (1, 1)
    texts = {each["fields"][columns[0]] for each in alone.predictions() if "case_upper" in each["cell"]}
    assert "RED WALL 1" in texts


def test_labels_that_the_parser_spells_otherwise_are_reported_with_the_valid_ones(alone: Project) -> None:
    _paint(alone, columns=("title", "colour"), spelled=".capitalize()")
    result = alone.run("--puma-gate=paint: accuracy >= 0.9")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "*answered 'Coldtone' (not a label), gold is ColdTone",
            (
                "warning: paint-zero_shot@tiny: 12 of 12 answers are not among valid_labels(): 'Coldtone' (6), "
                "'Warmtone' (6); expected one of WarmTone, ColdTone; parse_response() must return a label exactly *"
            ),
        ]
    )
    (outcome,) = alone.record()["outcomes"]
    assert outcome["failures"] == {"not_a_label": 12}
    assert {each["failure"] for each in alone.predictions()} == {"not_a_label"}
    assert {each["parsed"] for each in alone.predictions()} == {"Coldtone", "Warmtone"}
