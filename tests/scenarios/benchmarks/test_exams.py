from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest

from pytest_puma.core import DataError
from pytest_puma.scenarios import draw
from pytest_puma.scenarios.benchmarks.continuations import GoldenSwag
from pytest_puma.scenarios.benchmarks.exams import (
    ArcDe,
    DropChoices,
    Gpqa,
    MedQa,
    MmluPro,
    NaturalQuestionsChoices,
    SciQ,
    SocialIqa,
)
from tests.scenarios.benchmarks.sample_requests import json_lines, sample_requests
from tests.scenarios.benchmarks.test_hellaswag import row as hellaswag

CLOUD = {
    "question": "What are clouds made of?",
    "correct_answer": "drops of water",
    "distractor1": "wool",
    "distractor2": "smoke",
    "distractor3": "salt",
    "support": "Clouds are drops of water.",
}
HURT = {
    "context": "Kim fell off a chair.",
    "question": "How does Kim feel?",
    "answerA": "proud",
    "answerB": "hurt",
    "answerC": "rich",
}
IRON = ("zinc", "iron", "lead")
FEES = {
    "question": "Who pays the fees?",
    "options": [*(f"party {number}" for number in range(1, 9)), "N/A", "N/A"],
    "answer": "H",
    "answer_index": 7,
    "category": "law",
}


def gpqa(number: int, **changes: str) -> dict[str, str]:
    answers = {"Correct Answer": " 4 \n", **{f"Incorrect Answer {each}": str(each) for each in (1, 2, 3)}}
    return {"Question": f"What is {number} + 1?\n", **answers, "High-level domain": "Physics"} | changes


