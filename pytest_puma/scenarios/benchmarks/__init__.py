"""Loaders of public benchmarks. No data are bundled: `--puma-data mmlu=PATH` gives them."""

from pytest_puma.scenarios.benchmarks import (
    continuations,
    exams,
    instructions,
    knowledge,
    languages,
    multilingual,
    programs,
    reading,
    reasoning,
    trivia,
)
from pytest_puma.scenarios.benchmarks.benchmark import Benchmark
from pytest_puma.scenarios.benchmarks.translation import Flores, Translation

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
    exams.ArcDe,
    exams.NaturalQuestionsChoices,
    exams.DropChoices,
    multilingual.GlobalMmlu,
    multilingual.Belebele,
    instructions.IfEval,
    reasoning.Gsm8k,
    reasoning.Gsm8kBpb,
    reasoning.Math,
    reasoning.MathBpb,
    reasoning.Math500,
    reasoning.Aime2024,
    reasoning.Aime2025,
    reasoning.Aime2026,
    programs.HumanEval,
    programs.Mbpp,
    languages.MultiPlE,
    reasoning.BigBenchHard,
    reading.Squad,
    reading.SquadV2,
    reading.DropPassages,
    trivia.NaturalQuestions,
    trivia.TriviaQa,
    Translation,
    Flores,
    reading.Ruler,
    instructions.MtBench,
)

#: By name.
BENCHMARKS: dict[str, type[Benchmark]] = {benchmark.name: benchmark for benchmark in _CLASSES}
