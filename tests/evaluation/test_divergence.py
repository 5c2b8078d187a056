"""Which reply is scored to measure the distance from a plain model, and why it is not measured."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_puma.core import Usage
from pytest_puma.engine.engine import Engine
from pytest_puma.evaluation.cell import Cell
from pytest_puma.evaluation.divergence import ScoredReplies, scored_replies, with_divergence
from pytest_puma.evaluation.predict import CellPredictions, predict
from pytest_puma.testing import ScriptedBackend
from tests import factories


def asked(cell: Cell, reply: str = "Major") -> tuple[CellPredictions, ScoredReplies, Engine]:
    """The answers of a cell, and its own replies scored by its model."""
    engine = Engine(ScriptedBackend({}, default=reply, confidence=5.0))
    answers = predict(cell, engine)
    return answers, scored_replies(cell, answers, engine), engine


@pytest.mark.parametrize(
    ("strategy", "reply", "scored"),
    [("zero_shot", "Major", "Major"), ("option_scoring", "Major", "Major"), ("zero_shot", "", None)],
)
def test_the_reply_is_the_text_or_the_most_probable_label(strategy: str, reply: str, scored: str | None) -> None:
    _, replies, _ = asked(factories.cell(strategy=strategy), reply)
    assert {request.continuations[0].strip() for request in replies.requests.values()} == ({scored} - {None})


def test_the_same_model_is_no_distance_away() -> None:
    cell = factories.cell()
    answers, replies, engine = asked(cell)
    divergence = [prediction.divergence for prediction in with_divergence(cell, answers, replies, engine).predictions]
    assert {len(places) for places in divergence} == {len("Major") + 1}
    assert {place for places in divergence for place in places} == {(0.0, True)}


def test_replies_of_other_samples_or_another_vocabulary_measure_nothing() -> None:
    cell = factories.cell()
    answers, replies, engine = asked(cell)
    others = ScoredReplies({("other", 0): next(iter(replies.requests.values()))}, {})
    found = with_divergence(cell, answers, others, engine)
    assert found.unmeasured["distributions"].endswith("gave no reply to the same samples")
    longer = {
        key: replace(it, usage=Usage(prompt_tokens=it.usage.prompt_tokens + 1)) for key, it in replies.responses.items()
    }
    found = with_divergence(cell, answers, replace(replies, responses=longer), engine)
    assert "the vocabularies of script and script differ" in found.unmeasured["distributions"]
    assert not any(prediction.divergence for prediction in found.predictions)
