"""Loaders of public benchmarks, one short file each. No data are bundled: `--puma-data mmlu=PATH` gives them."""

from pytest_puma.scenarios.benchmarks.arc import ArcChallenge, ArcEasy
from pytest_puma.scenarios.benchmarks.benchmark import Benchmark
from pytest_puma.scenarios.benchmarks.csqa import CommonsenseQa
from pytest_puma.scenarios.benchmarks.hellaswag import HellaSwag
from pytest_puma.scenarios.benchmarks.ifeval import IfEval
from pytest_puma.scenarios.benchmarks.mmlu import Mmlu
from pytest_puma.scenarios.benchmarks.openbookqa import OpenBookQa
from pytest_puma.scenarios.benchmarks.piqa import Piqa
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
)

#: By name.
BENCHMARKS: dict[str, type[Benchmark]] = {benchmark.name: benchmark for benchmark in _CLASSES}
