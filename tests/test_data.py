"""The rules that the bundled data keep: nothing but the meaning of the text tells the answer."""

from __future__ import annotations

import csv
import re
from collections import Counter
from itertools import pairwise
from pathlib import Path
from statistics import mean, median

import pytest

from pytest_puma.platform.bundled import bundled_folder
from pytest_puma.scenarios import EstimationTawosScenario, TriageJiraScenario

PRIORITIES = ("Critical", "Major", "Minor", "Trivial")
POINTS = (1, 2, 3, 5, 8, 13, 21, 34)
COLUMNS = {
    "jira_balanced_200.csv": ("issue_key", "title", "description", "priority"),
    "jira_examples.csv": ("issue_key", "title", "description", "priority", "rationale"),
    "backlog_500.csv": ("item_id", "project", "title", "description", "story_points"),
    "backlog_examples.csv": ("item_id", "project", "title", "description", "story_points", "rationale"),
}
LABEL_WORDS = re.compile(
    r"(?i)\b(critical|major|minor|trivial|blocker|severit|severe|priorit|p[0-4]\b)\w*|\bminority\b|\bmajority\b"
)
SIZE_WORDS = re.compile(r"(?i)\b(story points?|points?|estimat\w*|effort\w*|sp|t-shirt)\b")

Rows = list[dict[str, str]]


def load(name: str) -> Rows:
    with (bundled_folder("data") / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, strict=True))


FILES = {name: load(name) for name in COLUMNS}
ISSUES, ISSUE_POOL = FILES["jira_balanced_200.csv"], FILES["jira_examples.csv"]
ITEMS, ITEM_POOL = FILES["backlog_500.csv"], FILES["backlog_examples.csv"]


def key(row: dict[str, str]) -> str:
    return row.get("issue_key") or row["item_id"]


def text(row: dict[str, str]) -> str:
    return f"{row['title']}\n{row['description']}"


def words(row: dict[str, str]) -> int:
    return len(row["description"].split())


def sentences(row: dict[str, str]) -> set[str]:
    """The sentences that no other row may have: without list numbers and headings such as "Acceptance:"."""
    parts = re.split(r"(?<=[.!?])\s+|\n+", row["description"])
    return {" ".join(re.findall(r"\w+", part.lower())) for part in parts if len(part.split()) > 3}


def separation(values: list[float], chosen: list[bool]) -> float:
    """Separation of the chosen rows from the others by a number: the area under the curve, 0.5 is none."""
    inside = [value for value, is_chosen in zip(values, chosen, strict=True) if is_chosen]
    outside = [value for value, is_chosen in zip(values, chosen, strict=True) if not is_chosen]
    wins = sum((a > b) + (a == b) / 2 for a in inside for b in outside)
    return wins / (len(inside) * len(outside))


@pytest.mark.parametrize("name", COLUMNS)
def test_a_file_has_its_columns_and_no_empty_cell(name: str) -> None:
    rows = FILES[name]
    assert all(tuple(row) == COLUMNS[name] for row in rows)
    assert all(cell == cell.strip() and cell for row in rows for cell in row.values())


@pytest.mark.parametrize("name", COLUMNS)
def test_a_file_is_plain_text_that_no_spreadsheet_takes_for_a_formula(name: str) -> None:
    data = (bundled_folder("data") / name).read_bytes()
    assert b"\r" not in data
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f\ufffd]", data.decode("utf-8"))
    assert not [row for row in FILES[name] for cell in row.values() if re.search(r"(?m)^=", cell)]


def test_there_are_fifty_issues_of_each_priority() -> None:
    assert Counter(row["priority"] for row in ISSUES) == dict.fromkeys(PRIORITIES, 50)


def test_there_are_five_hundred_items_with_points_as_backlogs_have_them() -> None:
    points = [int(row["story_points"]) for row in ITEMS]
    assert len(points) == 500
    assert set(points) == set(POINTS)
    assert median(points) == 3
    assert 3.5 <= mean(points) <= 4.5
    assert len({row["project"] for row in ITEMS}) == 10


def test_the_pools_are_large_enough_and_explain_each_answer_in_one_sentence() -> None:
    assert min(Counter(row["priority"] for row in ISSUE_POOL).values()) >= 6
    assert set(Counter(row["priority"] for row in ISSUE_POOL)) == set(PRIORITIES)
    assert len(ITEM_POOL) >= 30
    assert {int(row["story_points"]) for row in ITEM_POOL} <= set(POINTS)
    for row in (*ISSUE_POOL, *ITEM_POOL):
        assert re.fullmatch(r"[A-Z][^.!?\n]+(?:\.\w[^.!?\n]*)*\.", row["rationale"]), row["rationale"]


def test_keys_are_all_different_and_name_no_project_of_both_pool_and_evaluation() -> None:
    keys = [key(row) for rows in FILES.values() for row in rows]
    assert len(keys) == len(set(keys))
    assert all(re.fullmatch(r"[A-Z]+-[1-9]\d*", result) for result in keys)
    evaluated = {key(row).split("-")[0] for row in (*ISSUES, *ITEMS)}
    assert not evaluated & {key(row).split("-")[0] for row in (*ISSUE_POOL, *ITEM_POOL)}


