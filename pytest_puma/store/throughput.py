"""How fast each model was on this machine when it last ran: `.puma/rates.json` of the project, read by plans.

    {"qwen2.5-3b.gguf:1929903264": {"read": 118.2, "written": 61.0, "replies": {"triage_jira-zero_shot": 2.1}, ...}}

A model goes by the name and size of its file.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from pytest_puma.core import Cell, Model, Outcome, Speed
from pytest_puma.core.atomic import write_whole


@dataclass(frozen=True, slots=True, kw_only=True)
class Throughput:
    """Tokens a second, of prompts `read` and of replies `written` (0: none was), measured on `day`.

    `replies`: the mean tokens of what a sample is replied to, by scenario and strategy.
    """

    read: float
    written: float
    day: str
    replies: Mapping[str, float] = field(default_factory=dict)

    def seconds(self, cell: Cell, *, read: int, samples: int, most: int) -> float | None:
        """To read so many tokens and to reply to so many samples; with `most` tokens where replies are not known.

        None where replies are to be written, and none ever was.
        """
        known = self.replies.get(_kind(cell.scenario.name, cell.strategy))
        tokens = most if known is None else min(most, samples * known)
        if tokens and not self.written:
            return None
        return read / self.read + (tokens / self.written if tokens else 0.0)


def read_rates(root: Path, model: Model) -> Throughput | None:
    """Those of a model, None where it never ran."""
    known = _known(root).get(_key(model))
    return None if known is None else Throughput(**known)


def write_rates(root: Path, models: Iterable[Model], outcomes: Iterable[Outcome], *, day: str) -> None:
    """Keep those of the models that computed something in this run; what was known of the others stays."""
    known, outcomes = _known(root), list(outcomes)
    for model in models:
        own = [each for each in outcomes if each.model == model.name and "weights_sha256" in each.signature["engine"]]
        speed = sum((each.speed for each in own), Speed())
        if not speed.read_seconds:
            continue
        before = known.get(_key(model), {})
        rates = Throughput(
            read=speed.read_tokens / speed.read_seconds,
            written=speed.written_tokens / speed.written_seconds if speed.written_seconds else before.get("written", 0),
            day=day,
            replies=before.get("replies", {}) | _replies(own),
        )
        known[_key(model)] = asdict(rates)
    if known:
        write_whole(_file(root), json.dumps(known, indent=1) + "\n")


def _known(root: Path) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads(_file(root).read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError, RecursionError):
        # A damaged file holds nothing that the next run would not measure again.
        return {}
    return found


def _file(root: Path) -> Path:
    return root / ".puma" / "rates.json"


def _key(model: Model) -> str:
    return f"{model.path.name}:{model.path.stat().st_size}"


def _kind(scenario: str, strategy: str) -> str:
    return f"{scenario}-{strategy}"


def _replies(outcomes: Iterable[Outcome]) -> dict[str, float]:
    """What samples are replied to as they are; perturbed ones are taken to be answered at the same length."""
    plain = (each for each in outcomes if each.perturbation is None)
    return {_kind(each.scenario, each.strategy): _length(each) for each in plain}


def _length(outcome: Outcome) -> float:
    samples = outcome.measures["parse_failure_rate"].n
    return outcome.usage.decoded_tokens / samples if samples else 0.0
