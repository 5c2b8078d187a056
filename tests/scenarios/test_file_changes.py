"""Data files that change during a run, as when another branch is checked out."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_puma.core import DataError
from pytest_puma.datasets.frames import FileLayout
from pytest_puma.scenarios import FileScenario

BEFORE, AFTER = ("id,text,kind\n" + "".join(f"{name}-{n},text,quality\n" for n in range(9)) for name in "RS")


class Requirements(FileScenario):
    name = "requirements"
    task_type = "classification"
    data = "requirements.csv"
    key = "id"
    text_fields = ("text",)
    label_column = "kind"

    def valid_labels(self) -> list[str]:
        return ["quality"]

    def parse_response(self, response: str) -> str | None:
        return response or None


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "mine.csv"
    path.write_text(BEFORE, encoding="utf-8")
    return path


def test_the_digest_is_that_of_the_rows_that_were_read(file: Path) -> None:
    scenario = Requirements(file)
    before, rows = scenario.source(), scenario.sample(9)
    file.write_text(AFTER, encoding="utf-8")
    assert scenario.source() == before
    assert list(scenario.sample(9)["id"]) == list(rows["id"])
    assert Requirements(file).source() != before


def test_a_file_that_changes_while_it_is_read_is_an_error(file: Path) -> None:
    class Changing(Requirements):
        def layout(self) -> FileLayout:
            file.write_text(AFTER, encoding="utf-8")
            return super().layout()

    with pytest.raises(DataError, match=r"mine\.csv: changed while it was read; leave it alone while a run begins"):
        Changing(file).sample(1)


def test_the_pool_of_examples_is_read_once(file: Path) -> None:
    class Pooled(Requirements):
        data = str(file)
        pool = str(file)

    scenario = Pooled()
    before = scenario.examples()
    file.unlink()
    assert scenario.examples() is before is not None