def test_no_title_and_no_sentence_occurs_twice() -> None:
    rows = [row for rows in FILES.values() for row in rows]
    titles = Counter(row["title"].lower() for row in rows)
    lines = Counter(sentence for row in rows for sentence in sentences(row))
    assert [title for title, times in titles.items() if times > 1] == []
    assert [sentence for sentence, times in lines.items() if times > 1] == []


def test_no_two_texts_share_ten_words_in_a_row() -> None:
    owners: dict[tuple[str, ...], str] = {}
    for row in (row for rows in FILES.values() for row in rows):
        result = re.findall(r"\w+", text(row).lower())
        for run in zip(*(result[start:] for start in range(10)), strict=False):
            assert owners.setdefault(run, key(row)) == key(row), " ".join(run)


def test_an_issue_has_ten_to_250_words_and_no_word_of_a_label() -> None:
    rows = [*ISSUES, *ISSUE_POOL]
    assert [key(row) for row in rows if not 10 <= words(row) <= 250 or not 3 <= len(row["title"].split()) <= 14] == []
    assert [(key(row), result[0]) for row in rows if (result := LABEL_WORDS.search(text(row)))] == []


def test_an_item_has_five_to_150_words_and_does_not_tell_its_size() -> None:
    rows = [*ITEMS, *ITEM_POOL]
    assert [key(row) for row in rows if not 5 <= words(row) <= 150 or not 3 <= len(row["title"].split()) <= 14] == []
    assert [(key(row), result[0]) for row in rows if (result := SIZE_WORDS.search(text(row)))] == []


@pytest.mark.parametrize("priority", PRIORITIES)
def test_neither_length_nor_key_nor_place_tells_a_priority(priority: str) -> None:
    chosen = [row["priority"] == priority for row in ISSUES]
    for clue in (
        [words(row) for row in ISSUES],
        [len(row["description"]) for row in ISSUES],
        [len(row["title"].split()) for row in ISSUES],
        [row["description"].count("\n") for row in ISSUES],
        [int(key(row).split("-")[1]) for row in ISSUES],
        list(range(len(ISSUES))),
    ):
        assert 0.4 <= separation([float(value) for value in clue], chosen) <= 0.6


def test_every_project_has_issues_of_all_priorities_alike() -> None:
    counts = Counter((key(row).split("-")[0], row["priority"]) for row in ISSUES)
    assert set(counts.values()) == {5}
    assert len(counts) == 40


def test_neighbours_have_the_same_priority_no_more_often_than_by_chance() -> None:
    # 199 neighbours, a quarter by chance: 49 with a standard deviation of 6.
    assert 31 <= sum(a["priority"] == b["priority"] for a, b in pairwise(ISSUES)) <= 67


def test_length_key_and_place_tell_little_of_the_points() -> None:
    large = [int(row["story_points"]) > 3 for row in ITEMS]
    assert 0.4 <= separation([float(words(row)) for row in ITEMS], large) <= 0.65
    assert 0.45 <= separation([float(key(row).split("-")[1]) for row in ITEMS], large) <= 0.55
    assert 0.45 <= separation([float(place) for place in range(500)], large) <= 0.55


DATASHEET = (bundled_folder("data") / "README.md").read_text(encoding="utf-8")


def test_the_datasheet_tells_the_files_their_columns_and_counts() -> None:
    for name, columns in COLUMNS.items():
        assert name in DATASHEET
        assert all(f"`{column}`" in DATASHEET for column in columns)
    counts = Counter(int(row["story_points"]) for row in ITEMS)
    pool = Counter(int(row["story_points"]) for row in ITEM_POOL)
    for points in POINTS:
        assert re.search(rf"(?m)^\| {points} \| {counts[points]} \| {pool[points]} \|$", DATASHEET)
    for priority in PRIORITIES:
        assert re.search(rf"(?m)^\| {priority} \|[^|]+\| 50 \| 8 \|$", DATASHEET)


@pytest.mark.parametrize("kind", [TriageJiraScenario, EstimationTawosScenario])
def test_the_datasheet_lists_every_column_name_that_is_understood(
    kind: type[TriageJiraScenario | EstimationTawosScenario],
) -> None:
    for column, others in kind.columns.items():
        (line,) = [line for line in DATASHEET.splitlines() if line.startswith(f"| `{kind.name}` | `{column}` |")]
        assert line.split("|")[3].strip() == (", ".join(f"`{name}`" for name in others) or "-")


def test_the_folder_holds_nothing_else() -> None:
    result = {path.name for path in Path(bundled_folder("data")).iterdir()} - {"tawos_clean.csv"}
    small = {name for name in result if name.endswith(".jsonl")}  # tests/small_sets names each
    assert result - small == {*COLUMNS, "README.md", "datasheets"}
