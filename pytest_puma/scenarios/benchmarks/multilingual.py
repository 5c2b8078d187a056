"""Choices in many languages: Global-MMLU and Belebele. Their files differ by language, which is a group.

    de/test-00000-of-00001.parquet    the name of the folder is the language: that of Global-MMLU, in a local copy
    deu_Latn.jsonl                    the name of the file is: that of Belebele

class FrenchLaw(MultilingualBenchmark):    # your own: fr/test.jsonl, de/test.jsonl
    name = "law"
    choice_columns = ("a", "b", "c")
    answer_column = "answer"
"""

from __future__ import annotations

from typing import Any, ClassVar

from pytest_puma.scenarios.benchmarks import fields
from pytest_puma.scenarios.benchmarks.benchmark import PartedFiles
from pytest_puma.scenarios.benchmarks.exams import ColumnBenchmark
from pytest_puma.scenarios.benchmarks.translation import language_name

#: Language -> the words for a question and an answer; English ones for all others.
_WORDS = {
    "Arabic": ("السؤال", "الإجابة"),
    "French": ("Question", "Réponse"),
    "German": ("Frage", "Antwort"),
    "Italian": ("Domanda", "Risposta"),
    "Portuguese": ("Pergunta", "Resposta"),
    "Spanish": ("Pregunta", "Respuesta"),
}


class MultilingualBenchmark(PartedFiles, ColumnBenchmark):
    """The base of both, and of your own: the prompt has the words of its language, as far as we know them."""

    part_column = "language"
    groups: ClassVar = {"language": "language"}
    group_columns: ClassVar[tuple[str, ...]] = ("language",)
    strategies = ("option_scoring",)

    def instruction(self, item: dict[str, Any], options: str) -> str:
        """Return the question behind the word for it, and the options."""
        return "\n".join(filter(None, (f"{_words(item)[0]}: {self.question(item)}", options)))

    def cue(self, item: dict[str, Any]) -> str:
        """Return the word for an answer."""
        return f"{_words(item)[1]}:"


class GlobalMmlu(MultilingualBenchmark):
    """Global-MMLU (Singh et al., 2024): MMLU in 42 languages. A question is one unit in all of them."""

    name = "global_mmlu"
    fewshot_split = "dev"
    unit_columns = ("sample_id",)
    choice_columns = ("option_a", "option_b", "option_c", "option_d")
    answer_column = "answer"
    groups: ClassVar = {"language": "language", "subject": "subject"}
    group_columns = ("language", "subject")
    strategies = ("option_scoring_5",)
    contents = "14,042 questions in 57 subjects and 285 examples, in each of 42 languages"
    licence = "Apache-2.0"
    hub = "CohereLabs/Global-MMLU:de/*"
    original = "a local copy with a folder for each language"

    def row(self, record: dict[str, Any]) -> dict[str, Any]:
        """Return a record with the name that its translations share."""
        return {**super().row(record), "sample_id": fields.text(record, "sample_id")}


class Belebele(MultilingualBenchmark):
    """Belebele (Bandarkar et al., 2023): 900 questions about passages of FLORES, one unit in all of 122 languages."""

    name = "belebele"
    part_files = ("*.jsonl", "data/*.jsonl")
    unit_columns = ("passage_id", "number")
    text_fields = ("passage", "question")
    choice_columns = ("mc_answer1", "mc_answer2", "mc_answer3", "mc_answer4")
    answer_column, first = "correct_answer_num", 1
    contents = "900 questions in each of 122 languages"
    licence = "CC BY-SA 4.0"
    original = (
        "Belebele.zip of https://github.com/facebookresearch/belebele, or data/ of hf.co/datasets/facebook/belebele"
    )

    def examples(self) -> None:
        """None: questions that are not evaluated are the examples."""

    def instruction(self, item: dict[str, Any], options: str) -> str:
        """Return the passage before the question."""
        return f"{item['passage']}\n\n{super().instruction(item, options)}"

    def row(self, record: dict[str, Any]) -> dict[str, Any]:
        """Return a record with its passage."""
        columns = {"passage": fields.text(record, "flores_passage").strip(), "passage_id": fields.text(record, "link")}
        return {**super().row(record), **columns, "number": str(fields.value(record, object, "question_number"))}


def _words(item: dict[str, Any]) -> tuple[str, str]:
    return _WORDS.get(language_name(item["language"]), ("Question", "Answer"))
