from __future__ import annotations

import hashlib
import runpy
import shutil
import sys
from pathlib import Path
from types import ModuleType
from typing import ClassVar

import pytest

from pytest_puma.core import DataError, DataSource
from pytest_puma.platform import bundled
from pytest_puma.scenarios import FileScenario, TriageJiraScenario, draw

ROWS = "id,text,kind\n" + "".join(f"R-{n},text {n},{'functional' if n % 4 else 'quality'}\n" for n in range(1, 41))


class Requirements(FileScenario):
    name = "requirements"
    task_type = "classification"
    data = "requirements.csv"
    key: ClassVar[str | None] = "id"
    text_fields = ("text",)
    label_column = "kind"

    def valid_labels(self) -> list[str]:
        return ["functional", "quality"]

    def parse_response(self, response: str) -> str | None:
        return response or None


class BalancedRequirements(Requirements):
    balanced = True


@pytest.fixture
def rows_file(tmp_path: Path) -> Path:
    file = tmp_path / "mine.csv"
    file.write_text(ROWS)
    return file


@pytest.fixture
def user_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A module of a user's project, to which `Requirements` is made to belong."""
    module = ModuleType("test_requirements_of_a_user")
    module.__file__ = str(tmp_path / "test_requirements.py")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(Requirements, "__module__", module.__name__)
    return tmp_path


def keys(scenario: FileScenario, n: int, seed: int = 42) -> list[str]:
    return [str(key) for key in scenario.sample(n, seed)[scenario.key]]


def test_a_class_with_a_few_declarations_is_a_scenario(rows_file: Path) -> None:
    scenario = Requirements(rows_file)
    (row,) = scenario.sample(1).to_dict("records")
    assert set(row) == {"id", "text", "kind"}
    assert scenario.gold_label({str(name): value for name, value in row.items()}) == row["kind"]


def test_a_sample_is_a_prefix_of_any_longer_one(rows_file: Path) -> None:
    scenario = Requirements(rows_file)
    assert all(keys(scenario, n) == keys(scenario, 40)[:n] for n in range(41))


def test_more_rows_than_there_are_gives_all_of_them(rows_file: Path) -> None:
    assert sorted(keys(Requirements(rows_file), 1000)) == sorted(f"R-{n}" for n in range(1, 41))


def test_the_seed_and_nothing_else_decides_the_order(rows_file: Path, tmp_path: Path) -> None:
    moved = tmp_path / "moved.csv"
    header, *lines = ROWS.splitlines()
    moved.write_text("\n".join([header, *reversed(lines)]))
    assert keys(Requirements(moved), 40) == keys(Requirements(rows_file), 40)
    assert keys(Requirements(rows_file), 40, seed=1) != keys(Requirements(rows_file), 40, seed=2)


def test_a_row_more_in_the_file_leaves_the_order_of_the_others(rows_file: Path, tmp_path: Path) -> None:
    longer = tmp_path / "longer.csv"
    longer.write_text(ROWS + "R-41,one more,quality\n")
    assert [key for key in keys(Requirements(longer), 41) if key != "R-41"] == keys(Requirements(rows_file), 40)


def test_a_balanced_sample_takes_turns_until_a_label_runs_out(rows_file: Path) -> None:
    kinds = list(BalancedRequirements(rows_file).sample(40)["kind"])
    for start in range(0, 20, 2):
        assert sorted(kinds[start : start + 2]) == ["functional", "quality"]
    assert set(kinds[20:]) == {"functional"}
    assert kinds[:20:2] != kinds[2:22:2]


def test_the_order_within_a_round_is_shuffled() -> None:
    kinds = list(TriageJiraScenario().sample(200)["priority"])
    turns = [tuple(kinds[start : start + 4]) for start in range(0, 200, 4)]
    assert all(sorted(turn) == ["Critical", "Major", "Minor", "Trivial"] for turn in turns)
    assert len(set(turns)) > 10


def test_the_file_is_read_once(rows_file: Path) -> None:
    scenario = Requirements(rows_file)
    before = keys(scenario, 10)
    rows_file.unlink()
    assert keys(scenario, 10) == before


def test_a_sample_changed_by_its_user_leaves_the_rows_alone(rows_file: Path) -> None:
    scenario = Requirements(rows_file)
    sample = scenario.sample(40)
    sample["text"] = "overwritten"
    assert "overwritten" not in set(scenario.rows["text"])


