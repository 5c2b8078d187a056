from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_puma.scenarios import PrioritizationJiraBothOrdersScenario, PrioritizationJiraScenario, draw
from tests.factories import task

PAIRS = PrioritizationJiraScenario()
BOTH = PrioritizationJiraBothOrdersScenario()


@pytest.mark.parametrize(
    ("response", "answer"),
    [
        ("A", "A"),
        ("B", "B"),
        ("A.", "A"),
        ("B\n", "B"),
        ("(A)", "A"),
        ("[B]", "B"),
        ("**B**", "B"),
        ("_B_", "B"),
        ("`A`", "A"),
        ("a", "A"),
        ("b.", "B"),
        ("(b)", "B"),
        ("**a**", "A"),
        ("Issue B", "B"),
        ("issue b", "B"),
        ("Issue: a", "A"),
        ("Option (b)", "B"),
        ("Answer: b", "B"),
        ("the answer is a", "A"),
        ("Option A: it loses data", "A"),
        ("A) data loss", "A"),
        ("A: data loss", "A"),
        ("A - data loss", "A"),
        ("A, because it loses data", "A"),
        ("A because it loses data", "A"),
        ("A is more urgent than B.", "A"),
        ("A affects every user", "A"),
        ("A clearly outranks B", "A"),
        ("A over B", "A"),
        ("A should go first, B can wait", "A"),
        ("A\nIt is an outage", "A"),
        ("A's impact is larger", "A"),
        ("B, not A", "B"),
        ("B is worse than A", "B"),
        ("The more urgent one is B since a user loses money", "B"),
        ("I choose A over B", "A"),
        ("It's A, and B can wait", "A"),
        ("Between A and B, B is worse", "B"),
        ("Between issue B and issue A, A is worse", "A"),
        ("Both A and B are bad; B is worse", "B"),
        ("Comparing A and B: B", "B"),
        ("A or B? B.", "B"),
        ("Is it Issue A or Issue B? Issue B!", "B"),
        ("A vs. B: A", "A"),
        ("A/B: B", "B"),
        ("<issue_b>", "B"),
        ("A\n\nA:\n\nA", "A"),
        ("Issue A is a typo, issue B is more urgent.", "B"),
        ("<issue_a>\nTitle: t\n</issue_a>\n<issue_b>\nTitle: u\n</issue_b>\nB", "B"),
        ("Higher priority: A\n\n<issue_a>\nTitle: B", "A"),
        ("A and B are both bad", None),
        ("A\n\nA\n\nB", None),
        ("Issue A is a typo. Issue B is an outage.", None),
        ("A is less urgent than B", None),
        ("A means that issue A stands higher on this list", None),
        ("<issue_b>\nTitle: Leap day", None),
        ("Decide which of two issues has the higher priority: A or B.", None),
        ("A or B", None),
        ("B or A", None),
        ("issue A or issue B", None),
        ("A / B", None),
        ("a or b", None),
        ("A crash is worse than a typo, so B", "B"),
        ("A crash", None),
        ("A 500 error is worse. A", "A"),
        ("A typo can wait. Issue B is first.", "B"),
        ("It depends. A serious bug beats a wish: B", "B"),
        ("a crash on start is worse than a typo", None),
        ("This is a bug", None),
        ("I would pick b here", None),
        ("Both", None),
        ("BA", None),
        ("AB", None),
        ("B-tree index and USB-A port", None),
        ("ABC", None),
        ("C", None),
        ("", None),
        ("42", None),
    ],
)
def test_a_capital_that_stands_alone_is_the_answer_and_the_article_is_not(response: str, answer: str | None) -> None:
    assert PAIRS.parse_response(response) == answer


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("A", "A"),
        ("A\nA\nA", "A"),
        ("Issue A is a typo. Issue B is an outage. Therefore issue B has the higher priority.", "B"),
        ("Between A and B, B is more urgent.", "B"),
        ("Data loss. Answer: B", "B"),
        ("Issue A: a typo\nIssue B: an outage", None),
        ("Issue A is a crash", None),
        ("A\n\nA\n\nB", None),
        ("Answer: A or B", None),
    ],
)
def test_without_an_answer_line_a_statement_counts(reply: str, answer: str | None) -> None:
    assert task(PAIRS).read_final(reply) == answer


WORDS = ["A", "B", "issue", "is", "more urgent", "or", "and", "not", ".", ":", "\n", "a", "the answer", "<issue_a>"]


