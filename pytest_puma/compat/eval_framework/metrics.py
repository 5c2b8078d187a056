"""The metric classes of eval-framework, and the metrics of pytest-puma that take their places.

The arguments of metrics, those of its contexts and ground truths, get the names of pytest-puma (`translated`). Some of
its metrics keep their arguments in the ground truth, as JSON: the schema and the expected output of `JsonFormat`, the
separator and columns of `CSVFormat`, the unit, count and type of `LengthControl`.

A class with several keys has a metric for each. Where a formula of the original is wrong, ours is right: see the page
"Coming from other systems".
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, TypeAlias

from pytest_puma.compat.eval_framework.nouns import BaseMetricContext
from pytest_puma.core import DataError, Metric, SettingsError
from pytest_puma.phrases import did_you_mean

#: Class -> names of metrics.
CLASSES: Mapping[str, tuple[str, ...]] = {
    "AccuracyCompletion": ("exact_match",),
    "AccuracyCompletionWithEvaluate": ("exact_match.loose",),
    "AccuracyCompletionOLMES": ("exact_match.loose",),
    "MathReasoningCompletion": ("math_match",),
    "MathMinervaCompletion": ("minerva", "minerva.flex"),
    "MathMinervaCompletionRelaxed": ("minerva.relaxed", "minerva.relaxed.flex"),
    "MathMinervaCompletionDE": ("minerva", "minerva.flex"),
    "MathMinervaCompletionRelaxedDE": ("minerva.relaxed", "minerva.relaxed.flex"),
    "DropF1ExactMatch": ("drop.f1", "drop.exact"),
    "ExponentialSimilarity": ("percentage_similarity",),
    "ConcordanceIndex": ("list.places",),
    "GridDifference": ("grid.exact", "grid.gain", "grid.gain.clipped"),
    "CWEAccuracy": ("cwe",),
    "NIAHAccuracy": ("needle",),
    "F1": ("f1_words",),
    "F1SquadNormalized": ("f1_squad",),
    "ROUGE_1": ("rouge_1",),
    "ROUGE_2": ("rouge_2",),
    "ROUGE_L": ("rouge_l",),
    "ROUGE_GEOMETRIC_MEAN": ("rouge_geo",),
    "BLEU": ("bleu.sentence",),
    "LINEWISE_BLEU": ("bleu.lines",),
    "ResponseToOriginalBLEU": ("copied",),
    "CHRF": ("chrf",),
    "LINEWISE_CHRF": ("chrf.lines",),
    "TER": ("ter",),
    "LINEWISE_TER": ("ter.lines",),
    "JsonFormat": ("json.only", "json.valid", "json.schema", "json.equal"),
    "CheckJsonFormat": ("json.only",),
    "CSVFormat": ("csv.found", "csv.separator", "csv.columns"),
    "CheckPostScriptFormat": ("postscript",),
    "PlaceholderChecker": ("placeholders",),
    "IFEvalMetric": ("ifeval.prompt", "ifeval.prompt.loose", "ifeval.instruction", "ifeval.instruction.loose"),
    "LanguageChecker": ("language",),
    "GermanCompletionChecker": ("language",),
    "LanguageConsistencyChecker": ("language.same_as_prompt",),
    "LanguageRawConsistencyChecker": ("language.same_as_prompt.raw",),
    "LengthControl": ("length.fulfilled", "length.off", "length.bias"),
    "WordCounter": ("words",),
    "SentenceCounter": ("sentences",),
    "ParagraphCounter": ("paragraphs",),
    "ResponseToOriginalLengthRatio": ("length_ratio",),
    "WordRepetition": ("repetition",),
    "AccuracyLoglikelihood": ("accuracy",),
    "AccuracyNormLoglikelihood": ("accuracy_chars",),
    "ProbabilityMass": ("probability_mass",),
    "ProbabilityMassNorm": ("probability_mass_chars",),
    "BitsPerByteLoglikelihood": ("bits_per_byte",),
    "ConfidenceWeightedAccuracy": ("confidence_weighted",),
    "TernaryScore": ("ternary",),
    "DistributionalCorrectnessScore": ("distributional_correctness",),
}
#: Beginnings of the names of classes without a counterpart, and why there is none.
_ABSENT = {
    "LLMJudge": "needs a second model as a judge",
    "MTBenchJudge": "needs a second model as a judge",
    "Code": "runs programs that the model wrote",
}
#: Metrics that every scenario with choices has.
_ALWAYS = frozenset({"accuracy"})

#: Ground truths and arguments of a row.
Row: TypeAlias = tuple[tuple[str, ...], dict[str, Any]]

#: What OLMES removes from the replies and solutions of GSM8K.
_OLMES = (",", r"\$", r"(?s).*#### ", r"\.$")
_SEPARATORS = {"comma": ",", "semicolon": ";", "space": " ", "tab": "\t"}


def class_name(entry: Any) -> str:
    """Return the name of an entry of `METRICS`: a name, a class of eval-framework itself, or a metric."""
    if isinstance(entry, str):
        return entry
    return entry.name if isinstance(entry, Metric) else str(getattr(entry, "__name__", repr(entry)))


def scores_of(owner: str, entries: Iterable[Any]) -> tuple[str | Metric, ...]:
    """Return the metrics of `METRICS`. Raises a `SettingsError` for a class without a counterpart."""
    scores: list[str | Metric] = []
    for entry in entries:
        name = class_name(entry)
        if isinstance(entry, Metric):
            scores.append(entry)
        elif name in CLASSES:
            scores += [metric for metric in CLASSES[name] if metric not in _ALWAYS]
        else:
            msg = f"{owner}: METRICS has {name}; {unknown_class(name)}"
            raise SettingsError(msg)
    return tuple(dict.fromkeys(scores))


def unknown_class(name: str, others: Iterable[str] = ()) -> str:
    """Return why there is no such class, and what to do. `others`: names that are no metric classes."""
    reason = next((why for start, why in _ABSENT.items() if name.startswith(start)), None)
    if reason is not None:
        return f"metric class {name!r} {reason}, which pytest-puma does not do; leave it out of METRICS"
    names = (*CLASSES, *others)
    hint = did_you_mean(name, names)
    return (
        f"there is no {name!r} in pytest_puma.compat.eval_framework; {hint}METRICS also takes functions with the "
        f"decorator pytest_puma.metric; there are: {', '.join(names)}"
    )


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
    "WordCounter": _counter("word"),
    "SentenceCounter": _counter("sentence"),
    "ParagraphCounter": _counter("paragraph"),
    "IFEvalMetric": lambda truths, given: (
        truths,
        given | {"kwargs": given.get("additional_kwargs", given.get("kwargs"))},
    ),
    **dict.fromkeys(
        ("GermanCompletionChecker", "MathMinervaCompletionDE", "MathMinervaCompletionRelaxedDE"),
        lambda truths, given: (truths, given | {"language": "de"}),
    ),
}