def write_rows(path: Path, rows: list[dict[str, str]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    return path


def test_gpqa_shows_the_choices_of_each_question_in_an_order_of_its_own(tmp_path: Path) -> None:
    file = write_rows(tmp_path / "gpqa_diamond.csv", [gpqa(number) for number in range(40)])
    asked = sample_requests(Gpqa(file), "option_scoring", samples=40)
    first = asked[0]
    assert first.text == "user: Question: What is 0 + 1?\nA. 2\nB. 4\nC. 3\nD. 1\nassistant: Answer:"
    assert (first.golds, first.continuations) == (("4",), (" A", " B", " C", " D"))
    places = [requests.text.partition(". 4\n")[0][-1] for requests in asked]
    assert {letter: places.count(letter) > 4 for letter in "ABCD"} == dict.fromkeys("ABCD", True)


def test_gpqa_keeps_the_order_in_another_file(tmp_path: Path) -> None:
    one, _ = sample_requests(Gpqa(write_rows(tmp_path / "a.csv", [gpqa(1), gpqa(2)])))
    _, again = sample_requests(Gpqa(write_rows(tmp_path / "b.csv", [gpqa(3), gpqa(1)])))
    assert one == again


def test_the_examples_of_gpqa_are_questions_of_main_that_are_not_in_diamond(tmp_path: Path) -> None:
    write_rows(tmp_path / "gpqa_diamond.csv", [gpqa(1)])
    write_rows(tmp_path / "gpqa_main.csv", [gpqa(1), gpqa(2)])
    (asked,) = sample_requests(Gpqa(tmp_path), "option_scoring_1", chat=False)
    assert asked.text == (
        "Question: What is 2 + 1?\nA. 2\nB. 1\nC. 4\nD. 3\nAnswer: C\n\n"
        "Question: What is 1 + 1?\nA. 4\nB. 3\nC. 1\nD. 2\nAnswer:"
    )
    (sample,) = draw(Gpqa(tmp_path), 1, 42)
    assert sample.groups == {"domain": "Physics"}


def test_mmlu_pro_scores_the_letters_that_a_question_has(tmp_path: Path) -> None:
    shown = "\n".join(f"{letter}. party {number}" for number, letter in enumerate("ABCDEFGH", start=1))
    (fees,) = sample_requests(MmluPro(json_lines(tmp_path / "test.jsonl", [FEES])), "option_scoring")
    assert fees.text == (
        f"user: Questions about law. One of the choices is right.\n\nWho pays the fees?\n{shown}\nassistant: Answer:"
    )
    assert fees.continuations == tuple(f" {letter}" for letter in "ABCDEFGH")
    assert fees.golds == ("party 8",)


def test_mmlu_pro_takes_examples_of_the_subject(tmp_path: Path) -> None:
    rows = [FEES | {"question": f"{name}?", "category": name, "options": ["x", "y"], "answer": "B"} for name in "pq"]
    json_lines(tmp_path / "validation.jsonl", rows)
    json_lines(tmp_path / "test.jsonl", [rows[1] | {"question": "Which?"}])
    (asked,) = sample_requests(MmluPro(tmp_path), "option_scoring_1", chat=False)
    assert asked.text.endswith("\n\nq?\nA. x\nB. y\nAnswer: B\n\nWhich?\nA. x\nB. y\nAnswer:")


@pytest.mark.parametrize(
    "answers",
    [
        {"options": dict(zip("ABC", IRON, strict=True)), "answer": "iron", "answer_idx": "B"},
        {"choices": list(IRON), "answer_idx": 1},
    ],
)
def test_medqa_has_options_by_letter_or_a_list_of_choices(tmp_path: Path, answers: dict[str, Any]) -> None:
    file = json_lines(tmp_path / "US" / "test.jsonl", [{"question": "What lacks?", **answers}])
    (lacks,) = sample_requests(MedQa(tmp_path), "option_scoring", chat=False)
    assert lacks.text == "Question: What lacks?\nA. zinc\nB. iron\nC. lead\nAnswer:"
    assert lacks.golds == ("iron",)
    (lacks,) = sample_requests(MedQa(file), "cloze_scoring")
    assert lacks.text == "user: Question: What lacks?\nassistant: Answer:"
    assert lacks.continuations == (" zinc", " iron", " lead")


def test_sciq_asks_without_the_text_that_gives_the_answer(tmp_path: Path) -> None:
    (cloud,) = sample_requests(SciQ(json_lines(tmp_path / "test.jsonl", [CLOUD])), "cloze_scoring", chat=False)
    assert cloud.text == "Question: What are clouds made of?\nAnswer:"
    assert sorted(cloud.continuations) == [" drops of water", " salt", " smoke", " wool"]
    assert cloud.golds == ("drops of water",)


def test_social_iqa_has_labels_from_1_beside_the_file(tmp_path: Path) -> None:
    (tmp_path / "dev-labels.lst").write_text("2\n")
    file = json_lines(tmp_path / "dev.jsonl", [HURT])
    (hurt,) = sample_requests(SocialIqa(file), "option_scoring", chat=False)
    assert hurt.text == ("Question: Kim fell off a chair. How does Kim feel?\nA. proud\nB. hurt\nC. rich\nAnswer:")
    assert hurt.golds == ("hurt",)
    (cloze,) = sample_requests(SocialIqa(tmp_path), "cloze_scoring")
    assert cloze.text == "user: Question: Kim fell off a chair. How does Kim feel?\nassistant: Answer:"


def test_goldenswag_has_the_form_of_hellaswag_and_other_rows_as_examples(tmp_path: Path) -> None:
    rows = [hellaswag(), hellaswag() | {"ctx_a": "Another beginning."}]
    folder = json_lines(tmp_path / "validation.jsonl", rows).parent
    (asked,) = sample_requests(GoldenSwag(folder), "cloze_scoring_1", chat=False, samples=1)
    assert "Another beginning." in asked.text
    assert len(asked.continuations) == len(hellaswag()["endings"])


def test_arc_de_asks_in_german_and_has_letters_or_numbers(tmp_path: Path) -> None:
    texts = {"id": "T", "question_de": "Was schmilzt?", "choices_de": {"text": ["Stein", "Eis"], "label": ["1", "2"]}}
    for key in ("2", "B"):
        file = json_lines(tmp_path / "test.jsonl", [texts | {"answerKey": key, "question": "What melts?"}])
        (melts,) = sample_requests(ArcDe(file), "cloze_scoring", chat=False)
        assert melts.text == "Frage: Was schmilzt?\nAntwort:"
        assert (melts.continuations, melts.golds) == ((" Stein", " Eis"), ("Eis",))


def test_choices_that_a_model_wrote_stand_beside_the_answer(tmp_path: Path) -> None:
    choices = {"choices": {"text": ["Graz", "Rome"], "label": ["A", "B"]}, "answerKey": "B"}
    file = json_lines(tmp_path / "validation.jsonl", [{"question": "where is it", **choices}])
    (where,) = sample_requests(NaturalQuestionsChoices(file), "option_scoring", chat=False)
    assert where.text == "Question: where is it\nA. Graz\nB. Rome\nAnswer:"
    row = {"passage_original": "Ada lives in Rome.", "question_original": "Where?", "question": "?", **choices}
    (where,) = sample_requests(DropChoices(json_lines(tmp_path / "drop.jsonl", [row])), "cloze_scoring", chat=False)
    assert where.text == "Passage: Ada lives in Rome.\nQuestion: Where?\nAnswer:"
    assert (where.continuations, where.golds) == ((" Graz", " Rome"), ("Rome",))


@pytest.mark.parametrize(
    ("benchmark", "row", "fault"),
    [
        (
            MmluPro,
            FEES | {"answer": "I"},
            "column 'answer': found 'I' (str), expected one of A, B, C, D, E, F, G, H, or",
        ),
        (MmluPro, FEES | {"options": []}, "column 'options': found [] (list), expected at least one text"),
        (MmluPro, FEES | {"category": None}, "column 'category': missing or empty"),
        (SocialIqa, HURT, "column 'label': missing or empty; the row has: context, question, answerA"),
        (
            SocialIqa,
            HURT | {"label": "0"},
            "column 'label': found '0' (str), expected one of A, B, C, or a number from 1",
        ),
        (
            SciQ,
            CLOUD | {"distractor2": " "},
            "column 'distractor2': found ' ' (str), expected a text that is not empty",
        ),
    ],
)
def test_a_faulty_row_is_named(tmp_path: Path, benchmark: type[Any], row: dict[str, Any], fault: str) -> None:
    with pytest.raises(DataError) as refused:
        _ = benchmark(json_lines(tmp_path / "rows.jsonl", [row])).rows
    assert fault in str(refused.value)
