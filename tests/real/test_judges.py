"""A small real judge on the tables of planted replies: its verdicts are readable, its accuracy is only printed.

Half of each table gives 500 verdicts, minutes on one core. `docs/judges.md` has the numbers of the whole tables.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from pytest_puma.core import JUDGE, Model
from pytest_puma.engine.engine import Engine
from pytest_puma.engine.native import NativeBackend
from pytest_puma.judges.asking import metric_of
from pytest_puma.judges.rubric import Rubric
from pytest_puma.judges.rubrics import RUBRICS
from tests.factories import sample
from tests.judges.tables import judged, table
from tests.real.conftest import THREADS

#: Of each table. The pairs of a language stand together, so every other one shows all languages.
HALF = slice(None, None, 2)
#: The maximum length of reasons by rubric; all others give their verdicts at once, as reasons take minutes.
REASONS = {"refusal": 16}


@pytest.fixture(scope="module")
def engine(models: dict[str, Model]) -> Iterator[Engine]:
    opened = Engine(NativeBackend(models["smollm2"], threads=THREADS))
    yield opened
    opened.close()


@pytest.mark.parametrize("rubric", RUBRICS, ids=lambda rubric: rubric.name)
def test_each_verdict_of_a_small_judge_is_readable_and_inside_its_bounds(rubric: Rubric, engine: Engine) -> None:
    metric = metric_of(replace(rubric, reasons=REASONS.get(rubric.name, 0)))
    low, high = metric.bounds or (0.0, 0.0)
    pairs = table(rubric)[HALF]
    right = 0
    for pair, both in zip(pairs, judged(metric, pairs, engine), strict=True):
        for prediction in both:
            verdicts = [turn.response for turn in prediction.transcripts[JUDGE].turns if turn.continuations]
            assert len(verdicts) == (2 if rubric.is_pair else len(rubric.questions))
            assert all(max(verdict.logprobs) < 0 for verdict in verdicts)
            companions = {one.name.rpartition(".")[2]: one.score(sample(), prediction) for one in metric.companions}
            assert companions["unreadable_rate"] == 0
            assert companions.get("order_disagreement_rate") in ((0, 1) if rubric.is_pair else (None,))
        good, bad = ({name: v for name, v in one.scores.items() if isinstance(v, (int, float))} for one in both)
        assert good.keys() == bad.keys() == {*metric.names}
        assert all(low <= value <= high for value in (*good.values(), *bad.values()))
        name = f"{metric.name}.{pair.part}" if pair.part else metric.name
        right += good[name] < bad[name] if rubric.better == "low" else good[name] > bad[name]
    # To read with -s or -rP: what a small judge can do is worth knowing and no condition.
    print(f"{metric.name}: the good reply has the better verdict in {right} of {len(pairs)} pairs")  # noqa: T201 - as above
