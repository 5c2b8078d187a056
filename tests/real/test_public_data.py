"""Loaders on published files. PUMA_REAL_DATA names the folder that has them; without it these tests are skipped."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pytest_puma.core import Model, Sample
from pytest_puma.engine.native import NativeBackend
from pytest_puma.evaluation.predict import predict
from pytest_puma.metrics.library.mathematics import number_match
from pytest_puma.scenarios import draw
from pytest_puma.scenarios.benchmarks import BENCHMARKS
from pytest_puma.scenarios.benchmarks.benchmark import Benchmark
from pytest_puma.scenarios.benchmarks.knowledge import CommonsenseQa
from pytest_puma.scenarios.benchmarks.programs import HumanEval, functions_of
from pytest_puma.scenarios.benchmarks.reasoning import BigBenchHard, Gsm8k
from pytest_puma.testing import Cell, Engine, parse_strategy
from tests.factories import prediction
from tests.real.conftest import THREADS
from tests.scenarios.benchmarks.sample_requests import sample_requests

ALL = 10_000
#: Benchmark -> the name of its file.
FILES = {
    "csqa": "commonsenseqa_600.jsonl",
    "gsm8k": "gsm8k_300.jsonl",
    "humaneval": "HumanEval.jsonl.gz",
    "bbh": "bbh_snarks.json",
}
#: The end of every prompt; those of HumanEval end with their own code.
CUES = {"csqa": "Answer:", "gsm8k": "Answer:", "humaneval": "", "bbh": "A:"}


@pytest.fixture
def data() -> Path:
    folder = os.environ.get("PUMA_REAL_DATA")
    if folder is None:
        pytest.skip("PUMA_REAL_DATA is not set; expected a folder with published files of benchmarks")
    return Path(folder)


def samples(scenario: Benchmark) -> tuple[Sample, ...]:
    return draw(scenario, ALL, 42)


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("chat", [True, False])
def test_each_row_has_a_prompt_without_and_with_an_example(data: Path, name: str, *, chat: bool) -> None:
    scenario = BENCHMARKS[name](data / FILES[name])
    zero = sample_requests(scenario, "zero_shot", chat=chat, samples=50)
    one = sample_requests(scenario, "one_shot", chat=chat, samples=50)
    assert len({each.text for each in zero}) == len(zero) == len(one) == 50
    assert all(each.text.endswith(CUES[name]) for each in (*zero, *one))


def test_equal_choices_of_commonsense_qa_are_one(data: Path) -> None:
    scenario = CommonsenseQa(data / FILES["csqa"])
    rows = samples(scenario)
    assert len(rows) == 600
    assert [len(sample.choices) for sample in rows].count(4) == 12
    assert all(sum(choice.right for choice in sample.choices) == 1 for sample in rows)
    assert scenario.remarks(rows)[0].startswith("12 of 600 questions have equal choices, which count as one")


def test_solutions_of_gsm8k_have_their_own_number(data: Path) -> None:
    scenario = Gsm8k(data / FILES["gsm8k"])
    rows = samples(scenario)
    scores = [number_match(sample, prediction(sample.id, reply=sample.fields["answer"])) for sample in rows]
    assert scores == [1.0] * 300


@pytest.mark.parametrize(
    "form", ["{body}", "\n{body}\n```\nDone.", "Sure:\n```python\n{prompt}{body}\n```", "```\n{body}\n```"]
)
def test_published_solutions_of_humaneval_are_programs_in_each_form_of_reply(data: Path, form: str) -> None:
    scenario = HumanEval(data / FILES["humaneval"])
    rows = samples(scenario)
    assert len(rows) == 164
    for sample in rows:
        prompt, body = sample.fields["prompt"], sample.references[0]
        reply = form.format(prompt=prompt, body=body).strip()
        program = scenario.post_process(reply, sample)
        assert program is not None
        assert sample.fields["entry_point"] in functions_of(program), sample.id
        assert body.strip() in program, sample.id


@pytest.mark.parametrize(("file", "rows"), [("bbh_snarks.json", 178), ("bbh_boolean_expressions.json", 250)])
def test_targets_of_big_bench_hard_are_read_as_they_are(data: Path, file: str, rows: int) -> None:
    scenario = BigBenchHard(data / file)
    read = [(scenario.read(sample.gold, sample), sample.gold) for sample in samples(scenario)]
    assert len(read) == rows
    assert [answer for answer, _ in read] == [gold for _, gold in read]


@pytest.mark.parametrize(("name", "strategy"), [("csqa", "cloze_scoring"), ("gsm8k", "zero_shot"), ("bbh", "one_shot")])
def test_a_real_model_answers(data: Path, models: dict[str, Model], name: str, strategy: str) -> None:
    scenario = BENCHMARKS[name](data / FILES[name])
    cell = Cell(scenario=scenario, strategy=parse_strategy(strategy), model=models["smollm2"], samples=3)
    engine = Engine(NativeBackend(models["smollm2"], threads=THREADS))
    predictions = predict(cell, engine).predictions
    engine.backend.close()
    assert [each.failure for each in predictions] == [None] * 3
