"""Groups of rows: they take turns, lend their own examples, and are selected by subject."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any, ClassVar

import pandas as pd
import pytest

from pytest_puma.core import DataError, SettingsError
from pytest_puma.datasets.fields import group_values
from pytest_puma.datasets.sampling import examples_by_group
from pytest_puma.scenarios import FileScenario, draw, example_rows
from tests.scenarios.custom import Custom, frame

#: Rows of each subject, half of them with each label but for `law`.
SIZES = {"law": 20, "medicine": 8, "chess": 4}


def rows() -> list[tuple[str, str, str]]:
    made = [(subject, f"{subject[0].upper()}-{n}") for subject, size in SIZES.items() for n in range(size)]
    return [
        (row, subject, "yes" if n % (4 if subject == "law" else 2) else "no") for n, (subject, row) in enumerate(made)
    ]


class Exams(FileScenario):
    name = "exams"
    task_type = "classification"
    data = "exams.csv"
    key = "id"
    text_fields = ("text",)
    label_column = "gold"
    group_columns: ClassVar[tuple[str, ...]] = ("subject",)

    def valid_labels(self) -> list[str]:
        return ["yes", "no"]

    def parse_response(self, response: str) -> str | None:
        return response


class BalancedExams(Exams):
    balanced = True


def written(path: Path, lines: list[tuple[str, str, str]]) -> Path:
    text = "".join(f"{row},question {row},{subject},{gold}\n" for row, subject, gold in lines)
    path.write_text(f"id,text,Subject,gold\n{text}", encoding="utf-8")
    return path


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return written(tmp_path / "exams.csv", rows())


def subjects(scenario: Exams, n: int, **options: Any) -> Counter[str]:
    return Counter(sample.groups["subject"] for sample in draw(scenario, n, 42, **options))


def grouped(n: int, **columns: Any) -> Custom:
    """A scenario that no file orders: its groups stand one behind the other."""
    half = ["law"] * (n // 2) + ["chess"] * (n - n // 2)
    return Custom(frame(n, subject=half, **columns), key="id", group_columns=("subject",))


def test_samples_have_the_text_of_each_group_column(file: Path) -> None:
    (sample,) = draw(Exams(file), 1, 42)
    assert sample.groups == {"subject": sample.fields["subject"]}
    assert sample.group == (sample.fields["subject"],)

    years = Custom(frame(2, year=[2024.0, 2025.0]), group_columns=("year",))
    assert [each.groups for each in draw(years, 2, 42)] == [{"year": "2024"}, {"year": "2025"}]


def test_a_scenario_without_group_columns_has_no_groups() -> None:
    assert [each.groups for each in draw(Custom(frame(2), key="id"), 2, 42)] == [{}, {}]


def test_a_missing_group_column_is_refused_with_the_columns_there_are(tmp_path: Path) -> None:
    path = tmp_path / "plain.csv"
    path.write_text("id,text,gold\nL-1,question,yes\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"no column 'subject'; the file has: id, text, gold$"):
        draw(Exams(path), 1, 42)
    custom = Custom(frame(2), group_columns=("subject",))
    for options in ({}, {"subjects": ["law"]}):
        with pytest.raises(DataError, match=r"its rows have no column 'subject'; they have: id, text, gold$"):
            draw(custom, 1, 42, **options)


def test_groups_take_turns_as_long_as_they_have_rows(file: Path) -> None:
    assert subjects(Exams(file), 3) == {"law": 1, "medicine": 1, "chess": 1}
    assert subjects(Exams(file), 12) == {"law": 4, "medicine": 4, "chess": 4}
    assert subjects(Exams(file), 20) == {"law": 8, "medicine": 8, "chess": 4}
    assert subjects(Exams(file), 99) == SIZES


@pytest.mark.parametrize("kind", [Exams, BalancedExams])
def test_a_sample_begins_a_longer_one_whatever_the_order_of_the_file(file: Path, kind: type[Exams]) -> None:
    whole = [sample.id for sample in draw(kind(file), 32, 42)]
    assert all([sample.id for sample in draw(kind(file), n, 42)] == whole[:n] for n in range(1, 33))

    written(file, rows()[::-1])
    assert [sample.id for sample in draw(kind(file), 32, 42)] == whole
    assert [sample.id for sample in draw(kind(file), 32, 43)] != whole


def test_in_a_balanced_scenario_the_labels_of_each_group_take_turns(file: Path) -> None:
    counts = Counter((sample.groups["subject"], sample.gold) for sample in draw(BalancedExams(file), 12, 42))
    assert counts == {(subject, label): 2 for subject in SIZES for label in ("yes", "no")}

    firsts = {sample.gold for seed in range(9) for sample in draw(BalancedExams(file), 3, seed)}
    assert firsts == {"yes", "no"}, "not all groups begin with one label"


@pytest.mark.parametrize("patterns", [["law"], ["LAW"], ["l*"], ["law", "l?w"]])
def test_subjects_select_the_groups_that_match_a_pattern(file: Path, patterns: list[str]) -> None:
    assert subjects(Exams(file), 10, subjects=patterns) == {"law": 10}


def test_several_subjects_take_turns_too(file: Path) -> None:
    assert subjects(Exams(file), 10, subjects=["law", "med*"]) == {"law": 5, "medicine": 5}
    assert subjects(Exams(file), 99, subjects=["chess"]) == {"chess": 4}


def test_the_samples_of_a_subject_are_those_of_the_whole_in_the_same_order(file: Path) -> None:
    law = [sample for sample in draw(Exams(file), 32, 42) if sample.groups["subject"] == "law"]
    assert draw(Exams(file), 20, 42, ["law"]) == tuple(law)


def test_rows_are_drawn_until_enough_match() -> None:
    # The second group begins at row 50.
    assert [sample.id for sample in draw(grouped(100), 3, 42, ["chess"])] == ["Q-50", "Q-51", "Q-52"]
    assert len(draw(grouped(100), 99, 42, ["chess"])) == 50


def test_a_subject_of_any_group_column_selects() -> None:
    rows = frame(4, subject=["law", "law", "chess", "chess"], language=["en", "de", "en", "de"])
    scenario = Custom(rows, key="id", group_columns=("subject", "language"))
    assert [sample.id for sample in draw(scenario, 4, 42, ["de"])] == ["Q-1", "Q-3"]
    assert group_values(scenario, 42) == ("chess", "de", "en", "law")


def test_a_subject_that_matches_nothing_is_refused_with_the_nearest(file: Path) -> None:
    sentence = r"^subject 'laws' matches no group of exams; did you mean 'law'\? there are: chess, law, medicine$"
    with pytest.raises(SettingsError, match=sentence):
        draw(Exams(file), 3, 42, ["laws"])


def test_examples_are_rows_of_the_same_group(file: Path) -> None:
    samples = draw(Exams(file), 6, 42)
    examples = examples_by_group(Exams(file), 2, 42, samples)

    assert examples.keys() == {(subject,) for subject in SIZES}
    for (subject,), own in examples.items():
        assert {example["subject"] for example in own} == {subject}
        assert {example["gold_label"] for example in own} == {"yes", "no"}
        assert not {example["id"] for example in own} & {sample.id for sample in samples}
    fewer = examples_by_group(Exams(file), 1, 42, samples)
    assert all(fewer[group] == own[:1] for group, own in examples.items())


def test_without_groups_all_samples_have_the_examples_that_one_draw_gives() -> None:
    scenario = Custom(frame(8), key="id")
    samples = draw(scenario, 4, 42)
    assert examples_by_group(scenario, 3, 42, samples) == {
        (): example_rows(scenario, 3, 42, {sample.id for sample in samples})
    }


def test_a_group_with_too_few_examples_is_named(file: Path) -> None:
    samples = draw(Exams(file), 12, 42)
    sentence = "scenario 'exams', group 'chess': 2 examples requested, 0 there that are not among the 4 samples"
    with pytest.raises(SettingsError, match=sentence):
        examples_by_group(Exams(file), 2, 42, samples)


def test_examples_of_different_groups_may_share_a_unit_but_those_of_one_prompt_may_not() -> None:
    """A sentence in two languages is one unit, and each language shows it in prompts of its own."""
    subjects = ["law"] * 3 + ["chess"] * 3
    pool = frame(6, id=list("abcdef"), subject=subjects, sentence=["1", "1", "2", "1", "2", "2"])
    rows = frame(4, subject=["law", "law", "chess", "chess"], sentence=list("wxyz"))
    scenario = Custom(rows, pool, key="id", group_columns=("subject",), unit_columns=("sentence",))
    samples = draw(scenario, 4, 42)

    examples = examples_by_group(scenario, 2, 42, samples)
    assert {group: {row["sentence"] for row in own} for group, own in examples.items()} == {
        ("law",): {"1", "2"},
        ("chess",): {"1", "2"},
    }
    with pytest.raises(SettingsError, match="3 examples requested, 2 there"):
        examples_by_group(scenario, 3, 42, samples)


def test_examples_of_a_pool_are_of_the_group_too() -> None:
    pool = frame(4, id=list("abcd"), subject=["law", "law", "chess", "chess"])
    scenario = grouped(8)
    scenario.pool = pool
    examples = examples_by_group(scenario, 2, 42, draw(scenario, 8, 42))
    assert {group: {row["id"] for row in own} for group, own in examples.items()} == {
        ("law",): {"a", "b"},
        ("chess",): {"c", "d"},
    }
    scenario.pool = pd.DataFrame(frame(2))
    with pytest.raises(DataError, match="no column 'subject'"):
        examples_by_group(scenario, 1, 42, draw(scenario, 8, 42))
