"""Benchmarks as readers of this project's and of other projects' guides write them, and rows for them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from tests.compat.geography import rows as capitals

GEOGRAPHY_QA = """
import pytest
from pytest_puma import CompletionScenario

class GeographyQA(CompletionScenario):
    name = "geography_qa"
    data = {"test": "geography_test.jsonl", "train": "geography_train.jsonl"}
    group_columns = ("subject",)
    scores = ("exact_match", "f1_words")
    text_fields = ("country",)

    def system(self, item):
        return "Answer the geography questions accurately."

    def instruction(self, item):
        return f"Q: What's the capital of {item['country']}?"

    def cue(self, item):
        return "A:"

    def truth(self, item):
        return f"{item['capital']}."

@pytest.mark.puma(GeographyQA, strategies=["few_shot_3"], subjects=["Europe", "Asia"],
                  gates=["exact_match[mean subject] >= 0.6", "exact_match[subject=Asia] >= baseline - 0.05"])
def test_geography_qa(puma):
    assert puma["truncation_rate"] == 0
"""

COMMONSENSE_MCQA = """
import pytest
from pytest_puma import ChoiceScenario

class CommonsenseMCQA(ChoiceScenario):
    name = "commonsense_mcqa"
    data = "evaluation_qa.jsonl"
    key = "id"
    required = {"id": str, "question": str, "answer": str, "choices": list}
    orders = 10
    scores = ("accuracy", "majority_accuracy", "position_bias")

    def question(self, item):
        return item["question"]

    def choices(self, item):
        return item["choices"]

    def answer(self, item):
        return item["answer"]

    def instruction(self, item, options):
        return ("You will be given a multiple-choice question and asked to select from a set of choices.\\n\\n"
                f"Question: {item['question']}\\n\\n{options}\\n\\n"
                "Please only print the letter corresponding to your choice.\\n\\nAnswer:")

@pytest.mark.puma(CommonsenseMCQA, strategies=["zero_shot", "option_scoring"],
                  gates=["majority_accuracy >= 0.5", "position_bias <= 0.2",
                         "option_scoring.accuracy >= zero_shot.accuracy"])
def test_commonsense_mcqa(puma): ...
"""

INVOICES = '''
import json, pytest
from pytest_puma import CompletionScenario, metric

SCHEMA = {"type": "object", "required": ["total", "currency"],
          "properties": {"total": {"type": "number"}, "currency": {"enum": ["EUR", "USD"]}}}

@metric(better="low", unit="currency", bounds=None)
def total_error(sample, prediction):
    """How far off the total is; does not apply where the reply holds no number for it (json.schema counts those)."""
    invoice = prediction.json()
    if isinstance(invoice, dict) and isinstance(invoice.get("total"), (int, float)):
        return abs(invoice["total"] - sample.fields["fields"]["total"])
    return None

class Invoices(CompletionScenario):
    name = "invoices"
    data = "invoices.jsonl"
    scores = ("json.schema", "json.only", "json.equal", total_error)
    text_fields = ("text",)

    def instruction(self, item):
        return ("Extract the invoice as JSON that fits this schema, and nothing else:\\n"
                f"{json.dumps(SCHEMA)}\\n\\n{item['text']}")

    def truth(self, item):
        return json.dumps(item["fields"])

    def context(self, item):
        return {"json_schema": SCHEMA}

@pytest.mark.puma(Invoices, samples=100, gates=["json.schema >= 0.95", "total_error <= baseline * 1.1"])
def test_invoices(puma): ...
'''

_QUESTIONS = {
    "Where does a fish live?": "water oven sky shoe desert",
    "Which animal barks?": "dog cat bird horse snail",
    "What do you open when it rains?": "umbrella book bottle lamp cake",
}
_INVOICES = {
    "Invoice 17: 3 chairs. Total due: 120.50 EUR.": (120.5, "EUR"),
    "Hosting in May. Please pay 40 USD.": (40, "USD"),
    "Paper and ink, altogether 18.90 EUR, thank you.": (18.9, "EUR"),
    "Consulting, 2 hours at 90 USD an hour. Sum: 180 USD.": (180, "USD"),
    "Total amount: 75 EUR.": (75, "EUR"),
    "Repair of a bicycle: 33.20 EUR in total.": (33.2, "EUR"),
}

#: The files beside the benchmarks.
ROWS: Mapping[str, Sequence[Mapping[str, Any]]] = {
    "geography_test": capitals("test"),
    "geography_train": capitals("train"),
    "example/geography_qa/test": capitals("test"),
    "example/geography_qa/train": capitals("train"),
    "evaluation_qa": [
        {"id": f"q{number}", "question": question, "answer": choices.split()[0], "choices": choices.split()}
        for number, (question, choices) in enumerate(_QUESTIONS.items())
    ],
    "invoices": [
        {"text": text, "fields": {"total": total, "currency": currency}}
        for text, (total, currency) in _INVOICES.items()
    ],
}


def lines(rows: Sequence[Mapping[str, Any]]) -> str:
    """The rows as JSON Lines."""
    return "".join(f"{json.dumps(row)}\n" for row in rows)
