from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_puma.replies.answers import FIBONACCI, snap_fibonacci
from pytest_puma.scenarios import EstimationTawosScenario, draw
from pytest_puma.scenarios.estimation_tawos import MAXIMUM
from pytest_puma.task_types.regression import number_text
from tests.factories import task

SCENARIO = EstimationTawosScenario()


@pytest.mark.parametrize(
    ("response", "answer"),
    [
        ("3", "3"),
        ("5.", "5"),
        ("**8**", "8"),
        ("_8_", "8"),
        ("13 points", "13"),
        ("story points: 8", "8"),
        ("Story Points=8", "8"),
        ("3pts", "3"),
        ("21SP", "21"),
        ("~5", "5"),
        ("3 (an ordinary story)", "3"),
        ("5, several parts", "5"),
        ("5\n\nIt has 2 parts", "5"),
        ("I estimate 5 because of 2 unknowns.", "5"),
        ("I would estimate this item at 8 story points.", "8"),
        ("The story points are: 2", "2"),
        ("Estimate this one: 10", "10"),
        ("It will take 3 days, so 5 points.", "5"),
        ("4", "3"),
        ("4.0", "3"),
        ("4.2", "5"),
        ("6", "5"),
        ("7", "8"),
        ("9", "8"),
        ("10", "10"),
        ("11", "11"),
        ("12", "13"),
        ("20", "21"),
        ("40", "40"),
        ("100", "100"),
        ("0", "1"),
        ("0.5", "1"),
        (".5", "1"),
        ("2.5", "2"),
        ("6.5", "6.5"),
        ("10.50", "10.5"),
        ("- 3", "3"),
        ("\uff15", "5"),
        ("\\boxed{13}", "13"),
        ('{"story_points": 8}', "8"),
        ("<item>\nTitle: Pages of 404s\n</item>\n\n5", "5"),
        # A range, an excerpt of the scale.
        ("3-5", None),
        ("3 - 5", None),
        ("3\u20135", None),
        ("between 5 and 8", None),
        ("5/8", None),
        ("1, 2, 3, 5", None),
        ("Estimate an item in story points, on the scale 1,", None),
        ("- 1: a one-line change", None),
        # No estimate can be so large, or negative.
        ("101", None),
        ("2022", None),
        ("1,000", None),
        ("1,234,567.5 hours", None),
        ("-3", None),
        ("\u22123", None),
        ("points: -3", None),
        # A number of something else.
        ("The 2022 202", None),
        ("page 404s", None),
        ("14:04", None),
        ("30 days", None),
        ("a 28-point increase", None),
        ("1. Increase the session lifetime", None),
        ("1. 1.1.1.1", None),
        # The number of a list item, and what opens an item.
        ("1. 1.1.1.1\n2. 1.1.1", None),
        ("1. 1.\n<item>", None),
        ("1. 5", None),
        ("1. Split it\n2. Test it\n3", None),
        ("1) Split it\n2) Test it\n3)", None),
        ("1. Split it\n2. Test it\n\n8", "8"),
        ("1. Split it\n\nThe story points are 5.", "5"),
        ("1. Estimate: 3", "3"),
        ("5\n\n1. It has parts\n2. It needs tests", "5"),
        (f"{'9' * 5000}. So\n2", "2"),
        ("1,2345", None),
        ("The S3 bucket and OAuth2 need 5 keys", None),
        ("UTF-8 in v1.2 of DRIFT-112", None),
        ("<item>\nTitle: Increase session lifetime to 30 days\n", None),
        ("The item is:\n<item>\nStory points: 3", None),
        ("The item is 1.\n\nThe item is 2.", None),
        ("five", None),
        ("S3", None),
        ("no idea.", None),
        ("", None),
        ("9" * 400, None),
    ],
)
def test_the_estimate_is_the_answer_on_the_point_series_where_it_is_near(response: str, answer: str | None) -> None:
    assert SCENARIO.parse_response(response) == answer


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("It needs 3 days. The story points are 5.", "5"),
        ("Several parts. Answer: 8", "8"),
        ("8", "8"),
        ("Small.\nAnswer: 2\n\n<item>\nTitle: t\n</item>\nAnswer: 13", "2"),
        ("<item>\nTitle: t\n</item>\n\nAnswer: 1", "1"),
        ("Question: How many days until the release? Answer: 24.", None),
        ("A change.\n\nQuestion: How many days?\n\nAnswer: 24.", None),
        ("Answer: 1, 2, 3, 5, 8", None),
        ("Answer: 2024", None),
        ("The timeout is 30. It has 3 parts.", None),
    ],
)
def test_without_an_answer_line_a_statement_counts(reply: str, answer: str | None) -> None:
    assert task(SCENARIO).read_final(reply) == answer


