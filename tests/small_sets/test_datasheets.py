"""Each small set has a datasheet: rows, fields, licence, canary, and scores of real models beside naive baselines."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pytest_puma.platform.bundled import bundled_folder
from pytest_puma.scenarios.small import SMALL_SETS
from tests.small_sets.rows import FIELDS, FORMATS
from tools.data.rows import CANARY

SHEETS = bundled_folder("data") / "datasheets"
README = (bundled_folder("data") / "README.md").read_text(encoding="utf-8")
TOO_HARD = "**Too hard for models of this size.**"
#: Parts of the names of the real models.
REAL = ("SmolLM2", "Gemma")
#: A value with its interval, as `0.2 [0.1, 0.3]`; the value alone without one.
VALUE = re.compile(r"(?P<value>[\d.]+)(?: \[(?P<low>[\d.]+), (?P<high>[\d.]+)\])?")

sets = pytest.mark.parametrize("name", SMALL_SETS)


def sheet(name: str) -> str:
    return (SHEETS / f"{name}.md").read_text(encoding="utf-8")


def scores(name: str) -> list[tuple[str, str, re.Match[str]]]:
    """The program, the metric and the value of each line of the table of scores."""
    table = sheet(name).partition("\n## Scores\n")[2].partition("\n## ")[0]
    lines = [line.strip("|").split("|") for line in table.splitlines() if line.startswith("|")][2:]
    values = [(line[0].strip(), line[3].strip().strip("`"), VALUE.fullmatch(line[4].strip())) for line in lines]
    return [(program, metric, value) for program, metric, value in values if value is not None]


def test_each_set_has_a_datasheet_and_the_readme_links_to_it() -> None:
    assert {path.stem for path in Path(SHEETS).glob("*.md")} == set(SMALL_SETS)
    assert all(f"(datasheets/{name}.md)" in README for name in SMALL_SETS)


@sets
def test_a_datasheet_has_canary_licence_files_rows_and_fields(name: str) -> None:
    text = sheet(name)
    assert text.startswith(f"# {name}\n")
    assert f"| canary | `{CANARY}`" in text
    assert "| licence | CC0 1.0 |" in text
    assert f"| scenario | `{name}`" in text
    assert "\n## Known limits\n\n- " in text
    for file in (each for each in (name, f"{name}_dev") if each in FIELDS):
        fields, rows = FIELDS[file]
        assert f"`{file}.jsonl`" in text
        assert re.search(rf"\b{rows}\b", text)
        assert all(f"`{field}`" in text for field in {"id", *fields})
    assert all(f"`{field}`" in text for fields in FORMATS.values() for field in fields) or name != "formats"


@sets
def test_a_real_model_beats_the_naive_baselines_or_the_datasheet_says_that_it_is_too_hard(name: str) -> None:
    primary = SMALL_SETS[name]().primary_metric()
    rows = [(program, value) for program, metric, value in scores(name) if metric == primary]
    real = [float(value["low"]) for program, value in rows if program.startswith(REAL) and value["low"]]
    # An echo repeats the prompt: the limits of a set say what that is worth.
    others = [(program, value) for program, value in rows if program != "naive `echo`"]
    naive = [float(value["value"]) for program, value in others if program.startswith("naive")]
    assert real
    assert naive
    assert max(real) > max(naive) or TOO_HARD in sheet(name), rows


def test_the_readme_has_the_canary_the_licence_and_each_file_with_its_rows() -> None:
    assert CANARY in README
    assert "CC0" in README
    for name, (fields, count) in FIELDS.items():
        (line,) = [line for line in README.splitlines() if line.startswith(f"| `{name}.jsonl` | {count} |")]
        assert all(f"`{field}`" in line for field in fields), name
