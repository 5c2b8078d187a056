"""One temperature for all logits: what is said stays, how surely changes."""

from __future__ import annotations

from statistics import fmean

import numpy as np
import pytest

pytest.importorskip("torch", reason="needs PyTorch: pip install -e '.[training]'")

import torch
from tokenizers import Tokenizer

from pytest_puma.datasets.sampling import draw
from pytest_puma.scenarios import TriageJiraScenario
from tools.training import SELECTION, calibration
from tools.training.calibration import TEMPERATURES, calibrate, choices
from tools.training.cases import written
from tools.training.dialogues import answered
from tools.training.model import Decoder
from tools.training.recipe import SMOKE
from tools.training.tokens import encode, train_tokenizer


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    scenario = TriageJiraScenario(SELECTION / "issues.csv")
    texts = (written(answered(scenario, sample)) for sample in draw(scenario, 50, 1))
    return train_tokenizer(texts, SMOKE.shape.vocabulary)


@pytest.fixture
def sure_of_nonsense(monkeypatch: pytest.MonkeyPatch) -> Decoder:
    monkeypatch.setattr(calibration, "SAMPLES", 4)
    torch.manual_seed(1)
    model = Decoder(SMOKE.shape).eval()
    model.norm.weight.data *= 30
    return model


def test_who_is_wrong_becomes_less_sure(sure_of_nonsense: Decoder, tokenizer: Tokenizer) -> None:
    scenario = TriageJiraScenario(SELECTION / "issues.csv")

    def surprise() -> float:
        rows = (choices(sure_of_nonsense, tokenizer, scenario, each) for each in draw(scenario, 4, 42))
        return fmean(calibration.surprise(each, 1.0) for each in rows)

    before = surprise()
    assert calibrate(sure_of_nonsense, tokenizer) == pytest.approx(TEMPERATURES[-1])
    assert surprise() < before


def test_every_logit_is_divided(sure_of_nonsense: Decoder, tokenizer: Tokenizer) -> None:
    sample = draw(scenario := TriageJiraScenario(SELECTION / "issues.csv"), 1, 42)[0]
    tokens = torch.from_numpy(encode(answered(scenario, sample), tokenizer).tokens[None].astype(np.int64))
    before = sure_of_nonsense.logits(tokens).detach()
    temperature = calibrate(sure_of_nonsense, tokenizer)
    assert torch.allclose(sure_of_nonsense.logits(tokens), before / temperature, atol=1e-4)


def test_a_question_has_its_right_answer_among_all_labels() -> None:
    scenario = TriageJiraScenario(SELECTION / "issues.csv")
    for sample in draw(scenario, 8, 42):
        pieces = answered(scenario, sample)
        (answer,) = (piece for piece in pieces if piece.odds is not None)
        assert answer.text == sample.gold
        assert list(answer.odds or ()) == scenario.valid_labels()
        assert str(sample.fields["title"]) in written(pieces)
