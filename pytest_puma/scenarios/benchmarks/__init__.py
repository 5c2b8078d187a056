"""Loaders of public benchmarks, one short file each. No data are bundled: `--puma-data mmlu=PATH` gives them."""

from pytest_puma.scenarios.benchmarks.arc import ArcChallenge, ArcEasy
from pytest_puma.scenarios.benchmarks.bbh import BigBenchHard
from pytest_puma.scenarios.benchmarks.benchmark import Benchmark
from pytest_puma.scenarios.benchmarks.csqa import CommonsenseQa
from pytest_puma.scenarios.benchmarks.gsm8k import Gsm8k
from pytest_puma.scenarios.benchmarks.hellaswag import HellaSwag
from pytest_puma.scenarios.benchmarks.humaneval import HumanEval
from pytest_puma.scenarios.benchmarks.ifeval import IfEval
from pytest_puma.scenarios.benchmarks.math500 import Math500
from pytest_puma.scenarios.benchmarks.mbpp import Mbpp
from pytest_puma.scenarios.benchmarks.mmlu import Mmlu
from pytest_puma.scenarios.benchmarks.mt_bench import MtBench
from pytest_puma.scenarios.benchmarks.openbookqa import OpenBookQa
from pytest_puma.scenarios.benchmarks.piqa import Piqa
from pytest_puma.scenarios.benchmarks.ruler import Ruler
from pytest_puma.scenarios.benchmarks.squad import Squad, SquadV2
from pytest_puma.scenarios.benchmarks.translation import Translation
from pytest_puma.scenarios.benchmarks.truthfulqa import TruthfulQaMc1, TruthfulQaMc2
from pytest_puma.scenarios.benchmarks.winogrande import Winogrande

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
