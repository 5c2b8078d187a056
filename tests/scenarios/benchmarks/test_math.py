from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from pytest_puma.core import DataError
from pytest_puma.scenarios import draw
from pytest_puma.scenarios.benchmarks.reasoning import Gsm8kBpb, Math, MathBpb
from tests.scenarios.benchmarks.sample_requests import json_lines, sample_requests
from tests.scenarios.benchmarks.test_gsm8k import TEST as PEARS


def row(problem: str, answer: str, subject: str = "Algebra") -> dict[str, Any]:
    return {"problem": problem, "level": "Level 2", "type": subject, "solution": f"It is $\\boxed{{{answer}}}$."}


def write(path: Path, content: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """As in the published archive."""
    write(tmp_path / "test" / "algebra" / "1.json", row("Find $x$ if $2x=1$.", r"\frac{1}{2}"))
    write(tmp_path / "test" / "geometry" / "1.json", row("How many sides?", "3", "Geometry"))
    write(tmp_path / "train" / "algebra" / "7.json", row("Find $1+1$.", "2"))
    write(tmp_path / "train" / "geometry" / "7.json", row("How many corners?", "4", "Geometry"))
    return tmp_path


def test_the_prompt_of_minerva_after_an_example_of_the_subject(folder: Path) -> None:
    half, sides = sample_requests(Math(folder), "one_shot", chat=False)
    assert half.text == (
        "Problem:\nFind $1+1$.\n\nSolution: It is $\\boxed{2}$.\n"
        "Final Answer: The final answer is $2$. I hope it is correct.\n\n"
        "Problem:\nFind $x$ if $2x=1$.\n\nSolution:"
    )
    assert (half.golds, sides.golds) == ((r"\frac{1}{2}",), ("3",))
    assert "How many corners?" in sides.text


def test_a_chat_asks_without_examples(folder: Path) -> None:
    half, _ = sample_requests(Math(folder))
    assert half.text == "user: Problem:\nFind $x$ if $2x=1$.\n\nassistant: Solution:"


def test_subjects_and_levels_are_groups(folder: Path) -> None:
    samples = draw(Math(folder), 2, 42)
    assert sorted(sample.groups["subject"] for sample in samples) == ["Algebra", "Geometry"]
    assert {sample.groups["level"] for sample in samples} == {"Level 2"}


def test_a_local_copy_of_the_hub_has_a_folder_for_each_subject(folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    for name in ("algebra", "geometry"):
        (tmp_path / "hub" / name).mkdir(parents=True)
        (file,) = (folder / "test" / name).iterdir()
        rows = pd.DataFrame([json.loads(file.read_text())])
        rows.to_parquet(tmp_path / "hub" / name / "test-00000-of-00001.parquet")
    assert sample_requests(Math(tmp_path / "hub")) == sample_requests(Math(folder))


@pytest.mark.parametrize(
    ("solution", "answer"),
    [
        (r"First $\boxed{1}$, then $\boxed{\frac{1}{2}}$.", r"\frac{1}{2}"),
        (r"It is $\boxed 5$ in all.", "5"),
        (r"It is $\fbox{7}$.", "7"),
    ],
)
def test_each_form_of_a_box_is_read(tmp_path: Path, solution: str, answer: str) -> None:
    write(tmp_path / "test" / "algebra" / "1.json", row("?", "") | {"solution": solution})
    (only,) = sample_requests(Math(tmp_path))
    assert only.golds == (answer,)


def test_bits_per_byte_are_of_the_whole_solution(folder: Path, tmp_path: Path) -> None:
    half, _ = sample_requests(MathBpb(folder))
    assert half.golds == ("It is $\\boxed{\\frac{1}{2}}$.",)
    (pears,) = sample_requests(Gsm8kBpb(json_lines(tmp_path / "gsm.jsonl", [PEARS])))
    assert pears.golds == (PEARS["answer"],)


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (row("?", "1") | {"solution": "It is 1."}, "algebra/1.json, problem 1, column 'solution': found 'It is 1.' at"),
        (row("?", "1") | {"type": None}, "algebra/1.json, problem 1, column 'type': missing or empty"),
        (7, "1.json: not in the format of MATH"),
    ],
)
def test_a_faulty_file_is_named(tmp_path: Path, content: object, fault: str) -> None:
    write(tmp_path / "test" / "algebra" / "1.json", content)
    with pytest.raises(DataError) as refused:
        _ = Math(tmp_path).rows
    assert fault in str(refused.value)