def test_the_source_is_the_file_with_its_digest(rows_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    digest = hashlib.sha256(ROWS.encode()).hexdigest()
    assert Requirements(rows_file).source() == DataSource(name=rows_file.as_posix(), digest=digest)
    monkeypatch.chdir(rows_file.parent)
    assert Requirements(rows_file).source() == DataSource(name="mine.csv", digest=digest)
    assert Requirements(Path("mine.csv")).source() == DataSource(name="mine.csv", digest=digest)
    assert Requirements(Path("../") / rows_file.parent.name / "mine.csv").source().name.startswith("../")


def test_bundled_data_are_named_alike_from_everywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert TriageJiraScenario().source().name == "data/jira_balanced_200.csv"


def test_a_declared_file_lies_beside_the_module_of_its_class(user_module: Path) -> None:
    (user_module / "requirements.csv").write_text(ROWS)
    assert Requirements().path == user_module / "requirements.csv"
    assert len(Requirements().rows) == 40


def test_a_subclass_elsewhere_inherits_the_file(user_module: Path) -> None:
    (user_module / "requirements.csv").write_text(ROWS)
    assert BalancedRequirements().path == user_module / "requirements.csv"


def test_a_subclass_of_a_bundled_scenario_inherits_its_data() -> None:
    class Mine(TriageJiraScenario):
        name = "mine"

    assert len(Mine().rows) == 200


def test_a_missing_declared_file_is_named_where_it_was_expected(user_module: Path) -> None:
    with pytest.raises(DataError, match=r"requirements\.csv: cannot be read \(No such file or directory\)") as caught:
        Requirements().sample(1)
    assert user_module.as_posix() in str(caught.value)


@pytest.mark.parametrize("name", ["absent.csv", "."])
def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(DataError, match="cannot be read"):
        Requirements(tmp_path / name).sample(1)


def test_a_fault_in_the_file_names_file_row_and_column(tmp_path: Path) -> None:
    file = tmp_path / "mine.csv"
    file.write_text(ROWS.replace("R-16,text 16,quality", "R-16,text 16,speed"))
    with pytest.raises(DataError, match=r"mine\.csv: row 17 \(key R-16\), column 'kind': found 'speed'"):
        Requirements(file).sample(1)


def test_other_data_bring_no_examples_of_the_bundled_pool(tmp_path: Path) -> None:
    file = tmp_path / "mine.csv"
    file.write_text("key,summary,description,priority\nX-1,t,d,major\n")
    bundled_pool = TriageJiraScenario().examples()
    assert bundled_pool is not None
    assert len(bundled_pool) == 32
    assert TriageJiraScenario(file).examples() is None


def test_rows_without_a_key_are_ordered_by_their_content(tmp_path: Path) -> None:
    class Keyless(Requirements):
        key = None

    file, moved = tmp_path / "mine.csv", tmp_path / "moved.csv"
    header, *lines = ROWS.splitlines()
    file.write_text(ROWS)
    moved.write_text("\n".join([header, *reversed(lines)]))
    assert list(Keyless(file).sample(9)["text"]) == list(Keyless(moved).sample(9)["text"])


def test_bundled_files_are_found_in_a_wheel_and_in_the_repository(tmp_path: Path) -> None:
    module = tmp_path / "pytest_puma" / "platform" / "bundled.py"
    module.parent.mkdir(parents=True)
    shutil.copy(bundled.__file__, module)
    bundled_folder = runpy.run_path(str(module))["bundled_folder"]
    assert bundled_folder("data") == tmp_path / "data"
    installed = tmp_path / "pytest_puma" / "bundled" / "data"
    installed.mkdir(parents=True)
    assert bundled_folder("data") == installed
    assert bundled_folder("prompts") == tmp_path / "prompts"


class Keyless(Requirements):
    key: ClassVar[str | None] = None


class Dropping(Keyless):
    duplicates = "drop"


def test_equal_rows_of_a_file_are_known_by_their_row_numbers(tmp_path: Path) -> None:
    file = tmp_path / "mine.csv"
    file.write_text("text,kind\nrefused,quality\ncharged,functional\nrefused,quality\nrefused,functional\n")
    samples = draw(Keyless(file), 9, 42)
    assert {(sample.row, sample.equal_row) for sample in samples} == {
        ("row 2", ""),
        ("row 3", ""),
        ("row 4", "row 2"),
        ("row 5", ""),
    }
    assert [sample.row for sample in draw(Dropping(file), 3, 42)] == [s.row for s in samples if not s.equal_row]


def test_a_file_with_a_key_may_drop_equal_rows_but_no_others(tmp_path: Path) -> None:
    class Keyed(Dropping):
        key: ClassVar[str | None] = "id"

    file = tmp_path / "mine.csv"
    file.write_text("id,text,kind\nR-1,a,quality\nR-1,a,quality\nR-2,b,quality\n")
    assert sorted(keys(Keyed(file), 9)) == ["R-1", "R-2"]
    with pytest.raises(DataError, match=r"row 3 \(key R-1\), column 'id': row 2 has the same key; .* leaves out equal"):
        Requirements(file).sample(9)
