"""Loaders of public benchmarks. No data are bundled: `--puma-data mmlu=PATH` gives them."""

from pytest_puma.scenarios.benchmarks import (
    continuations,
    exams,
    instructions,
    knowledge,
    languages,
    programs,
    reading,
    reasoning,
)
from pytest_puma.scenarios.benchmarks.benchmark import Benchmark
from pytest_puma.scenarios.benchmarks.translation import Translation

__all__ = ["BENCHMARKS"]

_CLASSES: tuple[type[Benchmark], ...] = (
    knowledge.Mmlu,
    knowledge.ArcEasy,
    knowledge.ArcChallenge,
    knowledge.CommonsenseQa,
    continuations.HellaSwag,
    continuations.GoldenSwag,
    continuations.Copa,
    continuations.Piqa,
    continuations.Winogrande,
    knowledge.TruthfulQaMc1,
    knowledge.TruthfulQaMc2,
    knowledge.OpenBookQa,
    exams.SciQ,
    exams.SocialIqa,
    exams.MedQa,
    exams.Gpqa,
    exams.MmluPro,
    instructions.IfEval,
    reasoning.Gsm8k,
    reasoning.Math500,
    programs.HumanEval,
    programs.Mbpp,
    languages.MultiPlE,
    reasoning.BigBenchHard,
    reading.Squad,
    reading.SquadV2,
    Translation,
    reading.Ruler,
    instructions.MtBench,
)

#: By name.
BENCHMARKS: dict[str, type[Benchmark]] = {benchmark.name: benchmark for benchmark in _CLASSES}
