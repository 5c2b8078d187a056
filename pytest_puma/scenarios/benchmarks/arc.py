"""ARC (Clark et al., 2018): science questions for schools, in two parts. Formats: see `labelled`."""

from __future__ import annotations

from pytest_puma.scenarios.benchmarks.benchmark import to_obtain
from pytest_puma.scenarios.benchmarks.labelled import LabelledBenchmark


class Arc(LabelledBenchmark):
    """The base of both parts. The texts of the choices are scored, as lm-evaluation-harness does."""

    strategies = ("cloze_scoring",)
    scores = ("accuracy_chars",)


class ArcEasy(Arc):
    """The questions that simple programs answer."""

    name = "arc_easy"
    files = ("ARC-Easy-Test.jsonl", "ARC-Easy/test-*.parquet")
    fewshot_files = ("ARC-Easy-Train.jsonl", "ARC-Easy/train-*.parquet")
    obtain = to_obtain(
        "2,376 questions and 2,251 examples",
        licence="CC BY-SA 4.0",
        hub="allenai/ai2_arc:ARC-Easy/*",
        original="ARC-V1-Feb2018 of the Allen Institute for AI",
    )


class ArcChallenge(Arc):
    """The questions that simple programs get wrong."""

    name = "arc_challenge"
    files = ("ARC-Challenge-Test.jsonl", "ARC-Challenge/test-*.parquet")
    fewshot_files = ("ARC-Challenge-Train.jsonl", "ARC-Challenge/train-*.parquet")
    obtain = to_obtain(
        "1,172 questions and 1,119 examples",
        licence="CC BY-SA 4.0",
        hub="allenai/ai2_arc:ARC-Challenge/*",
        original="ARC-V1-Feb2018 of the Allen Institute for AI",
    )
