"""The Parquet files of the hub, in the folders that it has, against the same rows as JSON Lines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from pytest_puma.scenarios.benchmarks import BENCHMARKS
from tests.scenarios.benchmarks.sample_requests import json_lines, sample_requests
from tests.scenarios.benchmarks.test_aime import ROW as WAYS
from tests.scenarios.benchmarks.test_copa import row as copa
from tests.scenarios.benchmarks.test_drop import PASSAGE, TOWNS
from tests.scenarios.benchmarks.test_exams import CLOUD, FEES, HURT, IRON
from tests.scenarios.benchmarks.test_gsm8k import TEST as PEARS
from tests.scenarios.benchmarks.test_hellaswag import row as hellaswag
from tests.scenarios.benchmarks.test_humaneval import ROWS as FUNCTIONS
from tests.scenarios.benchmarks.test_math import row as math
from tests.scenarios.benchmarks.test_mbpp import row as mbpp
from tests.scenarios.benchmarks.test_openbookqa import HUB as LAMP
from tests.scenarios.benchmarks.test_trivia import HUB as LOOM
from tests.scenarios.benchmarks.test_trivia import TOWN
from tests.scenarios.benchmarks.test_truthfulqa import HUB as COWS

pytest.importorskip("pyarrow")

FACTS = {"subject": "sums", "question": "Which is even?", "choices": ["1", "2", "3", "5"], "answer": 1}
MELTS = {
    "id": "T",
    "question": "What melts?",
    "choices": {"text": ["stone", "ice"], "label": ["1", "2"]},
    "answerKey": "2",
}
BOATS = {
    "id": "q",
    "title": "B",
    "context": "Ada.",
    "question": "Who?",
    "answers": {"text": ["Ada"], "answer_start": [0]},
}
FUNCTION = mbpp(11) | {"challenge_test_list": ["assert True"]}
#: Benchmark -> the file in the hub's folder, and a row.
HUB: dict[str, tuple[str, dict[str, Any]]] = {
    "mmlu": ("all/test-00000-of-00001.parquet", FACTS),
    "arc_easy": ("ARC-Easy/test-00000-of-00001.parquet", MELTS),
    "arc_challenge": ("ARC-Challenge/test-00000-of-00001.parquet", MELTS),
    "csqa": ("data/validation-00000-of-00001.parquet", MELTS),
    "hellaswag": ("data/validation-00000-of-00001.parquet", hellaswag()),
    "piqa": (
        "plain_text/validation-00000-of-00001.parquet",
        {"goal": "Dry", "sol1": "sun", "sol2": "rain", "label": 0},
    ),
    "winogrande": (
        "winogrande_xl/validation-00000-of-00001.parquet",
        {"sentence": "A cup and a rug: the _ broke.", "option1": "cup", "option2": "rug", "answer": "1"},
    ),
    "truthfulqa_mc1": ("multiple_choice/validation-00000-of-00001.parquet", COWS),
    "truthfulqa_mc2": ("multiple_choice/validation-00000-of-00001.parquet", COWS),
    "openbookqa": ("main/test-00000-of-00001.parquet", LAMP),
    "goldenswag": ("data/validation-00000-of-00001.parquet", hellaswag()),
    "copa": ("copa/validation-00000-of-00001.parquet", copa()),
    "sciq": ("data/test-00000-of-00001.parquet", CLOUD),
    "social_iqa": ("default/validation/0000.parquet", HURT | {"label": "2"}),
    "medqa": ("data/test-00000-of-00001.parquet", {"question": "What lacks?", "choices": list(IRON), "answer_idx": 1}),
    "mmlu_pro": ("data/test-00000-of-00001.parquet", FEES),
    "gsm8k": ("main/test-00000-of-00001.parquet", PEARS),
    "humaneval": ("openai_humaneval/test-00000-of-00001.parquet", FUNCTIONS[0]),
    "mbpp": ("full/test-00000-of-00001.parquet", FUNCTION),
    "squad": ("plain_text/validation-00000-of-00001.parquet", BOATS),
    "squad_v2": ("squad_v2/validation-00000-of-00001.parquet", BOATS),
    "aime2024": ("data/train-00000-of-00001.parquet", WAYS),
    "math": ("algebra/test-00000-of-00001.parquet", math("Find $1+1$.", "2")),
    "drop": ("default/validation/0000.parquet", {"passage": PASSAGE, **TOWNS}),
    "naturalqs": ("nq_open/validation-00000-of-00001.parquet", TOWN),
    "triviaqa": ("rc.wikipedia.nocontext/validation-00000-of-00001.parquet", LOOM),
    "translation": ("de-en/test-00000-of-00001.parquet", {"translation": {"de": "Die Katze.", "en": "The cat."}}),
}


@pytest.mark.parametrize("name", HUB)
def test_parquet_and_json_lines_ask_the_same(tmp_path: Path, name: str) -> None:
    file, row = HUB[name]
    path = tmp_path / "hub" / file
    path.parent.mkdir(parents=True)
    pd.DataFrame([row]).to_parquet(path)
    benchmark = BENCHMARKS[name]
    expected = sample_requests(benchmark(json_lines(tmp_path / "rows.jsonl", [row])))
    assert sample_requests(benchmark(path)) == expected
    assert sample_requests(benchmark(tmp_path / "hub")) == expected, "the folder of the data set"
