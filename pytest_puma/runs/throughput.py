"""Throughput of each model in its last run on this machine: `.puma/throughput.json` of the project, read by plans.

    {"qwen2.5-3b.gguf:1929903264": {"prefill": 118.2, "decode": 61.0, "replies": {"triage_jira-zero_shot": 2.1}, ...}}

The name and the size of its file identify a model.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pytest_puma.codec.nouns import read
from pytest_puma.codec.plain import plain
from pytest_puma.core import CellId, Model, Outcome, Speed
from pytest_puma.core.variant import PLUS
from pytest_puma.platform.files import PRIVATE, write_whole
from pytest_puma.platform.json_text import parse_json
from pytest_puma.platform.project_folder import project_folder, throughput_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Throughput:
    """Tokens per second, of prompts (`prefill`) and of replies (`decode`, 0 if there were none), measured on `day`.

    `replies`: the mean number of reply tokens per trial, by scenario and strategy.
    """

    prefill: float
    decode: float
    day: str
    replies: Mapping[str, float] = field(default_factory=dict)

    def reply_tokens(self, cell: CellId, *, trials: int, max_tokens: int) -> float:
        """Return the predicted tokens of all replies; those of unknown length have `max_tokens` together."""
        length = self.replies.get(_kind(cell))
        return max_tokens if length is None else min(max_tokens, trials * length)

    def time(self, prompt_tokens: float, reply_tokens: float) -> float | None:
        """Return the seconds for tokens; None if replies are to be written and their throughput was never measured."""
        if reply_tokens and not self.decode:
            return None
        return prompt_tokens / self.prefill + (reply_tokens / self.decode if reply_tokens else 0.0)


def read_throughput(root: Path, model: Model) -> Throughput | None:
    """Return the throughput of a model, else of the plain one; None if neither ran here. Raises an `OSError`."""
    entries = _entries(root)
    return entries.get(_key(model)) or entries.get(_key(model.loaded))


def write_throughput(root: Path, models: Iterable[Model], outcomes: Iterable[Outcome], *, day: str) -> None:
    """Store the throughput of the models that computed something in this run; entries of other models stay."""
    entries, outcomes = _entries(root), list(outcomes)
    for model in models:
        of_model = (outcome for outcome in outcomes if outcome.name.model == model.name)
        computed = [outcome for outcome in of_model if "weights_sha256" in outcome.execution.signature["engine"]]
        speed = sum((outcome.execution.speed for outcome in computed), Speed())
        if not speed.prefill_seconds:
            continue
        prefill = speed.prefill_tokens / speed.prefill_seconds
        before = entries.get(_key(model)) or Throughput(prefill=prefill, decode=0.0, day=day)
        entries[_key(model)] = Throughput(
            prefill=prefill,
            decode=speed.decode_tokens / speed.decode_seconds if speed.decode_seconds else before.decode,
            day=day,
            replies={**before.replies, **_replies(computed)},
        )
    if entries:
        project_folder(root)
        write_whole(throughput_of(root), json.dumps(plain(entries), indent=1) + "\n", mode=PRIVATE)


def _entries(root: Path) -> dict[str, Throughput]:
    """The throughput of each model; none in a damaged file, as the next run measures it again."""
    try:
        entries = parse_json(throughput_of(root).read_text(encoding="utf-8"))
        return {key: read(Throughput, entry) for key, entry in entries.items()}
    except (FileNotFoundError, ValueError, AttributeError):
        return {}


def _key(model: Model) -> str:
    variant = "" if model.variant is None else f"{PLUS}{model.variant.name}"
    return f"{model.path.name}:{model.size}{variant}"


def _kind(cell: CellId) -> str:
    return f"{cell.scenario}-{cell.strategy}"


def _replies(outcomes: Iterable[Outcome]) -> dict[str, float]:
    """Reply lengths of unperturbed cells; perturbed samples are expected to get replies of the same length."""
    return {
        _kind(outcome.name): outcome.execution.usage.decoded_tokens / max(outcome.execution.trials, 1)
        for outcome in outcomes
        if outcome.name.perturbation is None
    }
