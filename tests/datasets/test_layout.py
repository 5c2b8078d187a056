from __future__ import annotations

import pytest

from pytest_puma.core import DataError
from pytest_puma.datasets.frames import FileLayout, Table, arrange
from pytest_puma.task_types import KINDS

POINTS = FileLayout(
    key="item_id",
    text=("title", "description"),
    label="story_points",
    kind=KINDS["regression"],
    names={
        "item_id": ("key", "id"),
        "title": ("summary",),
        "story_points": ("story point",),
        "project": ("project key",),
    },
)
PRIORITIES = FileLayout(
    key="key",
    text=("title",),
    label="priority",
    kind=KINDS["classification"],
    labels=("Critical", "Major", "a", "A"),
)


def table(header: str, *rows: str) -> Table:
    """Columns are separated by a bar; `-` is a cell the file does not have."""
    cells = [tuple(None if cell == "-" else cell for cell in row.split("|")) for row in rows]
    return Table(name="data.csv", header=tuple(header.split("|")), rows=tuple(enumerate(cells, start=2)))


def arranged(layout: FileLayout, header: str, *rows: str) -> list[dict[str, str]]:
    frame = arrange(table(header, *rows), layout)
    return [{str(name): cell for name, cell in row.items()} for row in frame.to_dict("records")]


def fault(layout: FileLayout, header: str, *rows: str) -> str:
    with pytest.raises(DataError) as caught:
        arrange(table(header, *rows), layout)
    return str(caught.value)


@pytest.mark.parametrize(
    "header",
    [
        "item_id|title|description|story_points",
        "Item ID|Title|DESCRIPTION|Story Points",
        "item-id|summary|description|storypoint",
        "KEY|Summary|Description|Story-Point",
        "id|title|description|STORY_POINT",
        " key | title |description|storypoints",
    ],
)
def test_columns_are_known_by_any_of_their_names(header: str) -> None:
    assert arranged(POINTS, header, "X-1|a title|some text|3") == [
        {"item_id": "X-1", "title": "a title", "description": "some text", "story_points": "3"}
    ]


def test_the_trackers_internal_number_gives_way_to_a_key() -> None:
    (row,) = arranged(POINTS, "id|key|title|description|story_points", "10017|X-1|t|d|3")
    assert (row["item_id"], row["id"]) == ("X-1", "10017")


def test_other_columns_stay_and_a_repeated_one_counts_once() -> None:
    (row,) = arranged(POINTS, "key|title|description|story_points|Comment|Comment||project-key", "X|t|d|3|one|two|x|P")
    assert row["Comment"] == "one"
    assert row["project"] == "P"
    assert list(row) == ["item_id", "title", "description", "story_points", "project", "Comment"]


@pytest.mark.parametrize("cell", ["-", "", "  ", "NULL", "null", "NaN", "nan", "\\N"])
def test_a_missing_description_is_empty_text(cell: str) -> None:
    (row,) = arranged(POINTS, "key|title|description|story_points", f"X-1|t|{cell}|3")
    assert row["description"] == ""


def test_line_ends_and_outer_blanks_are_evened_out() -> None:
    (row,) = arranged(POINTS, "key|title|description|story_points", " X-1 | t |a\r\nb\rc\n\n| 3 ")
    assert (row["item_id"], row["title"], row["description"], row["story_points"]) == ("X-1", "t", "a\nb\nc", "3")


@pytest.mark.parametrize(("result", "gold"), [("3", "3"), ("3.0", "3"), ("0.5", "0.5"), ("100", "100"), (" 5 ", "5")])
def test_numbers_are_spelled_alike(result: str, gold: str) -> None:
    (row,) = arranged(POINTS, "key|title|description|story_points", f"X-1|t|d|{result}")
    assert row["story_points"] == gold


@pytest.mark.parametrize(("result", "gold"), [("major", "Major"), ("CRITICAL", "Critical"), ("a", "a"), ("A", "A")])
def test_labels_are_matched_in_any_case_their_own_first(result: str, gold: str) -> None:
    (row,) = arranged(PRIORITIES, "key|title|priority", f"X-1|t|{result}")
    assert row["priority"] == gold


def test_the_kind_of_the_task_says_which_gold_answers_are_valid() -> None:
    layout = FileLayout(key="id", text=("question",), label="answer", kind=KINDS["completion"])
    rows = arranged(layout, "id|question|answer", "1|Why?|Because.", "2|When?|-")
    assert [row["answer"] for row in rows] == ["Because.", ""]


@pytest.mark.parametrize("text", ["", "abc", "nan", "inf", "-inf", "3 points", "1,5"])
def test_no_number_is_no_gold_answer(text: str) -> None:
    assert POINTS.gold(text) is None


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        (["X-1|t|d|3", "X-2|t|d|-"], "data.csv: row 3 (key X-2), column 'SP': found nothing, expected a finite number"),
        (["X-1|t|d|NaN"], "data.csv: row 2 (key X-1), column 'SP': found nothing, expected a finite number"),
        (["X-1|t|d|many"], "data.csv: row 2 (key X-1), column 'SP': found 'many', expected a finite number"),
        (["X-1|t|d|3", "X-2|t|d|3", "X-1|u|e|5"], "data.csv: row 4 (key X-1), column 'ID': row 2 has the same key"),
        (["NULL|t|d|3"], "data.csv: row 2, column 'ID': there is no key"),
        (["X-1|-|NULL|3"], "data.csv: row 2 (key X-1), column 'title': nothing to read in title and description"),
    ],
)
def test_a_row_that_cannot_be_scored_is_named(rows: list[str], sentence: str) -> None:
    layout = FileLayout(
        key="id", text=("title", "description"), label="points", kind=KINDS["regression"], names={"points": ("sp",)}
    )
    assert fault(layout, "ID|title|description|SP", *rows).startswith(sentence)


def test_an_unknown_label_is_named_with_those_there_are() -> None:
    assert fault(PRIORITIES, "key|title|priority", "X-1|t|Blocker").startswith(
        "data.csv: row 2 (key X-1), column 'priority': found 'Blocker', expected one of Critical, Major, a, A"
    )


def test_the_first_fault_is_described_and_the_others_are_counted() -> None:
    message = fault(PRIORITIES, "key|title|priority", "X-1|t|Blocker", "X-2|t|Major", "X-3|t|High", "X-4|t|-")
    assert "row 2 (key X-1)" in message
    assert message.endswith("(2 more faults in the file)")
    two = fault(PRIORITIES, "key|title|priority", "X-1|t|Blocker", "X-2|t|-")
    assert two.endswith("(1 more fault in the file)")


def test_a_missing_column_is_named_with_the_names_it_may_have() -> None:
    assert fault(POINTS, "key|summary|description", "X-1|t|d") == (
        "data.csv: no column 'story_points' (also understood: story point); the file has: key, summary, description"
    )


@pytest.mark.parametrize(
    ("header", "names"),
    [
        ("key|title|Summary|description|story_points", "'title' and 'Summary'"),
        ("key|title|description|Story Points|story_points", "'Story Points' and 'story_points'"),
        ("key|title|description|description|story_points", "'description' and 'description'"),
        ("item_id|key|title|description|story_points", "'item_id' and 'key'"),
    ],
)
def test_two_columns_of_one_meaning_are_refused(header: str, names: str) -> None:
    message = fault(POINTS, header, "|".join("1" for _ in header.split("|")))
    assert message.startswith(f"data.csv: the columns {names} both mean")
