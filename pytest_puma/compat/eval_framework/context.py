"""The arguments of eval-framework's metrics under the names of ours.

Its metrics take them from contexts; some keep them in the ground truth, as JSON: the schema and the expected output of
`JsonFormat`, the separator and columns of `CSVFormat`, the unit, count and type of `LengthControl`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from typing import Any, TypeAlias

from pytest_puma.compat.eval_framework.nouns import BaseMetricContext
from pytest_puma.core import DataError
from pytest_puma.core.programming_language import LANGUAGES

#: Ground truths and arguments of a row.
Row: TypeAlias = tuple[tuple[str, ...], dict[str, Any]]

#: What runs the tests of `unittest` behind a program, which is a module of another name than `__main__`.
_UNITTEST = """
import sys, unittest
_tests = unittest.defaultTestLoader.loadTestsFromModule(sys.modules[__name__])
_result = unittest.TextTestRunner().run(_tests)
assert _result.testsRun and _result.wasSuccessful()
"""
#: Maximum seconds of a program.
_SECONDS = 250
#: What OLMES removes from the replies and solutions of GSM8K.
_OLMES = (",", r"\$", r"(?s).*#### ", r"\.$")
_SEPARATORS = {"comma": ",", "semicolon": ";", "space": " ", "tab": "\t"}


def arguments(given: Any) -> dict[str, Any]:
    """Return the arguments of a context, of a dictionary, or of a list of both, by name."""
    if given is None:
        return {}
    if isinstance(given, (list, tuple)):
        return {name: value for part in given for name, value in arguments(part).items()}
    if isinstance(given, BaseMetricContext):
        return given.arguments()
    if isinstance(given, Mapping):
        return dict(given)
    msg = f"_get_context returned {given!r}; expected a BaseMetricContext, a dictionary, a list of them, or None"
    raise DataError(msg)


def translated(classes: Collection[str], truths: tuple[str, ...], given: Mapping[str, Any]) -> Row:
    """Return the ground truths and arguments of a row, as the metrics in place of these classes need them."""
    row: Row = (truths, dict(given))
    for name in classes:
        if name in _TRANSLATIONS:
            row = _TRANSLATIONS[name](*row)
    return row


def _json_format(truths: tuple[str, ...], given: dict[str, Any]) -> Row:
    truth = _object("JsonFormat", truths)
    expected = truth.get("expected_output")
    schema = {} if truth.get("json_schema") is None else {"json_schema": truth["json_schema"]}
    return () if expected is None else (json.dumps(expected, ensure_ascii=False),), given | schema


def _csv_format(truths: tuple[str, ...], given: dict[str, Any]) -> Row:
    truth = _object("CSVFormat", truths)
    wanted: dict[str, Any] = {"columns": len(truth["columns"])} if truth.get("columns") else {}
    if truth.get("separator"):
        wanted["separator"] = _SEPARATORS.get(truth["separator"], truth["separator"])
    return (), given | {"csv": wanted}


def _length_control(truths: tuple[str, ...], given: dict[str, Any]) -> Row:
    truth = _object("LengthControl", truths)
    wanted = {"unit": truth.get("unit"), "count": int(truth.get("count", 0)), "type": truth.get("type")}
    return (), given | {"length": wanted}


def _counter(unit: str) -> Callable[[tuple[str, ...], dict[str, Any]], Row]:
    """A translation of `comparison` and `word_count` into limits of a unit."""

    def translate(truths: tuple[str, ...], given: dict[str, Any]) -> Row:
        comparison, count = given.get("comparison"), given.get(f"{unit}_count")
        limits = None if count is None else {str(comparison).replace(" ", "_"): count}
        return truths, given | {f"{unit}s": limits}

    return translate


def _with_evaluate(truths: tuple[str, ...], given: dict[str, Any]) -> Row:
    """The arguments of the class's constructor, from the context."""
    names = {"case": "ignore_case", "punctuation": "ignore_punctuation", "digits": "ignore_numbers"}
    ignored = {name: given.get(argument, False) for name, argument in names.items()}
    return truths, given | {"ignore": {"patterns": given.get("regexes_to_ignore", ()), **ignored}}


