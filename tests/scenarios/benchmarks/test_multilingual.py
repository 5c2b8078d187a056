from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_puma.core import DataError
from pytest_puma.scenarios import draw
from pytest_puma.scenarios.benchmarks.multilingual import Belebele, GlobalMmlu, MultilingualBenchmark
from tests.scenarios.benchmarks.sample_requests import json_lines, sample_requests


def mmlu(question: str, name: str = "law/test/0", answer: str = "B") -> dict[str, Any]:
    options = {f"option_{letter}": f"{letter}{letter}" for letter in "abcd"}
    return {"sample_id": name, "subject": "law", "question": question, **options, "answer": answer, "culture": None}


def passage(text: str, number: int = 1) -> dict[str, Any]:
    answers = {f"mc_answer{place}": f"answer {place}" for place in (1, 2, 3, 4)}
    link = {"link": "https://example.org/loom", "question_number": number}
    return {**link, "flores_passage": text, "question": "Who?", **answers, "correct_answer_num": "3"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A local copy with two languages."""
    for language, asked, example in (("de", "Wer urteilt?", "Wer klagt?"), ("sw", "Nani?", "Wapi?")):
        json_lines(tmp_path / language / "test.jsonl", [mmlu(asked)])
        json_lines(tmp_path / language / "dev.jsonl", [mmlu(example, "law/dev/0", "D")])
    return tmp_path


def test_the_language_is_a_group_and_gives_the_words(folder: Path) -> None:
    german, swahili = sample_requests(GlobalMmlu(folder), "option_scoring_1", chat=False)
    shown = "A. aa\nB. bb\nC. cc\nD. dd"
    assert german.text == f"Frage: Wer klagt?\n{shown}\nAntwort: D\n\nFrage: Wer urteilt?\n{shown}\nAntwort:"
    assert swahili.text == f"Question: Wapi?\n{shown}\nAnswer: D\n\nQuestion: Nani?\n{shown}\nAnswer:"
    assert (german.continuations, german.golds) == ((" A", " B", " C", " D"), ("bb",))


def test_a_question_is_one_unit_in_all_languages(folder: Path) -> None:
    samples = draw(GlobalMmlu(folder), 2, 42)
    assert sorted(sample.groups["language"] for sample in samples) == ["de", "sw"]
    assert {sample.units for sample in samples} == {samples[0].units}


def test_one_language_is_drawn_by_its_name(folder: Path) -> None:
    (sample,) = draw(GlobalMmlu(folder), 5, 42, ("de",))
    assert sample.fields["question"] == "Wer urteilt?"


def test_the_digest_is_that_of_all_languages_of_the_split(folder: Path) -> None:
    before = GlobalMmlu(folder).source()
    json_lines(folder / "sw" / "dev.jsonl", [mmlu("Lini?", "law/dev/0")])
    assert GlobalMmlu(folder).source() == before, "the examples are another split"
    json_lines(folder / "sw" / "test.jsonl", [mmlu("Lini?")])
    assert GlobalMmlu(folder).source() != before


def test_a_file_of_one_language(folder: Path) -> None:
    (german,) = sample_requests(GlobalMmlu(folder / "de" / "test.jsonl"))
    assert german.text.startswith("user: Frage: Wer urteilt?")


def test_belebele_has_a_file_for_each_language_and_shows_the_passage(tmp_path: Path) -> None:
    json_lines(tmp_path / "deu_Latn.jsonl", [passage("Ada webt.")])
    json_lines(tmp_path / "eng_Latn.jsonl", [passage("Ada weaves.")])
    german, english = sample_requests(Belebele(tmp_path), "option_scoring", chat=False)
    shown = "A. answer 1\nB. answer 2\nC. answer 3\nD. answer 4"
    assert german.text == f"Ada webt.\n\nFrage: Who?\n{shown}\nAntwort:"
    assert english.text == f"Ada weaves.\n\nQuestion: Who?\n{shown}\nAnswer:"
    assert english.golds == ("answer 3",)
    one, two = draw(Belebele(tmp_path), 2, 42)
    assert {one.groups["language"], two.groups["language"]} == {"deu_Latn", "eng_Latn"}
    assert one.units == two.units


def test_a_benchmark_of_your_own_names_its_columns(tmp_path: Path) -> None:
    class Colours(MultilingualBenchmark):
        name = "colours"
        question_columns = ("text",)
        choice_columns = ("choices",)
        answer_column = "answer"

    row = {"text": "Colore?", "choices": ["rosso", "blu"], "answer": 1}
    (asked,) = sample_requests(Colours(json_lines(tmp_path / "it" / "test.jsonl", [row]).parent.parent), chat=False)
    assert asked.text == "Domanda: Colore?\nA. rosso\nB. blu\nRisposta:"


def test_faults_name_the_language(folder: Path) -> None:
    json_lines(folder / "de" / "test.jsonl", [mmlu("Wer?", answer="E")])
    with pytest.raises(
        DataError, match=r"de/test.jsonl, row 1, column 'answer': found 'E' \(str\), expected one of A,"
    ):
        _ = GlobalMmlu(folder).rows


def test_a_folder_without_languages_says_what_is_expected(tmp_path: Path) -> None:
    (tmp_path / "questions.txt").write_text("?")
    with pytest.raises(DataError, match=r"no file of the split 'test' in .*there is: questions.txt"):
        _ = GlobalMmlu(tmp_path).rows
