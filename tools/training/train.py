"""Training: dialogues in, weights out."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils import clip_grad_norm_

from tools.training.cases import LABELS, spread
from tools.training.model import Decoder, Shape
from tools.training.tokens import Example
from tools.training.words import learn_words


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Training settings. `batch_tokens` counts padding; `rate` is the maximum learning rate, after `warm_up` steps.

    Examples of similar length share a batch: they are sorted within windows of `window` examples. `reading` is the
    weight of the reading head's loss, relative to that of the answers.
    """

    batch_tokens: int = 4096
    rate: float = 3e-3
    warm_up: int = 60
    weight_decay: float = 0.1
    window: int = 512
    reading: float = 0.5
    seed: int = 1


def train(examples: Sequence[Example], shape: Shape, plan: Plan, say: Callable[[str], None] = print) -> Decoder:
    """Return a decoder after one pass over the examples."""
    torch.manual_seed(plan.seed)
    model, reader = Decoder(shape), Reader(shape)
    learn_words(model.embedding.weight, reader, reader.odds, examples, plan.rate)
    optimizers = _optimizers(model, reader, plan)
    batches = list(_batches(examples, plan))
    started, mean = time.perf_counter(), math.nan
    for step, batch in enumerate(batches):
        tokens = _padded([example.tokens for example in batch], 0)
        hidden, read = model.states(tokens)
        answers = _answer_loss(hidden, model.embedding.weight, batch)
        loss = answers + plan.reading * reader.loss(read, _padded([example.about for example in batch], -1))
        for each in (model, reader):
            each.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        clip_grad_norm_(model.parameters(), 1.0)
        for optimizer in optimizers:
            for group in optimizer.param_groups:
                group["lr"] = plan.rate * min((step + 1) / plan.warm_up, 1 - step / len(batches))
            optimizer.step()
        mean = answers.item() if math.isnan(mean) else 0.98 * mean + 0.02 * answers.item()
        if step % 50 == 0 or step == len(batches) - 1:
            say(f"step {step + 1:5} of {len(batches)}  loss {mean:.3f}  {time.perf_counter() - started:5.0f} s")
    return model.eval()


class Reader(nn.Linear):
    """A head that predicts, at every word of a text, the odds of its label, from the input of the last block.

    It is used in training alone. An answer is one token in a hundred, too rare to teach what the others mean.
    """

    def __init__(self, shape: Shape) -> None:
        super().__init__(shape.width, len(LABELS))
        odds = [[spread(right).get(label, 0.0) for label in LABELS] for right in LABELS]
        self.odds: Tensor
        self.register_buffer("odds", torch.tensor(odds))

    def loss(self, states: Tensor, about: Tensor) -> Tensor:
        """Return the mean cross entropy against the odds; `states` (B, T, width), `about` (B, T), -1 for no label."""
        labelled = about >= 0
        predicted = self(functional.rms_norm(states[labelled], states.shape[-1:])).log_softmax(-1)
        loss: Tensor = -(self.odds[about[labelled]] * predicted).sum(-1).mean()
        return loss


def _optimizers(model: Decoder, reader: Reader, plan: Plan) -> tuple[torch.optim.Optimizer, ...]:
    """Muon for the matrices of the blocks, AdamW for the rest.

    With AdamW alone the model learned nothing useful in as many steps.
    """
    matrices = [each for each in model.blocks.parameters() if each.dim() > 1]
    vectors = [each for each in model.parameters() if each.dim() == 1]
    decay = plan.weight_decay
    return (
        torch.optim.Muon(matrices, lr=plan.rate, weight_decay=decay / 2, adjust_lr_fn="match_rms_adamw"),
        torch.optim.AdamW([model.embedding.weight], lr=plan.rate, betas=(0.9, 0.95), weight_decay=decay),
        torch.optim.AdamW([*vectors, *reader.parameters()], lr=plan.rate, betas=(0.9, 0.95), weight_decay=0.0),
    )


def _batches(examples: Sequence[Example], plan: Plan) -> Iterator[list[Example]]:
    """Batches in the order of the windows, shuffled within each."""
    random = Random(plan.seed)  # noqa: S311 - no secret
    for start in range(0, len(examples), plan.window):
        batches: list[list[Example]] = [[]]
        for example in sorted(examples[start : start + plan.window], key=lambda example: len(example.tokens)):
            if (len(batches[-1]) + 1) * len(example.tokens) > plan.batch_tokens and batches[-1]:
                batches.append([])
            batches[-1].append(example)
        random.shuffle(batches)
        yield from batches


def _padded(rows: Sequence[NDArray[np.integer[Any]]], filler: int) -> Tensor:
    """(B, T) of rows of up to T."""
    padded = torch.full((len(rows), max(len(row) for row in rows)), filler)
    for number, row in enumerate(rows):
        padded[number, : len(row)] = torch.from_numpy(row)
    return padded


def _answer_loss(hidden: Tensor, embedding: Tensor, batch: Sequence[Example]) -> Tensor:
    """The weighted mean, over all places, of the cross entropy against the odds; `hidden` is (B, T, width)."""
    length = hidden.shape[1]
    places = np.concatenate([row * length + example.places for row, example in enumerate(batch)])
    candidates = torch.from_numpy(np.concatenate([example.candidates for example in batch]))
    chances = torch.from_numpy(np.concatenate([example.chances for example in batch]))
    weights = torch.from_numpy(np.concatenate([example.weights for example in batch]))
    logits = functional.linear(hidden.flatten(0, 1)[torch.from_numpy(places)], embedding)
    surprise = -(chances * logits.log_softmax(-1).gather(1, candidates)).sum(1)
    return (weights * surprise).sum() / weights.sum()