@given(st.text() | st.lists(st.sampled_from(WORDS)).map(" ".join))
def test_what_is_read_is_a_letter_of_the_text(text: str) -> None:
    for answer in (PAIRS.parse_response(text), PAIRS.parse_conclusion(text)):
        assert answer is None or (answer in "AB" and answer.lower() in text.lower())


@given(st.lists(st.sampled_from(["a", "b", "the", "crash", "is", "typo", "issue", "or"])))
def test_small_letters_among_other_words_are_no_answer(words: list[str]) -> None:
    assert PAIRS.parse_response(" ".join([*words, "crash"])) is None


@given(st.sampled_from("AB"), st.text(st.characters(categories=["P", "Zs"])))
def test_signs_around_a_letter_do_not_matter(letter: str, signs: str) -> None:
    assert PAIRS.parse_response(f"{signs}{letter}{signs}") == letter
    assert PAIRS.parse_response(f"{signs}{letter.lower()}{signs}") == letter


def test_pairs_show_both_issues_and_are_named_by_their_keys_in_order() -> None:
    sample = draw(PAIRS, 1, 42)[0]
    a, b = sample.units
    assert sample.id == f"{a}>{b}"
    assert (sample.fields["key_a"], sample.fields["key_b"]) == (a, b)
    assert all(sample.fields[name] for name in PAIRS.text_fields)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("scenario", [PAIRS, BOTH], ids=lambda scenario: scenario.name)
def test_gold_is_the_more_urgent_issue_and_a_as_often_as_b(scenario: PrioritizationJiraScenario, seed: int) -> None:
    order = ["Critical", "Major", "Minor", "Trivial"]
    balance = 0
    for sample in draw(scenario, 101, seed):
        a, b = order.index(sample.fields["priority_a"]), order.index(sample.fields["priority_b"])
        assert sample.gold == ("A" if a < b else "B")
        balance += 1 if sample.gold == "A" else -1
        assert abs(balance) <= 1


def test_pairs_are_disjoint_while_the_issues_last_and_never_repeat() -> None:
    samples = draw(PAIRS, 300, 42)
    first = [key for sample in samples[:100] for key in sample.units]
    assert len(set(first)) == 200
    assert len({frozenset(sample.units) for sample in samples}) == 300


def test_all_pairs_there_are_is_the_most_one_can_ask_for() -> None:
    assert len(PAIRS.sample(10**9)) == 6 * 50 * 50


def test_a_sample_of_pairs_is_a_prefix_of_any_longer_one() -> None:
    longest = [sample.id for sample in draw(PAIRS, 150, 7)]
    assert all([sample.id for sample in draw(PAIRS, n, 7)] == longest[:n] for n in (1, 2, 49, 100, 101))


def test_pairs_of_all_distances_are_asked() -> None:
    order = ["Critical", "Major", "Minor", "Trivial"]
    distances = Counter(
        abs(order.index(sample.fields["priority_a"]) - order.index(sample.fields["priority_b"]))
        for sample in draw(PAIRS, 50, 42)
    )
    assert set(distances) == {1, 2, 3}


def test_the_pool_makes_disjoint_pairs_that_say_why() -> None:
    pool = PAIRS.examples()
    assert pool is not None
    assert len({*pool["key_a"], *pool["key_b"]}) == 32
    row = pool.iloc[0]
    assert row["rationale"] == f"Issue A: {row['rationale_a']} Issue B: {row['rationale_b']}"


def test_each_pair_is_asked_in_both_orders_one_after_the_other() -> None:
    samples = draw(BOTH, 40, 42)
    assert [sample.id for sample in samples[::2]] == [sample.id for sample in draw(PAIRS, 20, 42)]
    for one, other in zip(samples[::2], samples[1::2], strict=True):
        assert one.units == other.units[::-1]
        assert {one.gold, other.gold} == {"A", "B"}
        assert one.fields["title_a"] == other.fields["title_b"]


def test_the_variant_uses_the_templates_of_the_scenario() -> None:
    assert (BOTH.name, BOTH.template_folder) == ("prioritization_jira_both_orders", "prioritization_jira")


def test_both_kinds_read_a_file_of_issues(tmp_path: Path) -> None:
    file = tmp_path / "mine.csv"
    file.write_text("key,summary,description,priority\nX-1,t,d,minor\nX-2,u,NULL,major\nX-3,v,e,major\n")
    assert {frozenset(sample.units) for sample in draw(PrioritizationJiraScenario(file), 9, 42)} == {
        frozenset({"X-1", "X-2"}),
        frozenset({"X-1", "X-3"}),
    }
    assert len(draw(PrioritizationJiraBothOrdersScenario(file), 9, 42)) == 4
    assert PrioritizationJiraScenario(file).examples() is None
