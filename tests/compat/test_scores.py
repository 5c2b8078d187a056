"""Metrics of the library score replies by the arguments that eval-framework keeps in contexts and ground truths."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.compat.tasks import Capitals, answered

JSON_TRUTH = {"json_schema": {"type": "object", "required": ["city"]}, "expected_output": {"city": "Rome"}}
CSV_TRUTH = {"separator": "semicolon", "columns": ["city", "country"]}
LENGTH_TRUTH = {"unit": "words", "count": 3, "type": "minimum"}
IFEVAL = {"key": 1, "instruction_id_list": ["punctuation:no_comma"], "prompt": "", "additional_kwargs": [{}]}


@pytest.mark.parametrize(
    ("name", "truth", "context", "reply", "scores"),
    [
        (
            "JsonFormat",
            json.dumps(JSON_TRUTH),
            None,
            '{"city": "Rome"}',
            {"json.only": 1, "json.valid": 1, "json.schema": 1, "json.equal": 1},
        ),
        (
            "JsonFormat",
            json.dumps(JSON_TRUTH),
            None,
            'Here: {"town": 1}',
            {"json.only": 0, "json.valid": 1, "json.schema": 0, "json.equal": 0},
        ),
        (
            "JsonFormat",
            json.dumps(JSON_TRUTH | {"expected_output": None}),
            None,
            '{"city": 1}',
            {"json.schema": 1, "json.equal": None},
        ),
        (
            "CSVFormat",
            json.dumps(CSV_TRUTH),
            None,
            "city;country\nRome;Italy",
            {"csv.found": 1, "csv.separator": 1, "csv.columns": 1},
        ),
        (
            "CSVFormat",
            json.dumps(CSV_TRUTH),
            None,
            "a,b,c\n1,2,3",
            {"csv.found": 1, "csv.separator": 0, "csv.columns": 0},
        ),
        ("LengthControl", json.dumps(LENGTH_TRUTH), None, "one two three", {"length.fulfilled": 1, "length.off": 0}),
        ("LengthControl", json.dumps(LENGTH_TRUTH), None, "one two", {"length.fulfilled": 0, "length.bias": -1 / 3}),
        ("WordCounter", None, {"comparison": "less than", "word_count": 2}, "one two", {"words": 0}),
        ("WordCounter", None, {"comparison": "at least", "word_count": 2}, "one two", {"words": 1}),
        ("SentenceCounter", None, {"comparison": "less than", "sentence_count": 2}, "One. Two.", {"sentences": 0}),
        ("ParagraphCounter", None, {"comparison": "at least", "paragraph_count": 2}, "a\n\nb", {"paragraphs": 1}),
        ("IFEvalMetric", None, IFEVAL, "Rome, Italy", {"ifeval.prompt": 0, "ifeval.prompt.loose": 0}),
        ("IFEvalMetric", None, IFEVAL, "Rome", {"ifeval.prompt": 1, "ifeval.prompt.loose": 1}),
        ("NIAHAccuracy", ["17", "42"], {"language": "en"}, "42 and 17", {"needle": 1}),
        ("NIAHAccuracy", ["17", "42"], {"language": "en"}, "42", {"needle": 0}),
        ("CWEAccuracy", ["pen", "sea"], None, "The sea and a pen.", {"cwe": 1}),
        ("AccuracyCompletionOLMES", "It is 9 * 2.\n#### 1,800", None, "So $1800.", {"exact_match.loose": 0}),
        ("AccuracyCompletionOLMES", "It is 9 * 2.\n#### 1,800", None, "So:\n#### $1800.", {"exact_match.loose": 1}),
        # With eval-framework, the mean over the references: 0.5.
        ("AccuracyCompletionOLMES", ["18", "19"], None, "18.", {"exact_match.loose": 1}),
        ("AccuracyCompletionWithEvaluate", "Rome", {"ignore_case": True}, "rome", {"exact_match.loose": 1}),
        ("AccuracyCompletionWithEvaluate", "Rome", {"regexes_to_ignore": ["!"]}, "rome!", {"exact_match.loose": 0}),
        ("MathMinervaCompletion", "5", None, r"So \boxed{5}.", {"minerva": 1, "minerva.flex": 1}),
        ("MathMinervaCompletionRelaxed", "5", None, "final answer: the answer is 5", {"minerva.relaxed": 1}),
        ("MathMinervaCompletionDE", "5", None, "Finale Antwort: Die finale Antwort lautet 5. Ich", {"minerva": 0}),
        ("MathMinervaCompletionRelaxedDE", "5", None, "Finale Antwort: 5", {"minerva.relaxed.flex": 1}),
        ("DropF1ExactMatch", "Rome", {"answer_tuples": [["Rome", "Bari"]]}, "Rome", {"drop.f1": 0.5, "drop.exact": 0}),
        ("ExponentialSimilarity", "60", None, "50", {"percentage_similarity": 0.5}),
        ("ExponentialSimilarity", "60", None, "Half.", {"percentage_similarity": 0}),
        ("ConcordanceIndex", "[1, 2]", None, "[1, 3]", {"list.places": 0.5}),
        ("ConcordanceIndex", "[1, 2]", None, "1, 3", {"list.places": 0}),
        (
            "GridDifference",
            "0 1",
            {"grid": "V V"},
            "0 0",
            {"grid.exact": 0, "grid.gain": 0.5, "grid.gain.clipped": 0.5},
        ),
        # With eval-framework, this reply is exact: it has no cell that differs.
        ("GridDifference", "0 1", {"grid": "V 1"}, "", {"grid.exact": 0, "grid.gain": -1, "grid.gain.clipped": 0}),
        ("ResponseToOriginalLengthRatio", None, None, "x" * 9, {"length_ratio": 1}),
    ],
)
def test_a_reply_has_the_scores_of_the_class(  # noqa: PLR0917 - columns of the table
    folder: Path, name: str, truth: Any, context: Any, reply: str, scores: dict[str, Any]
) -> None:
    methods = {
        "METRICS": [name],
        "SUBJECTS": [],
        "_get_instruction_text": lambda _, item: f"{item['country']}: "[:9].ljust(9, "?"),
        "_get_ground_truth": lambda *_: truth,
        "_get_context": lambda *_: context,
    }
    outcome = answered(type("Own", (Capitals,), methods)(data=folder), {}, default=f" {reply}")
    for prediction in outcome.predictions:
        assert {each: prediction.scores[each] for each in scores} == pytest.approx(scores)
