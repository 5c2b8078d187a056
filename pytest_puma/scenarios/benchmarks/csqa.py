"""CommonsenseQA (Talmor et al., 2019): five choices, of which three are neighbours in ConceptNet. See `labelled`.

The answers of the test split are not public, so the development split is evaluated.
"""

from __future__ import annotations

from pytest_puma.scenarios.benchmarks.benchmark import to_obtain
from pytest_puma.scenarios.benchmarks.labelled import LabelledBenchmark


class CommonsenseQa(LabelledBenchmark):
    """Letters are scored, as lm-evaluation-harness does, and texts."""

    name = "csqa"
    split = "validation"
    files = ("dev_rand_split.jsonl",)
    fewshot_files = ("train_rand_split.jsonl",)
    strategies = ("option_scoring", "cloze_scoring")
    scores = ("accuracy_chars",)
    obtain = to_obtain(
        "dev_rand_split.jsonl, 471,653 bytes: 1,221 questions; and 9,741 examples",
        licence="MIT",
        hub="tau/commonsense_qa",
        original="https://www.tau-nlp.org/commonsenseqa",
    )
