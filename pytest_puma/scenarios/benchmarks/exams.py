"""Questions with choices in flat records, whose columns each benchmark names: GPQA, MMLU-Pro, MedQA, SciQ and others.

gpqa_diamond.csv  Question, Correct Answer, Incorrect Answer 1 to 3, High-level domain, and more
MMLU-Pro          {"question": ..., "options": [up to ten], "answer": "J", "category": "law"}
US/test.jsonl     {"question": ..., "options": {"A": ..., "B": ...}, "answer_idx": "B"}     the hub: a list, from 0
SciQ test.json    {"question": ..., "correct_answer": ..., "distractor1": ..., "distractor2": ..., "distractor3": ...}
dev.jsonl         {"context": ..., "question": ..., "answerA": ..., "answerB": ..., "answerC": ...}
                  beside it dev-labels.lst: a number from 1 to 3 for each line; the hub's column `label`
gen2mc, ArcChallenge_de    {"question": ..., "choices": {"text": [...], "label": [...]}, "answerKey": "B"}, or its like
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from pytest_puma.datasets.order import rank
from pytest_puma.replies.letters import LETTERS
from pytest_puma.scenarios.benchmarks import fields
from pytest_puma.scenarios.benchmarks.benchmark import ChoiceBenchmark
from pytest_puma.scenarios.benchmarks.continuations import LabelledLines


class ColumnBenchmark(ChoiceBenchmark):
    """The base of loaders of such records."""

    #: The columns of the question, which follow each other.
    question_columns: ClassVar[tuple[str, ...]] = ("question",)
    #: The column with all choices, or one for each.
    choice_columns: ClassVar[tuple[str, ...]]
    #: The column with the letter of the right choice, or its number from `first`; empty if the first choice is right.
    answer_column: ClassVar[str] = ""
    first: ClassVar[int] = 0
    #: Group -> its column.
    groups: ClassVar[Mapping[str, str]] = {}
    #: What stands between the texts of two columns of a question.
    joint: ClassVar[str] = " "

    def row(self, record: dict[str, Any]) -> dict[str, Any]:
        """Return a record; choices without an order of their own get one that depends on their texts alone."""
        question = self.joint.join(fields.text(record, name).strip() for name in self.question_columns)
        choices = self._choices(record)
        positions = list(range(len(choices)))
        right = 0
        if self.answer_column:
            right = fields.position(record, self.answer_column, LETTERS[: len(choices)], first=self.first)
        else:
            positions.sort(key=lambda position: rank(0, question, choices[position]))
        groups = {group: fields.text(record, column) for group, column in self.groups.items()}
        texts = [choices[position] for position in positions]
        return {**groups, "question": question, "choices": texts, "answer": [positions.index(right)]}

    def _choices(self, record: dict[str, Any]) -> list[str]:
        """The choices of a record, in the order of the data."""
        name, *more = self.choice_columns
        if more:
            return [fields.text(record, column).strip() for column in self.choice_columns]
        choices = record.get(name)
        if isinstance(choices, dict):
            choices = choices.get("text", list(choices.values()))
        return [choice.strip() for choice in fields.texts(record | {name: choices}, name, empty=False)]


class Gpqa(ColumnBenchmark):
    """GPQA (Rein et al., 2023): questions of biology, chemistry and physics that a search does not answer; Diamond.

    The right choice is the first in the data, so that each question has an order of its own.
    """

    name = "gpqa"
    split, fewshot_split = "diamond", "main"
    files = ("gpqa_diamond.csv",)
    fewshot_files = ("gpqa_main.csv",)
    question_columns = ("Question",)
    choice_columns = ("Correct Answer", "Incorrect Answer 1", "Incorrect Answer 2", "Incorrect Answer 3")
    groups: ClassVar = {"domain": "High-level domain"}
    group_columns = ("domain",)
    strategies = ("option_scoring", "zero_shot_cot")
    contents = "gpqa_diamond.csv: 198 questions; and 250 examples more in gpqa_main.csv"
    licence = "CC BY 4.0, and its authors ask not to publish questions in plain text"
    hub = "Idavidrein/gpqa"
    original = "dataset.zip of https://github.com/idavidrein/gpqa"


class MmluPro(ColumnBenchmark):
    """MMLU-Pro (Wang et al., 2024): up to ten choices in each of 14 subjects; examples come from the same subject.

    Only the letters of choices that a question has are scored. Some copies fill up the list with `N/A`.
    """

    name = "mmlu_pro"
    fewshot_split = "validation"
    choice_columns = ("options",)
    answer_column = "answer"
    groups: ClassVar = {"subject": "category"}
    group_columns = ("subject",)
    question_first = ""
    strategies = ("option_scoring_5", "zero_shot_cot")
    contents = "12,032 questions in 14 subjects, and 70 examples"
    licence = "MIT"
    hub = "TIGER-Lab/MMLU-Pro"
    original = "https://github.com/TIGER-AI-Lab/MMLU-Pro, which refers to the hub"

    def preamble(self, item: dict[str, Any]) -> str:
        """Return the subject."""
        return f"Questions about {item['subject']}. One of the choices is right."

    def _choices(self, record: dict[str, Any]) -> list[str]:
        return [choice for choice in super()._choices(record) if choice != "N/A"]


class MedQa(ColumnBenchmark):
    """MedQA (Jin et al., 2020): questions of the medical licensing examination of the United States, in English."""

    name = "medqa"
    choice_columns = ("options",)
    answer_column = "answer_idx"
    files = ("questions/US/test.jsonl", "US/test.jsonl", "phrases_no_exclude_test.jsonl")
    fewshot_files = ("questions/US/train.jsonl", "US/train.jsonl", "phrases_no_exclude_train.jsonl")
    strategies = ("option_scoring", "cloze_scoring")
    scores = ("accuracy_chars",)
    contents = "1,273 questions and 10,178 examples"
    licence = "MIT"
    hub = "davidheineman/medqa-en"
    original = "data_clean/questions/US of https://github.com/jind11/MedQA"

    def _choices(self, record: dict[str, Any]) -> list[str]:
        return super()._choices({"options": record["choices"]} if "choices" in record else record)


class SciQ(ColumnBenchmark):
    """SciQ (Welbl et al., 2017): questions of school science, without the text beside them that gives the answer."""

    name = "sciq"
    choice_columns = ("correct_answer", "distractor1", "distractor2", "distractor3")
    strategies = ("cloze_scoring", "option_scoring")
    scores = ("accuracy_chars",)
    contents = "1,000 questions and 11,679 examples"
    licence = "CC BY-NC 3.0"
    hub = "allenai/sciq"
    original = "test.json of SciQ.zip by the Allen Institute for AI"


class SocialIqa(ColumnBenchmark, LabelledLines):
    """Social IQa (Sap et al., 2019): what people feel, want or do in a situation. The test split is not public."""

    name = "social_iqa"
    split = "validation"
    files = ("dev.jsonl", "default/validation/*.parquet")
    fewshot_files = ("train.jsonl", "default/train/*.parquet")
    question_columns = ("context", "question")
    choice_columns = ("answerA", "answerB", "answerC")
    answer_column, first = "label", 1
    strategies = ("option_scoring", "cloze_scoring")
    scores = ("accuracy_chars",)
    contents = "1,954 questions and 33,410 examples"
    licence = "not stated on the hub"
    hub = "allenai/social_i_qa"
    original = "dev.jsonl and dev-labels.lst of socialiqa-train-dev.zip by the Allen Institute for AI"


class ArcDe(ColumnBenchmark):
    """ARC in German: ARC-Challenge as LeoLM translated it, scored as `arc_challenge`."""

    name = "arc_de"
    fewshot_split = "validation"
    question_columns = ("question_de",)
    choice_columns = ("choices_de",)
    answer_column, first = "answerKey", 1
    question_first = "Frage: "
    scores = ("accuracy_chars",)
    contents = "the test split, and the validation split as examples"
    licence = "that of its page on the hub; ARC: CC BY-SA 4.0"
    hub = "LeoLM/ArcChallenge_de"
    original = "the hub alone"

    def cue(self, item: dict[str, Any]) -> str:  # noqa: ARG002 - the same for each row
        """Return the beginning of an answer."""
        return "Antwort:"


class GeneratedChoices(ColumnBenchmark):
    """The base of two that have choices which a model wrote; questions that are not evaluated are the examples."""

    split = "validation"
    choice_columns = ("choices",)
    answer_column, first = "answerKey", 1
    strategies = ("option_scoring", "cloze_scoring")
    scores = ("accuracy_chars",)
    licence = "that of its page on the hub"
    contents = "the validation split"
    original = "the hub alone"

    def examples(self) -> None:
        """None: there is one split."""


class NaturalQuestionsChoices(GeneratedChoices):
    """Natural Questions as a choice between answers."""

    name = "naturalqs_mc"
    hub = "allenai/nq-gen2mc"


class DropChoices(GeneratedChoices):
    """DROP as a choice between answers."""

    name = "drop_mc"
    question_columns = ("passage_original", "question_original")
    question_first = "Passage: "
    joint = "\nQuestion: "
    hub = "allenai/drop-gen2mc"
