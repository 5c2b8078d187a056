"""Loaders of public benchmarks, one short file each. No data are bundled: `--puma-data mmlu=PATH` gives them."""

from pytest_puma.scenarios.benchmarks.arc import ArcChallenge, ArcEasy
from pytest_puma.scenarios.benchmarks.benchmark import Benchmark
from pytest_puma.scenarios.benchmarks.mmlu import Mmlu

__all__ = ["BENCHMARKS"]

_CLASSES: tuple[type[Benchmark], ...] = (Mmlu, ArcEasy, ArcChallenge)

#: By name.
BENCHMARKS: dict[str, type[Benchmark]] = {benchmark.name: benchmark for benchmark in _CLASSES}
