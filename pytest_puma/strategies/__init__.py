"""Strategies: ways of asking. Each is a generator that yields requests, receives responses, and returns an answer.

A strategy is named as in `few_shot_3`: hyphens and case do not matter, and K is any number in `few_shot_K`,
`cot_few_shot_K`, `self_consistency_K`, `option_scoring_K` and `cloze_scoring_K`. One strategy has one name: `few_shot`
is `few_shot_3`, `few_shot_1` is `one_shot`, `cot_few_shot_3` is `cot_few_shot`, `self_consistency` is
`self_consistency_5`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from pytest_puma.core import Conversation, Generation, SettingsError
from pytest_puma.errors import did_you_mean
from pytest_puma.strategies import chain_of_thought, cloze_scoring, direct, egi, option_scoring, self_consistency
from pytest_puma.strategies.failure import Failure, failure_of
from pytest_puma.strategies.misnamed import own_strategy
from pytest_puma.strategies.task import Task
from pytest_puma.task_types import KINDS

__all__ = [
    "ALL",
    "Converse",
    "Failure",
    "Strategy",
    "Task",
    "failure_of",
    "parse_strategy",
    "resolve_generation",
]

Converse: TypeAlias = Callable[[Task], Conversation]

ALL = (
    "zero_shot",
    "zero_shot_cot",
    "one_shot",
    "few_shot_3",
    "few_shot_5",
    "few_shot_8",
    "cot_few_shot",
    "rcoif",
    "contextual_anchoring",
    "self_consistency_5",
    "egi",
    "option_scoring",
)

_DEFAULT_SHOTS = 3
_WITH_OPTIONS = frozenset(kind.name for kind in KINDS.values() if kind.form != "texts")
_CHOICE = frozenset(kind.name for kind in KINDS.values() if kind.form == "choices")
_DEFAULT_ANSWERS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Strategy:
    """A way of asking, under its canonical name.

    `templates`: the names of the template that it uses, the first that exists. `shots`: solved examples in the
    prompt. `max_tokens` and `temperature` are the defaults of the cell's settings; a strategy with a temperature
    above 0 compares several replies and refuses 0. `final_line`: only the `Answer:` line of a reply is parsed. `kinds`:
    the kinds of task that it can ask about, empty for all. `composes`: it needs no template if the scenario has methods
    for its prompts. `cloze`: prompts do not show the choices.
    """

    name: str
    converse: Converse
    templates: tuple[str, ...]
    shots: int = 0
    max_tokens: int = direct.MAX_TOKENS
    temperature: float = 0.0
    final_line: bool = False
    kinds: frozenset[str] = frozenset()
    composes: bool = False
    cloze: bool = False


def parse_strategy(text: str, own: Mapping[str, Strategy] | None = None, *, folder: Path | None = None) -> Strategy:
    """Return the strategy of a name as users write it; `own` are those of plugins and templates, by canonical name.

    A `SettingsError` lists the existing names, the nearest, and the file in `folder`, that of the templates of the
    scenario, which would make such a strategy.
    """
    name = text.strip().lower().replace("-", "_")
    if own and name in own:
        return own[name]
    if name in _PLAIN:
        return _PLAIN[name]
    family, count = _split(name)
    if family not in _FAMILIES:
        raise SettingsError(_unknown(text, name, own or {}, folder))
    default, minimum, build = _FAMILIES[family]
    k = default if count is None else count
    if k < minimum:
        msg = f"strategy {text!r}: the number is {k}; expected {family}_K with K at least {minimum}"
        raise SettingsError(msg)
    return build(k)


def is_built_in(name: str) -> bool:
    """Return True if a name means a built-in strategy."""
    try:
        parse_strategy(name)
    except SettingsError:
        return False
    return True


def resolve_generation(strategy: Strategy, generation: Generation, max_tokens: int | None = None) -> Generation:
    """Return the settings, with the strategy's own `max_tokens` and `temperature` where these are unset.

    `max_tokens` is that of the scenario: the minimum for a strategy that reasons, in place of that of any other.

    A `SettingsError` refuses temperature 0 for a strategy that compares several replies: all would be equal.
    """
    if strategy.temperature > 0 and generation.temperature == 0:
        msg = (
            f"strategy {strategy.name}: temperature is 0, so all its answers would be equal; "
            f"expected a positive one; leave it out for {strategy.temperature:g}"
        )
        raise SettingsError(msg)
    if generation.max_tokens is None:
        longest = max(strategy.max_tokens, max_tokens or 0) if strategy.final_line else max_tokens
        generation = replace(generation, max_tokens=longest or strategy.max_tokens)
    return replace(
        generation,
        temperature=strategy.temperature if generation.temperature is None else generation.temperature,
    )


def _few_shot(k: int) -> Strategy:
    name = "one_shot" if k == 1 else f"few_shot_{k}"
    return Strategy(name=name, converse=direct.direct, templates=(name, "few_shot"), shots=k, composes=True)


def _option_scoring(k: int) -> Strategy:
    name = f"option_scoring_{k}"
    return Strategy(
        name=name,
        converse=option_scoring.option_scoring,
        templates=(name, f"few_shot_{k}", "few_shot"),
        shots=k,
        kinds=_WITH_OPTIONS,
        composes=True,
    )


def _cloze_scoring(k: int) -> Strategy:
    name = f"cloze_scoring_{k}"
    return Strategy(
        name=name,
        converse=cloze_scoring.cloze_scoring,
        templates=(name,),
        shots=k,
        kinds=_CHOICE,
        composes=True,
        cloze=True,
    )


def _cot_few_shot(k: int) -> Strategy:
    name = "cot_few_shot" if k == _DEFAULT_SHOTS else f"cot_few_shot_{k}"
    return Strategy(
        name=name,
        converse=chain_of_thought.chain_of_thought,
        templates=tuple(dict.fromkeys((name, "cot_few_shot"))),
        shots=k,
        max_tokens=chain_of_thought.MAX_TOKENS,
        final_line=True,
    )


def _self_consistency(k: int) -> Strategy:
    name = f"self_consistency_{k}"
    return Strategy(
        name=name,
        converse=self_consistency.self_consistency(k),
        templates=(name, "self_consistency", "zero_shot_cot"),
        max_tokens=chain_of_thought.MAX_TOKENS,
        temperature=self_consistency.TEMPERATURE,
        final_line=True,
        composes=True,
    )


def _split(name: str) -> tuple[str, int | None]:
    """`few_shot_3` -> `few_shot`, 3."""
    match = re.fullmatch(r"(\w+?)_([0-9]{1,6})", name)
    return (name, None) if match is None else (match[1], int(match[2]))


def _unknown(text: str, name: str, own: Mapping[str, Strategy], folder: Path | None) -> str:
    names = [*ALL, *own]
    rename, write = own_strategy(name, folder)
    hint = f"{rename}; " if rename else did_you_mean(name, [*names, *_FAMILIES])
    return (
        f"strategy {text!r} is unknown; {hint}there are: {', '.join(names)}, "
        f"and with any other number {', '.join(f'{family}_K' for family in _FAMILIES)}"
        + (f"; {write}" if write else "")
    )


_PLAIN = {
    strategy.name: strategy
    for strategy in (
        Strategy(name="zero_shot", converse=direct.direct, templates=("zero_shot",), composes=True),
        Strategy(
            name="zero_shot_cot",
            converse=chain_of_thought.chain_of_thought,
            templates=("zero_shot_cot",),
            max_tokens=chain_of_thought.MAX_TOKENS,
            final_line=True,
            composes=True,
        ),
        _few_shot(1),
        Strategy(name="rcoif", converse=direct.direct, templates=("rcoif",)),
        Strategy(name="contextual_anchoring", converse=direct.direct, templates=("contextual_anchoring",)),
        Strategy(name="egi", converse=egi.egi, templates=("egi",), max_tokens=egi.MAX_TOKENS, final_line=True),
        Strategy(
            name="option_scoring",
            converse=option_scoring.option_scoring,
            templates=("option_scoring", "zero_shot"),
            kinds=_WITH_OPTIONS,
            composes=True,
        ),
        Strategy(
            name="cloze_scoring",
            converse=cloze_scoring.cloze_scoring,
            templates=("cloze_scoring",),
            kinds=_CHOICE,
            composes=True,
            cloze=True,
        ),
    )
}

#: Family -> its default K, its minimum K, and the builder of its strategies.
_FAMILIES: Mapping[str, tuple[int, int, Callable[[int], Strategy]]] = {
    "few_shot": (_DEFAULT_SHOTS, 1, _few_shot),
    "cot_few_shot": (_DEFAULT_SHOTS, 1, _cot_few_shot),
    "self_consistency": (_DEFAULT_ANSWERS, 2, _self_consistency),
    "option_scoring": (_DEFAULT_SHOTS, 1, _option_scoring),
    "cloze_scoring": (_DEFAULT_SHOTS, 1, _cloze_scoring),
}
