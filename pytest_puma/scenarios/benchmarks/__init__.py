"""Loaders of public benchmarks. No data are bundled: `--puma-data mmlu=PATH` gives them."""

from pytest_puma.scenarios.benchmarks.benchmark import Benchmark
from pytest_puma.scenarios.benchmarks.continuations import HellaSwag, Piqa, Winogrande
from pytest_puma.scenarios.benchmarks.instructions import IfEval, MtBench
from pytest_puma.scenarios.benchmarks.labelled import ArcChallenge, ArcEasy, CommonsenseQa, OpenBookQa
from pytest_puma.scenarios.benchmarks.mathematics import Gsm8k, Math500
from pytest_puma.scenarios.benchmarks.mmlu import Mmlu
from pytest_puma.scenarios.benchmarks.programs import HumanEval, Mbpp
from pytest_puma.scenarios.benchmarks.squad import Squad, SquadV2
from pytest_puma.scenarios.benchmarks.tasks import BigBenchHard, Ruler
from pytest_puma.scenarios.benchmarks.translation import Translation
from pytest_puma.scenarios.benchmarks.truthfulqa import TruthfulQaMc1, TruthfulQaMc2

__all__ = ["BENCHMARKS"]

_CLASSES: tuple[type[Benchmark], ...] = (
    Mmlu,
    ArcEasy,
    ArcChallenge,
    CommonsenseQa,
    HellaSwag,
    Piqa,
    Winogrande,
    TruthfulQaMc1,
    TruthfulQaMc2,
    OpenBookQa,
    IfEval,
    Gsm8k,
    Math500,
    HumanEval,
    Mbpp,
    BigBenchHard,
    Squad,
    SquadV2,
    Translation,
    Ruler,
    MtBench,
)

#: By name.
BENCHMARKS: dict[str, type[Benchmark]] = {benchmark.name: benchmark for benchmark in _CLASSES}
