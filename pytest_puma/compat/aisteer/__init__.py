"""Use cases of AISteer360 as scenarios: import its names from here, and put an instance into a marker.

from pytest_puma.compat.aisteer import MCQAAccuracy, UseCase, batch_retry_generate

class CommonsenseMCQA(UseCase):
    def generate(self, model_or_pipeline, tokenizer, gen_kwargs=None, runtime_overrides=None): ...
    def evaluate(self, generations): ...

@pytest.mark.puma(CommonsenseMCQA("rows.jsonl", [MCQAAccuracy()], num_shuffling_runs=20))
def test_commonsense(puma): ...
"""

from pytest_puma.compat.aisteer.generation import batch_retry_generate
from pytest_puma.compat.aisteer.metrics import MCQAAccuracy, MCQAPositionalBias
from pytest_puma.compat.aisteer.metrics import UseCaseMetric as Metric
from pytest_puma.compat.aisteer.use_case import UseCase

__all__ = ["MCQAAccuracy", "MCQAPositionalBias", "Metric", "UseCase", "batch_retry_generate"]