def _sql(truths: tuple[str, ...], given: dict[str, Any]) -> Row:
    """The statements that build the tables. Raises a `DataError` for the dialect of a server."""
    dialect = given.get("dialect", "sqlite")
    if dialect not in {"sqlite", "standard_sql"}:
        msg = f"LLMJudgeSql: the context has the dialect {dialect!r}; expected 'sqlite' or 'standard_sql'"
        raise DataError(msg)
    return truths, _renamed(given, db_schema="sql_setup")


def _rival(truths: tuple[str, ...], given: dict[str, Any]) -> Row:
    """The other reply; of several turns, the last one."""
    answer = given.get("answer")
    return truths, given | {"rival": answer[-1] if isinstance(answer, (list, tuple)) else answer}


def _code_execution(truths: tuple[str, ...], given: dict[str, Any]) -> Row:
    """The tests as text, with the packages that are installed; the pickled functions of the context are not called."""
    tests = f"{given.get('test_code', '')}\n{_UNITTEST}"
    limits = {"seconds": min(int(given.get("benchmark_timeout", 60)), _SECONDS), "megabytes": 2048}
    names = {"snippet_merge_fn", "output_parse_fn", "package_downloads"}
    left = {name: value for name, value in given.items() if name not in names}
    return truths, left | {"tests": tests, "packages": True, **limits}


def _multipl_e(truths: tuple[str, ...], given: dict[str, Any]) -> Row:
    """The program is the prompt, the reply and the tests. Raises a `DataError` for a language without a compiler."""
    language = given.get("language")
    if language not in LANGUAGES:
        msg = (
            f"MultiPLECodeAssertion: the context has the language {language!r}; expected one of {', '.join(LANGUAGES)}"
        )
        raise DataError(msg)
    return truths, _renamed(given, language="programming_language", prompt="prelude") | {"seconds": 60}


def _renamed(given: Mapping[str, Any], **names: str) -> dict[str, Any]:
    """The arguments under other names, as far as they are given."""
    return {names.get(name, name): value for name, value in given.items()}


def _grid_difference(truths: tuple[str, ...], given: dict[str, Any]) -> Row:
    """The grid of the question stands between these two sentences of the prompt of SPhyR."""
    _, _, after = str(given.get("original", "")).partition("Below is the input grid with masked regions:")
    grid = after.partition("Please output the completed grid")[0].strip()
    return truths, ({"grid": grid} if grid else {}) | given


def _object(metric: str, truths: tuple[str, ...]) -> dict[str, Any]:
    """The ground truth as JSON."""
    try:
        (truth,) = truths
        value = json.loads(truth)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        msg = f"{metric}: the ground truth is {truths!r}; expected one JSON object with the arguments of the metric"
        raise DataError(msg)
    return value


_TRANSLATIONS: Mapping[str, Callable[[tuple[str, ...], dict[str, Any]], Row]] = {
    "JsonFormat": _json_format,
    "CSVFormat": _csv_format,
    "LengthControl": _length_control,
    "AccuracyCompletionWithEvaluate": _with_evaluate,
    "AccuracyCompletionOLMES": lambda truths, given: (truths, given | {"ignore": {"patterns": _OLMES}}),
    "DropF1ExactMatch": lambda truths, given: (truths, _renamed(given, answer_tuples="answers")),
    "GridDifference": _grid_difference,
    "CodeExecutionPassAtOne": _code_execution,
    "CodeExecutionPassAtOneWithCodebench": _code_execution,
    "MultiPLECodeAssertion": _multipl_e,
    "LLMJudgeSql": _sql,
    "MTBenchJudgePair": _rival,
    "WordCounter": _counter("word"),
    "SentenceCounter": _counter("sentence"),
    "ParagraphCounter": _counter("paragraph"),
    "IFEvalMetric": lambda truths, given: (
        truths,
        given | {"kwargs": given.get("additional_kwargs", given.get("kwargs"))},
    ),
    **dict.fromkeys(
        ("MathMinervaCompletion", "MathMinervaCompletionRelaxed"),
        lambda truths, given: (truths, given | {"language": "en"}),
    ),
    **dict.fromkeys(
        ("GermanCompletionChecker", "MathMinervaCompletionDE", "MathMinervaCompletionRelaxedDE"),
        lambda truths, given: (truths, given | {"language": "de"}),
    ),
}