@given(st.sampled_from(FIBONACCI), st.sampled_from(["", "\n", "**", "Story points: ", "I'd say "]), st.text())
def test_a_point_value_that_opens_a_reply_is_read(points: int, before: str, after: str) -> None:
    later = re.search(r"\d", after) is not None
    answer = SCENARIO.parse_response(f"{before}{points}\n\n{after}")
    assert answer == str(points) or later


WORDS = [
    "1",
    "3.5",
    "5",
    "40",
    "404",
    "2022",
    "7-8",
    "14:04",
    "story points",
    "is",
    "the estimate",
    ":",
    ",",
    "\n",
    "days",
]


@given(st.text() | st.lists(st.sampled_from(WORDS)).map(" ".join))
def test_what_is_read_is_a_possible_number_of_the_text(text: str) -> None:
    numbers = {float(number) for number in re.findall(r"\d*\.\d+|\d+", text)}
    possible = {number_text(snap_fibonacci(number)) for number in numbers if number <= MAXIMUM}
    for answer in (SCENARIO.parse_response(text), SCENARIO.parse_conclusion(text)):
        assert answer is None or (answer in possible and 0 < float(answer) <= MAXIMUM)


def test_the_labels_are_the_point_series() -> None:
    assert SCENARIO.valid_labels() == ["1", "2", "3", "5", "8", "13", "21", "34", "55", "89"]
    assert SCENARIO.primary_metric() == "mae"


def test_gold_is_not_snapped(tmp_path: Path) -> None:
    file = tmp_path / "mine.csv"
    file.write_text("issuekey,title,description,storypoint\nX-1,t,d,0.5\nX-2,t,d,100\nX-3,t,d,4.0\n")
    assert {sample.gold for sample in draw(EstimationTawosScenario(file), 9, 42)} == {"0.5", "100", "4"}


@pytest.mark.parametrize(
    "header",
    [
        "issuekey,title,description,storypoint",
        "Issue_Key,Title,Description,Story_Point",
        "Issue key,Summary,Description,Custom field (Story Points)",
        "Issue key,Summary,Description,Custom field (Story point estimate)",
        "id,title,body,points",
        "key,summary,description,story point estimate",
    ],
)
def test_the_usual_exports_are_understood(tmp_path: Path, header: str) -> None:
    file = tmp_path / "mine.csv"
    file.write_text(f"{header}\nX-1,a title,some text,3\n")
    (sample,) = draw(EstimationTawosScenario(file), 9, 42)
    assert (sample.id, sample.fields["title"], sample.fields["description"], sample.gold) == (
        "X-1",
        "a title",
        "some text",
        "3",
    )


def test_the_whole_table_of_the_research_data_is_understood(tmp_path: Path) -> None:
    file = tmp_path / "tawos.csv"
    file.write_text(
        "ID,Jira_ID,Issue_Key,URL,Title,Description,Description_Text,Type,Story_Point,Project_ID\n"
        "1,10001,MESOS-1,http://x,a title,some text,some,Bug,3,7\n"
    )
    (sample,) = draw(EstimationTawosScenario(file), 9, 42)
    assert (sample.id, sample.fields["description"], sample.gold) == ("MESOS-1", "some text", "3")
