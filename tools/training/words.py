"""Words first: before the model learns to read, it learns which label each word is evidence for.

A bag of words, the mean of the embeddings of some of a text's tokens, predicts the label of the text. That takes
seconds, and generalises to unseen texts; a network without it memorises phrases.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from tools.training.tokens import Example

#: Texts per step, passes over the texts, and the share of tokens that are dropped each time.
BATCH, EPOCHS, DROPPED = 64, 2, 0.5


def learn_words(embedding: Tensor, head: nn.Linear, odds: Tensor, examples: Sequence[Example], rate: float) -> None:
    """Change `embedding` (V, width) and `head` (width to labels) in place; `odds` (labels, labels) by the right one."""
    texts = [text for example in examples for text in _texts(example)]
    decayed = {"params": [embedding], "weight_decay": 0.1}
    plain = {"params": list(head.parameters()), "weight_decay": 0.0}
    optimizer = torch.optim.AdamW([decayed, plain], lr=rate, betas=(0.9, 0.95))
    steps = EPOCHS * -(-len(texts) // BATCH)
    random = Random(1)  # noqa: S311 - no secret
    step = 0
    for _ in range(EPOCHS):
        random.shuffle(texts)
        for start in range(0, len(texts), BATCH):
            batch = texts[start : start + BATCH]
            labels = torch.tensor([label for _, label in batch])
            predicted = head(_means(embedding, [tokens for tokens, _ in batch])).log_softmax(-1)
            loss = -(odds[labels] * predicted).sum(-1).mean()
            for group in optimizer.param_groups:
                group["lr"] = rate * (1 - step / steps)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            step += 1


def _texts(example: Example) -> Iterator[tuple[Tensor, int]]:
    """The tokens of each text in a dialogue, and the number of its label."""
    edges = np.flatnonzero(np.diff(example.about)) + 1
    for tokens, about in zip(np.split(example.tokens, edges), np.split(example.about, edges), strict=True):
        if about[0] >= 0:
            yield torch.from_numpy(tokens.astype(np.int64)), int(about[0])


def _means(embedding: Tensor, texts: Sequence[Tensor]) -> Tensor:
    """(N, width): the mean over some of the tokens of each text, on the scale on which the reader reads."""
    tokens = torch.cat(list(texts))
    owners = torch.repeat_interleave(torch.arange(len(texts)), torch.tensor([len(text) for text in texts]))
    kept = (torch.rand(len(tokens)) >= DROPPED).float()
    sums = torch.zeros(len(texts), embedding.shape[1])
    sums = sums.index_add(0, owners, functional.embedding(tokens, embedding) * kept[:, None])
    return functional.rms_norm(sums, sums.shape[1:])
