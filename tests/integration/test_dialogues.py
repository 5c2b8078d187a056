"""Dialogues as a user writes them: turns that depend on the replies, and MT-Bench's two turns before a judge."""

from __future__ import annotations

import pytest

from tests.integration.conftest import ONE_PROCESS, Project
from tests.integration.knowing_model import write_rows

GUESS = """
import pytest
from pytest_puma import CompletionScenario

class Guess(CompletionScenario):
    name = "guess"
    data = "guess.jsonl"
    key = "number"
    scores = ("exact_match",)

    def instruction(self, item):
        return f"{item['text']}: guess a number from 1 to 5."

    def truth(self, item):
        return str(item["number"])

    def reply_to(self, item, said):
        if said[-1] == str(item["number"]) or len(said) == 4:
            return None
        return f"Not {said[-1].split()[0]}, my number is larger."

@pytest.mark.puma(Guess, strategies=["zero_shot"], gates=["exact_match >= 0.7"])
def test_guess(puma):
    pass
"""
#: It counts up from 1, one more for each answer that was wrong.
COUNTING = """
from pytest_puma.testing import ScriptedBackend

def pytest_puma_backend(model):
    return ScriptedBackend(lambda prompt: str(prompt.count("my number is larger") + 1), digest="5a")
"""


def test_a_dialogue_goes_on_as_the_scenario_decides_and_is_held_again_from_its_record(project: Project) -> None:
    project.write(conftest=COUNTING, test_guess=GUESS)
    write_rows(project, "guess.jsonl", *({"number": number, "text": f"Round {number + 7}"} for number in range(1, 6)))
    project.run().assert_outcomes(passed=1)
    assert {line["sample_id"]: line["raw"] for line in project.predictions()} == {
        "1": ["1"],
        "2": ["1", "2"],
        "3": ["1", "2", "3"],
        "4": ["1", "2", "3", "4"],
        "5": ["1", "2", "3", "4"],
    }
    assert project.record()["outcomes"][0]["measures"]["exact_match"]["value"] == pytest.approx(0.8)
    project.run("--puma-offline", f"--puma-model={project.model}@5a", model=False).assert_outcomes(passed=1)
    project.run("--puma-rescore=last", model=False).assert_outcomes(passed=1)


@ONE_PROCESS
def test_a_fault_of_the_scenario_names_the_row(project: Project) -> None:
    project.write(conftest=COUNTING, test_guess=GUESS.replace("len(said) == 4", "said[7]"))
    write_rows(project, "guess.jsonl", {"number": 3, "text": "Round 1"})
    result = project.run()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*scenario 'guess', row 3: reply_to() after 1 replies raised IndexError: *"])


MT_BENCH = """
import pytest

@pytest.mark.puma("mt_bench", metrics=["judge.mt_bench"], gates=["judge.mt_bench >= 2"])
def test_mt_bench(puma):
    pass
"""
#: The judge grades 10 where it sees both turns and both replies, and 1 elsewhere.
GRADING = """
from pytest_puma.testing import ScriptedBackend

def pytest_puma_backend(model):
    def answer(prompt):
        if model.name == "judge":
            seen = ("Write about the sea.", "Waves.", "Now about a lake.", "Still water.")
            return "10" if all(text in prompt for text in seen) else "1"
        return "Still water." if "lake" in prompt else "Waves."

    return ScriptedBackend(answer)
"""


@ONE_PROCESS
def test_both_turns_of_mt_bench_and_both_replies_are_before_the_judge(project: Project) -> None:
    project.write(conftest=GRADING, test_mt_bench=MT_BENCH)
    turns = {"category": "writing", "turns": ["Write about the sea.", "Now about a lake."]}
    write_rows(project, "question.jsonl", *({"question_id": number} | turns for number in (81, 82)))
    data, judge = "--puma-data=mt_bench=question.jsonl", f"--puma-judge=judge={project.model}"
    project.run(data, judge).assert_outcomes(passed=1)
    assert project.record()["outcomes"][0]["measures"]["judge.mt_bench"]["value"] > 2
    assert [line["raw"] for line in project.predictions()] == [["Waves.", "Still water."]] * 2
