from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_puma.scenarios import TriageJiraScenario, draw
from tests.factories import task

PRIORITIES = ["Critical", "Major", "Minor", "Trivial"]


@pytest.mark.parametrize(
    ("response", "answer"),
    [
        ("Major", "Major"),
        ("major", "Major"),
        ("TRIVIAL.", "Trivial"),
        ("**Minor**", "Minor"),
        ("_Minor_", "Minor"),
        ("`Critical`", "Critical"),
        ('{"priority": "Major"}', "Major"),
        ("Priority:Major", "Major"),
        ("**Priority:** Major", "Major"),
        ("[Major]", "Major"),
        ("<answer>Major</answer>", "Major"),
        ("A. Critical", "Critical"),
        ("Major, not Minor", "Major"),
        ("It is Minor rather than Major.", "Minor"),
        ("I would call this a critical issue", "Critical"),
        ("Major\nThe export fails", "Major"),
        ("Major - the export fails", "Major"),
        ("Critical: data loss", "Critical"),
        ("Trivial (cosmetic only)", "Trivial"),
        ("Major\nMajor\nMajor", "Major"),
        ("Assistant: Minor", "Minor"),
        ("Sure! The priority of this issue is **Minor**.", "Minor"),
        ("I would classify this issue as Major.", "Major"),
        ("This is a major issue that hits everyone.", "Major"),
        ("Minor. A major outage it is not.", "Minor"),
        ("Priority: Critical\n\n<issue>\nTitle: Another\n</issue>\nPriority: Minor", "Critical"),
        ("<issue>\nTitle: It fails\n</issue>\nMinor", "Minor"),
        # A list of the labels, whole or cut, and a hedge.
        ("Critical, Major, Minor or Trivial", None),
        ("Critical, Major, Minor", None),
        ("The priority of an issue is Critical, Major, and Trivial.", None),
        ("Critical\nMajor\nMinor\nTrivial", None),
        ("- Critical: data loss or corruption, a security hole", None),
        ("Minor/Trivial", None),
        ("The priority is Critical. The priority is Trivial.", None),
        # In passing, as a condition, denied.
        ("Critical data is lost", None),
        ("It is a minor annoyance", None),
        ("This is an example of how to prioritize a critical issue.", None),
        ("The priority of a critical issue is critical.", None),
        ("If this is a critical issue, stop.", None),
        ("It is not critical.", None),
        # In a repeated or an invented issue.
        ("<issue>\nTitle: Critical\nDescription: The priority is Major.", None),
        ("Title: This is a critical issue", None),
        ("Decide this one:\n\n<issue>\nTitle: t\n</issue>\nPriority: Minor", None),
        ("The majority of users", None),
        ("a minority, trivially prioritised, hypercritical", None),
        ("Major2", None),
        ("Blocker", None),
        ("", None),
        ("42", None),
    ],
)
def test_the_priority_that_a_reply_decides_for_is_the_answer(response: str, answer: str | None) -> None:
    assert TriageJiraScenario().parse_response(response) == answer


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("The priority is Critical.", "Critical"),
        ("It hits all users globally. Answer: Critical", "Critical"),
        ("critical", "Critical"),
        ("The issue is critical for everyone.", "Critical"),
        ("This is a major problem. Answer: Minor", "Minor"),
        ("Typo only.\nAnswer: Trivial\n\n<issue>\nTitle: t\n</issue>\nData loss.\nAnswer: Critical", "Trivial"),
        ("Critical: the server is down", None),
        ("It is critical that we fix this.", None),
        ("Answer: Critical, Major, Minor or Trivial", None),
        ("<issue>\nThe priority is Critical.", None),
    ],
)
def test_without_an_answer_line_a_statement_counts(reply: str, answer: str | None) -> None:
    assert task(TriageJiraScenario()).read_final(reply) == answer


WORDS = [
    *PRIORITIES,
    "the priority",
    "is",
    "not",
    "a",
    "issue",
    "this",
    "or",
    ",",
    ".",
    ":",
    "\n",
    "(",
    "- ",
    "<issue>",
]


@given(st.text() | st.lists(st.sampled_from(WORDS)).map(" ".join))
def test_what_is_read_is_a_priority_of_the_text(text: str) -> None:
    for answer in (TriageJiraScenario().parse_response(text), TriageJiraScenario().parse_conclusion(text)):
        assert answer is None or (answer in PRIORITIES and answer.lower() in text.lower())


@given(st.permutations(PRIORITIES), st.sampled_from([", ", " or ", "/", " | ", "\n", "\n- "]), st.integers(2, 4))
def test_a_list_of_priorities_is_no_answer(labels: list[str], joint: str, n: int) -> None:
    assert TriageJiraScenario().parse_response(joint.join(labels[:n])) is None


@pytest.mark.parametrize(("n", "counts"), [(4, {1}), (50, {12, 13}), (200, {50}), (1000, {50})])
def test_samples_hold_the_priorities_alike(n: int, counts: set[int]) -> None:
    samples = draw(TriageJiraScenario(), n, 42)
    assert set(Counter(sample.gold for sample in samples).values()) == counts
    assert {sample.gold for sample in samples} == set(PRIORITIES)


def test_a_jira_export_is_read_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "export.csv"
    file.write_text(
        "Summary,Issue key,Issue id,Priority,Project key,Comment,Comment,Description\n"
        "Login fails,WEB-7,10007,critical,WEB,one,two,\n"
        "Typo,WEB-8,10008,Trivial,WEB,,,In the footer\n"
    )
    samples = {sample.id: sample for sample in draw(TriageJiraScenario(file), 10, 42)}
    assert set(samples) == {"WEB-7", "WEB-8"}
    assert samples["WEB-7"].gold == "Critical"
    assert samples["WEB-7"].fields["description"] == ""
