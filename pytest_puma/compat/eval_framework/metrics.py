"""The metric classes of eval-framework, and the metrics of pytest-puma that take their places.

The arguments of metrics, those of its contexts and ground truths, get the names of pytest-puma (see `context`).

A class with several keys has a metric for each. Where a formula of the original is wrong, ours is right: see the page
"Coming from other systems".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pytest_puma.core import Metric, SettingsError
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
    "CodeCompletionAssertion": ("prints_true",),
    "CodeExecutionPassAtOne": ("tests_passed",),
    "CodeExecutionPassAtOneWithCodebench": ("tests_passed",),
    "MultiPLECodeAssertion": ("tests_passed",),
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
    "BytesCompletion": ("bytes_per_token",),
    "BytesLoglikelihood": ("bytes_per_token",),
    "SequencePositionsCompletion": ("bytes_per_token",),
    "SequencePositionsLoglikelihood": ("bytes_per_token",),
    "PartialEvalAccuracy": ("accuracy",),
    "ConfidenceWeightedAccuracy": ("confidence_weighted",),
    "TernaryScore": ("ternary",),
    "DistributionalCorrectnessScore": ("distributional_correctness",),
    "LLMJudgeChatbotStyle": ("judge.chatbot_style",),
    "LLMJudgeCoherence": ("judge.coherence",),
    "LLMJudgeCompletionAccuracy": ("judge.completion_accuracy",),
    "LLMJudgeConciseness": ("judge.conciseness",),
    "LLMJudgeAvoidsNames": ("judge.avoids_names",),
    "LLMJudgeFormatCorrectness": ("judge.format_correctness",),
    "LLMJudgeInstruction": ("judge.instruction",),
    "LLMJudgeRefusal": ("judge.refusal",),
    "LLMJudgeSql": ("sql.runs", "sql.only", "sql.rows", "sql.equal", "judge.sql_quality"),
    "LLMJudgeWorldKnowledge": ("judge.world_knowledge",),
    "MTBenchJudgeSingle": ("judge.mt_bench",),
    "MTBenchJudgePair": ("judge.mt_bench_pair",),
}
#: Metrics that every scenario with choices has.
_ALWAYS = frozenset({"accuracy"})


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
    """Return that there is no such class, and what to do. `others`: names that are no metric classes."""
    names = (*CLASSES, *others)
    hint = did_you_mean(name, names)
    return (
        f"there is no {name!r} in pytest_puma.compat.eval_framework; {hint}METRICS also takes functions with the "
        f"decorator pytest_puma.metric; there are: {', '.join(names)}"
    )
