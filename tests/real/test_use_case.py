"""A use case of AISteer360 on a real chat model: that of its guide, whose text is not in this repository, and the quiz.

PUMA_AISTEER_GUIDE is the path of the page "Adding your own use case".
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from textwrap import indent

import pytest

from pytest_puma.core import Model
from tests.compat.aisteer import places
from tests.integration.conftest import INI, Project

GUIDE = os.environ.get("PUMA_AISTEER_GUIDE", "")
IMPORTS = """
import json, math, random, re, pytest
from pathlib import Path
from typing import Any
from pytest_puma.compat.aisteer import MCQAAccuracy, MCQAPositionalBias, UseCase, batch_retry_generate
"""
QUIZ = """
from places import PlacesQuiz
case = PlacesQuiz("data/evaluation_qa.jsonl", [MCQAAccuracy(), MCQAPositionalBias()], num_orders=20)
"""
TEST = """
@pytest.mark.puma(case, max_tokens=4, gates=["MCQAPositionalBias.mean <= 1", "MCQAAccuracy.question_mean >= 0"])
def test_case(puma):
    case.export(case.profiles(puma), ".")
"""


def guide() -> str:
    """The class of the page and the use case that it makes, without the import lines."""
    found = re.findall(r"^```python\n(.*?)^```", Path(GUIDE).read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    blocks = [re.sub(r"^from aisteer360.*\n", "", block, flags=re.MULTILINE) for block in found]
    start = next(block for block in blocks if "class CommonsenseMCQA" in block)
    methods = [indent(block, "    ") for block in blocks if block.startswith("def ")]
    made = next(block for block in blocks if block.lstrip().startswith("commonsense_mcqa = "))
    return "\n".join([start, *methods, made, "case = commonsense_mcqa\n"])


@pytest.mark.parametrize(
    "page", ["quiz", pytest.param("guide", marks=pytest.mark.skipif(not GUIDE, reason="PUMA_AISTEER_GUIDE is unset"))]
)
def test_its_page_runs_with_the_import_lines_changed(
    page: str, models: dict[str, Model], pytester: pytest.Pytester
) -> None:
    pytester.makeini(INI)
    (pytester.mkdir("data") / "evaluation_qa.jsonl").write_text("\n".join(map(json.dumps, places.ROWS)))
    pytester.makepyfile(
        places=Path(places.__file__).read_text(encoding="utf-8"),
        test_case=IMPORTS + (QUIZ if page == "quiz" else guide()) + TEST,
    )
    project = Project(pytester, models["smollm2"].path, 0)
    project.run().assert_outcomes(passed=1)
    predictions = project.predictions()
    assert len(predictions) == 20 * len(places.ROWS)
    ((run,),) = json.loads((pytester.path / "profiles.json").read_text(encoding="utf-8")).values()
    answers = [prediction["answer"] for prediction in predictions]
    assert sorted(map(str, answers)) == sorted(str(made["response"]) for made in run["generations"])
    right = [made["response"] == made["reference_answer"] for made in run["generations"]]
    assert run["evaluations"]["MCQAAccuracy"]["trial_mean"] == pytest.approx(sum(right) / len(right))
    measures = project.record()["outcomes"][0]["measures"]
    for key in ("mean", "std"):
        value = measures[f"MCQAPositionalBias.{key}"]["value"]
        assert value == pytest.approx(run["evaluations"]["MCQAPositionalBias"][key])
