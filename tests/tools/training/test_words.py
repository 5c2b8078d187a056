"""Before it reads, the model learns of each word which label it speaks for."""

from __future__ import annotations

from itertools import islice
from random import Random

import pytest

from pytest_puma.scenarios.jira import PRIORITIES
from tools.training.cases import LABELS, written
from tools.training.dialogues import Dialogues
from tools.training.phrases import load_phrases
from tools.training.texts import Writer

torch = pytest.importorskip("torch", reason="needs PyTorch: pip install -e '.[training]'")

WIDTH, VOCABULARY = 32, 1000


def test_texts_it_never_saw_are_known_by_their_words() -> None:
    from tools.training.model import Shape
    from tools.training.tokens import encode, train_tokenizer
    from tools.training.train import Reader
    from tools.training.words import learn_words

    phrases = load_phrases()
    supply = Dialogues(phrases, 1)
    dialogues = list(islice(iter(supply.next, None), 400))
    tokenizer = train_tokenizer(map(written, dialogues[:100]), VOCABULARY)
    torch.manual_seed(1)
    embedding = torch.nn.Parameter(torch.randn(VOCABULARY, WIDTH) * 0.02)
    reader = Reader(Shape(width=WIDTH))
    learn_words(embedding, reader, reader.odds, [encode(each, tokenizer) for each in dialogues], rate=0.03)

    writer = Writer(phrases, Random(2))  # noqa: S311 - no secret
    fresh = [writer.issue(label) for label in PRIORITIES for _ in range(50)]
    columns = [LABELS.index(label) for label in PRIORITIES]
    right = 0
    with torch.no_grad():
        for text in fresh:
            ids = tokenizer.encode(f"{text.title}\n{text.description}", add_special_tokens=False).ids
            odds = reader(torch.nn.functional.rms_norm(embedding[ids].sum(0), (WIDTH,)))[columns]
            right += PRIORITIES[int(odds.argmax())] == text.gold
    # Chance is 50, give or take 6.
    assert right > 80
