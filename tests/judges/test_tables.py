"""The tables of planted replies: complete, not won by length, and in the direction of their rubrics."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from pytest_puma.judges.asking import metric_of
from pytest_puma.judges.rubric import Rubric
from pytest_puma.judges.rubrics import RUBRICS
from pytest_puma.judges.wording import quoted
from pytest_puma.testing import Engine, ScriptedBackend
from tests.judges.tables import FOLDER, PlantedPair, judged, table
from tools.data.rows import CANARY

EACH = pytest.mark.parametrize("rubric", RUBRICS, ids=lambda rubric: rubric.name)


def test_each_rubric_has_a_table() -> None:
    assert {path.stem for path in FOLDER.glob("*.jsonl")} == {rubric.name for rubric in RUBRICS}


@EACH
def test_a_table_has_twenty_pairs_of_what_the_rubric_shows_in_its_languages_and_parts(rubric: Rubric) -> None:
    pairs = table(rubric)
    assert len({(pair.good, pair.bad) for pair in pairs}) == 20
    assert {pair.canary for pair in pairs} == {CANARY}
    assert {pair.part for pair in pairs} == {*rubric.questions}
    assert {pair.language for pair in pairs} == {*next(iter(rubric.questions.values())).texts}
    for pair in pairs:
        assert pair.good.strip() != pair.bad.strip() != ""
        assert [bool(pair.task), bool(pair.truth)] == ["task" in rubric.shows, "truth" in rubric.shows]
        assert [message.role for message in pair.asked][-1:] == ["user"] * bool(pair.task)


@EACH
def test_a_judge_that_looks_at_the_length_alone_tells_nothing(rubric: Rubric) -> None:
    lengths = [(len(pair.good), len(pair.bad)) for pair in table(rubric)]
    longer = sum((good > bad) + (good == bad) / 2 for good, bad in lengths)
    if rubric.name == "conciseness":
        assert longer == 0
    else:
        assert 5 <= longer <= 15


@dataclass(frozen=True)
class Careful:
    """A script that knows the good reply: it gets the best verdict of each question, the other one the worst."""

    rubric: Rubric
    pair: PlantedPair

    def __call__(self, prompt: str) -> str:
        _, _, shown, *later = prompt.split("\x03")
        good = quoted(self.pair.good)
        if self.rubric.is_pair:
            return "A" if f"A:\n{good}\n" in shown else "B"
        asked = (later or [shown])[-1]
        scale = next(one.scale for one in self.rubric.questions.values() if one.text(self.pair.language) in asked)
        best = (self.rubric.better == "high") == (f":\n{good}\n\n" in shown)
        return scale.shown(self.pair.language)[scale.values.index((max if best else min)(scale.values))]


@EACH
def test_a_careful_judge_prefers_each_good_reply(rubric: Rubric) -> None:
    metric = metric_of(rubric)
    low, high = metric.bounds or (0.0, 0.0)
    for pair in table(rubric):
        engine = Engine(ScriptedBackend(Careful(rubric, pair)))
        ((good, bad),) = judged(metric, [pair], engine)
        name = f"{metric.name}.{pair.part}" if pair.part else metric.name
        values = good.scores[name], bad.scores[name]
        assert values == ((low, high) if rubric.better == "low" else (high, low)), pair
