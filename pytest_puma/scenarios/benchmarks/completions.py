"""The base of benchmarks with free text as answers."""

from __future__ import annotations

from pytest_puma.scenarios.benchmarks.benchmark import Benchmark
from pytest_puma.scenarios.completion import CompletionScenario


class CompletionBenchmark(Benchmark, CompletionScenario):
    """A loader whose rows have a question and perhaps ground truths."""
