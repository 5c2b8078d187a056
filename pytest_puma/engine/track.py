"""One sequence of the KV cache on its way: the tokens it will hold, and how many it holds now."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from dataclasses import dataclass

from pytest_puma.core import Step
from pytest_puma.engine.jobs import Job


@dataclass(slots=True, eq=False)
class Track:
    """A sequence and its target `tokens`, of which it holds the first `held`.

    Without a `job` it is a fork point. `kv_slots` counts the slots that only this track accounts for; they become
    free when it is dropped and its last child is gone.
    """

    tokens: array[int]
    rows_from: int
    sequence: int
    parent: Track | None
    kv_slots: int
    held: int
    job: Job | None = None
    tail: int | None = None
    children: int = 0
    dropped: bool = False

    @property
    def pending(self) -> int:
        """Tokens still to be decoded."""
        return len(self.tokens) - self.held

    @property
    def generates(self) -> bool:
        """Whether its prefill is complete and only new tokens are pending."""
        return self.job is not None and self.tail is None and self.held >= len(self.job.tokens)

    def leads_to(self, job: Job) -> bool:
        """Whether its tokens are a proper prefix of the job's tokens."""
        length = len(self.tokens)
        return length < len(job.tokens) and job.tokens[:length] == self.tokens

    def step(self, tokens: int, rows: int) -> Step:
        """Return the next tokens that fit into `tokens` tokens and `rows` rows of logits."""
        end = min(len(self.tokens), self.held + tokens, max(self.rows_from, self.held) + rows)
        pending = self.tokens[self.held : end]
        return Step(self.sequence, self.held, pending, min(max(self.rows_from - self.held, 0), len(pending)))


def batch_of(tracks: Iterable[Track], *, tokens: int, rows: int) -> list[tuple[Track, Step]]:
    """Fill a batch of at most these tokens and rows of logits; the last track may be cut to fit."""
    chosen: list[tuple[Track, Step]] = []
    for track in tracks:
        step = track.step(tokens, rows)
        if not step.tokens:
            break
        chosen.append((track, step))
        tokens -= len(step.tokens)
        rows -= len(step.tokens) - step.rows_from
    return chosen
