"""Arguments of metrics, from contexts and ground truths of eval-framework."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_puma.compat.eval_framework import BaseMetricContext, Language
from pytest_puma.compat.eval_framework.context import arguments, translated
from pytest_puma.core import DataError
from pytest_puma.scenarios import draw
from tests.compat.tasks import Capitals


class WordCounterContext(BaseMetricContext):
    comparison: str = "at least"
    word_count: int


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (None, {}),
        ({"language": "de"}, {"language": "de"}),
        (BaseMetricContext(language="de"), {"language": "de"}),
        (WordCounterContext(word_count=5), {"comparison": "at least", "word_count": 5}),
        (WordCounterContext(word_count=5, comparison="less than"), {"comparison": "less than", "word_count": 5}),
        ([BaseMetricContext(a=1), {"b": 2}], {"a": 1, "b": 2}),
    ],
)
def test_arguments_of_a_context(given: Any, expected: dict[str, Any]) -> None:
    assert arguments(given) == expected


def test_another_context_is_refused() -> None:
    with pytest.raises(DataError, match="_get_context returned 5; expected a BaseMetricContext, a dictionary"):
        arguments(5)


SCHEMA = {"type": "object", "required": ["total"]}


@pytest.mark.parametrize(
    ("name", "truths", "given", "expected"),
    [
        ("AccuracyCompletion", ("Berlin",), {"a": 1}, (("Berlin",), {"a": 1})),
        (
            "JsonFormat",
            (json.dumps({"json_schema": SCHEMA, "expected_output": {"total": "9 €"}}),),
            {},
            (('{"total": "9 €"}',), {"json_schema": SCHEMA}),
        ),
        ("JsonFormat", (json.dumps({"json_schema": SCHEMA}),), {}, ((), {"json_schema": SCHEMA})),
        ("JsonFormat", ('{"expected_output": [1]}',), {}, (("[1]",), {})),
        (
            "CSVFormat",
            ('{"separator": "semicolon", "columns": ["a", "b", "c"]}',),
            {},
            ((), {"csv": {"columns": 3, "separator": ";"}}),
        ),
        ("CSVFormat", ('{"separator": "", "columns": ["a", "b"]}',), {}, ((), {"csv": {"columns": 2}})),
        (
            "LengthControl",
            ('{"unit": "words", "count": "50", "type": "maximum"}',),
            {"a": 1},
            ((), {"a": 1, "length": {"unit": "words", "count": 50, "type": "maximum"}}),
        ),
        ("WordCounter", (), {"comparison": "less than", "word_count": 9}, ((), {"words": {"less_than": 9}})),
        ("SentenceCounter", (), {"comparison": "at least", "sentence_count": 2}, ((), {"sentences": {"at_least": 2}})),
        ("ParagraphCounter", (), {}, ((), {"paragraphs": None})),
        ("DropF1ExactMatch", ("x",), {"answer_tuples": [["x"]]}, (("x",), {"answers": [["x"]]})),
        ("DropF1ExactMatch", ("x",), {}, (("x",), {})),
        ("LLMJudgeSql", ("x",), {"db_schema": "t;", "dialect": "sqlite"}, (("x",), {"sql_setup": "t;"})),
        ("MTBenchJudgePair", (), {"answer": ["first", "second"]}, ((), {"rival": "second"})),
        ("MTBenchJudgePair", (), {"answer": "only"}, ((), {"rival": "only"})),
        (
            "GridDifference",
            ("0 1",),
            {"original": "Below is the input grid with masked regions:\n\nV 1\n\nPlease output the completed grid by"},
            (("0 1",), {"grid": "V 1"}),
        ),
        ("GermanCompletionChecker", ("x",), {}, (("x",), {"language": "de"})),
    ],
)
def test_arguments_under_the_names_of_our_metrics(
    name: str, truths: tuple[str, ...], given: dict[str, Any], expected: tuple[tuple[str, ...], dict[str, Any]]
) -> None:
    references, context = translated([name], truths, given)
    assert references == expected[0]
    assert {key: context[key] for key in expected[1]} == expected[1]


def test_ifeval_has_the_arguments_of_its_instructions() -> None:
    given = {"key": 1, "instruction_id_list": ["a:b"], "prompt": "p", "additional_kwargs": [{"n": 1}]}
    _, context = translated(["IFEvalMetric"], (), given)
    assert (context["instruction_id_list"], context["kwargs"]) == (["a:b"], [{"n": 1}])


def test_the_dialect_of_a_server_is_refused() -> None:
    with pytest.raises(DataError, match="LLMJudgeSql: the context has the dialect 'mysql'; expected 'sqlite' or"):
        translated(["LLMJudgeSql"], (), {"dialect": "mysql", "db_schema": "t;"})


@pytest.mark.parametrize("truths", [(), ("no json",), ("[1]",), ("{}", "{}")])
def test_a_truth_that_holds_no_arguments_is_refused(truths: tuple[str, ...]) -> None:
    with pytest.raises(DataError, match=r"JsonFormat: the ground truth is .*expected one JSON object"):
        translated(["JsonFormat"], truths, {})


def test_metrics_get_the_question_as_the_original_text(folder: Path) -> None:
    sample = next(each for each in draw(Capitals(data=folder), 20, 42) if each.gold == "Rome")
    assert sample.context == {"original": "Capital of Italy?"}


@pytest.mark.parametrize(
    ("declared", "metrics", "language"),
    [
        (Language.DEU, [], "de"),
        ({"Europe": Language.DEU, "Asia": Language.FRA}, [], "de"),
        ({"Europe": (Language.ENG, Language.DEU), "Asia": (Language.ENG, Language.FRA)}, [], "de"),
        (None, [], None),
        # They compare with the language of the ground truth, or of the context.
        (Language.DEU, ["LanguageChecker"], None),
        (Language.DEU, ["NIAHAccuracy"], None),
        (Language.DEU, ["MathMinervaCompletion"], "en"),
        (Language.ENG, ["MathMinervaCompletionDE"], "de"),
    ],
)
def test_the_language_of_a_task_or_subject_is_an_argument_of_metrics(
    folder: Path, declared: Any, metrics: list[str], language: str | None
) -> None:
    scenario = type("Spoken", (Capitals,), {"LANGUAGE": declared, "METRICS": metrics})(data=folder)
    sample = next(each for each in draw(scenario, 20, 42) if each.gold == "Rome")
    assert sample.context.get("language") == language


def test_the_language_of_the_context_counts_before_that_of_the_task(folder: Path) -> None:
    attributes = {"LANGUAGE": Language.DEU, "_get_context": lambda *_: {"language": "fr"}}
    sample = draw(type("Spoken", (Capitals,), attributes)(data=folder), 1, 42)[0]
    assert sample.context["language"] == "fr"


def test_a_subject_without_a_language_is_refused(folder: Path) -> None:
    with pytest.raises(DataError, match="Spoken: LANGUAGE has no subject 'Asia'; it has Europe"):
        draw(type("Spoken", (Capitals,), {"LANGUAGE": {"Europe": Language.DEU}})(data=folder), 20, 42)
