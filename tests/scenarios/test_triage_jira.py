from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_puma.scenarios import TriageJiraScenario, draw

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
        ("[Major]", "Major"),
        ("Major, not Minor", "Major"),
        ("It is Minor rather than Major.", "Minor"),
        ("I would call this a critical issue", "Critical"),
        ("Major\nThe export fails", "Major"),
        ("Minor/Trivial", "Minor"),
        ("The majority of users", None),
        ("a minority, trivially prioritised, hypercritical", None),
        ("Major2", None),
        ("Blocker", None),
        ("", None),
        ("42", None),
    ],
)
def test_the_first_priority_that_stands_as_a_word_is_the_answer(response: str, answer: str | None) -> None:
    assert TriageJiraScenario().parse_response(response) == answer


@given(st.text(), st.sampled_from(PRIORITIES), st.text())
def test_a_priority_between_other_words_is_found_or_an_earlier_one_wins(before: str, label: str, after: str) -> None:
    answer = TriageJiraScenario().parse_response(f"{before} {label.lower()} {after}")
    assert answer in PRIORITIES
    assert answer == label or answer.lower() in before.lower()


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
