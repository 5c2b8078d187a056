"""Tokens of issues cut in two: the same text, the same to learn, and nothing else touched."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest

pytest.importorskip("tokenizers", reason="needs a tokenizer: pip install -e '.[test]'")

from tokenizers import Tokenizer

from tools.training.cases import LABELS, written
from tools.training.dialogues import Dialogues
from tools.training.phrases import load_phrases
from tools.training.splits import Splits
from tools.training.tokens import Example, encode, train_tokenizer


@pytest.fixture(scope="module")
def dialogues() -> Dialogues:
    return Dialogues(load_phrases(), seed=3)


@pytest.fixture(scope="module")
def tokenizer(dialogues: Dialogues) -> Tokenizer:
    texts = (written(dialogues.next()) for _ in range(50))
    return train_tokenizer(texts, 1024)


def examples_of(scenario: str, dialogues: Dialogues, tokenizer: Tokenizer) -> list[Example]:
    return [encode(dialogues.of(scenario, "few_shot_3"), tokenizer) for _ in range(20)]


def same(one: Example, other: Example) -> bool:
    return all(np.array_equal(getattr(one, each.name), getattr(other, each.name)) for each in fields(Example))


def test_issues_are_cut_and_say_the_same(dialogues: Dialogues, tokenizer: Tokenizer) -> None:
    whole = examples_of("triage_jira", dialogues, tokenizer)
    splits = Splits(tokenizer, seed=1)
    cut = [splits.of(example) for example in whole]
    grown = [len(after.tokens) - len(before.tokens) for before, after in zip(whole, cut, strict=True)]
    assert {size > 0 for size in grown} == {True, False}
    for before, after in zip(whole, cut, strict=True):
        assert tokenizer.decode(after.tokens.tolist()) == tokenizer.decode(before.tokens.tolist())
        assert len(after.about) == len(after.tokens)
        assert after.tokens[after.places + 1].tolist() == before.tokens[before.places + 1].tolist()
        assert after.tokens[after.about < 0].tolist() == before.tokens[before.about < 0].tolist()
        assert set(after.about) == set(before.about)


def test_backlog_items_stay_whole(dialogues: Dialogues, tokenizer: Tokenizer) -> None:
    splits = Splits(tokenizer, seed=1)
    whole = examples_of("estimation_tawos", dialogues, tokenizer)
    assert all(LABELS[label] in {"1", "2", "3", "5", "8", "13", "21", "34"} for label in set(whole[0].about) - {-1})
    assert all(same(splits.of(example), example) for example in whole)


def test_the_same_seed_cuts_the_same_way(dialogues: Dialogues, tokenizer: Tokenizer) -> None:
    whole = examples_of("triage_jira", dialogues, tokenizer)
    one, two = (Splits(tokenizer, seed=2) for _ in range(2))
    assert all(same(one.of(example), two.of(example)) for example in whole)
