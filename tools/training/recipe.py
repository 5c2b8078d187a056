"""The steps of the recipe, each from files to files of one working folder.

Dialogues (`dialogues.jsonl`), the tokenizer (`tokenizer.json`), the weights (`weights.pt`), the model
(`puma-tiny.gguf`) and the logits for a test (`logits.npz`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path

import torch
from tokenizers import Tokenizer

from tools.training.calibration import calibrate
from tools.training.cases import Piece, written
from tools.training.dialogues import Dialogues
from tools.training.export import NAME, write_gguf, write_logits
from tools.training.model import Decoder, Shape
from tools.training.phrases import load_phrases
from tools.training.splits import Splits
from tools.training.tokens import Example, encode, train_tokenizer
from tools.training.train import Plan, train

DIALOGUES, TOKENIZER, WEIGHTS = "dialogues.jsonl", "tokenizer.json", "weights.pt"
MODEL, LOGITS = f"{NAME}.gguf", "logits.npz"
#: Number of dialogues for training the tokenizer, and of fresh ones with stored logits.
SPELLED, COMPARED = 4000, 150


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """Sizes and settings; the seed decides all random choices."""

    dialogues: int = 14_500
    shape: Shape = field(default_factory=Shape)
    plan: Plan = field(default_factory=Plan)
    seed: int = 1


FULL = Recipe()
#: Runs every step within a minute; the model is of no use.
SMOKE = Recipe(
    dialogues=60,
    shape=Shape(vocabulary=768, width=64, layers=1, heads=2, kv_heads=1, feed_forward=128),
    plan=Plan(),
)


def generate(folder: Path, recipe: Recipe) -> None:
    """Write the dialogues, one per line."""
    folder.mkdir(parents=True, exist_ok=True)
    supply = Dialogues(load_phrases(), recipe.seed)
    with (folder / DIALOGUES).open("w", encoding="utf-8") as stream:
        for _ in range(recipe.dialogues):
            pieces = [asdict(piece) for piece in supply.next()]
            stream.write(json.dumps(pieces, ensure_ascii=False) + "\n")


def tokenizer(folder: Path, recipe: Recipe) -> None:
    """Learn the tokenizer from some of the dialogues."""
    some = islice(_dialogues(folder), SPELLED)
    train_tokenizer(map(written, some), recipe.shape.vocabulary).save(str(folder / TOKENIZER))


def training(folder: Path, recipe: Recipe) -> None:
    """Train on every dialogue once; then calibrate the model."""
    trained = _tokenizer(folder)
    splits = Splits(trained, recipe.seed)
    examples = [splits.of(encode(dialogue, trained)) for dialogue in _dialogues(folder)]
    print(f"{len(examples):,} dialogues, {sum(len(each.tokens) for each in examples):,} tokens")
    model = train(examples, recipe.shape, recipe.plan)
    print(f"temperature {calibrate(model, trained):.2f}")
    torch.save(model.state_dict(), folder / WEIGHTS)


def export(folder: Path, recipe: Recipe) -> None:
    """Write the GGUF file, and the logits of dialogues that were not trained on."""
    model, trained = Decoder(recipe.shape), _tokenizer(folder)
    model.load_state_dict(torch.load(folder / WEIGHTS, weights_only=True))
    write_gguf(folder / MODEL, model.eval(), trained)
    write_logits(folder / LOGITS, model, _fresh(trained, recipe))


def _fresh(trained: Tokenizer, recipe: Recipe) -> list[Example]:
    supply = Dialogues(load_phrases(), recipe.seed + 1)
    return [encode(supply.next(), trained) for _ in range(min(COMPARED, recipe.dialogues))]


def _dialogues(folder: Path) -> Iterator[tuple[Piece, ...]]:
    with (folder / DIALOGUES).open(encoding="utf-8") as stream:
        for line in stream:
            yield tuple(Piece(**piece) for piece in json.loads(line))


def _tokenizer(folder: Path) -> Tokenizer:
    return Tokenizer.from_file(str(folder / TOKENIZER))
