"""Replies of 100,000 characters, as a model that loops writes them: every reader and parser ends within seconds."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pytest_puma.replies import answers, letters, numerals, readers
from pytest_puma.scenarios import EstimationTawosScenario, PrioritizationJiraScenario, TriageJiraScenario
from pytest_puma.scenarios.benchmarks import programs

SIZE = 100_000
#: Letters, blanks, fences, digits, brackets; and what models repeat.
UNITS = ("a", " ", "```\n", "1", "[", '"', "*", "1. ", "Critical, ", "A ", "it is ")
TAGS = ("issue", "item")
TRIAGE, ESTIMATION, PAIRS = TriageJiraScenario(), EstimationTawosScenario(), PrioritizationJiraScenario()
READERS: dict[str, Callable[[str], object]] = {
    **{
        name: getattr(readers, name)
        for name in ("last_number", "final_number", "after_marker", "the_answer_is", "boxed")
    },
    "first_letter": readers.first_letter,
    "named_label": lambda text: readers.named_label(text, ["spam", "not spam", "A", "1"]),
    "read_choice": lambda text: letters.read_choice(text, ["ice", "ice cream", "a house"]),
    "number_of": numerals.number_of,
    "strip_reasoning": answers.strip_reasoning,
    "own_words": lambda text: answers.own_words(text, TAGS),
    "final_answer": answers.final_answer,
    "cue": lambda text: (answers.begins_with(text, "A:"), answers.after_cue(text, "A:")),
    "cut": lambda text: (answers.without_last_word(text), answers.ends_in(text, ["A", "a house"])),
    "program": lambda text: programs.program("def f():\n", text, "f"),
    **{f"{each.name}.parse_response": each.parse_response for each in (TRIAGE, ESTIMATION, PAIRS)},
    **{f"{each.name}.parse_conclusion": each.parse_conclusion for each in (TRIAGE, ESTIMATION, PAIRS)},
}


@pytest.mark.parametrize("name", READERS)
def test_a_long_reply_is_read_within_seconds(name: str) -> None:
    for unit in UNITS:
        text = unit * (SIZE // len(unit))
        READERS[name](text)
        READERS[name](f"The answer is {text}!x")
