"""The strategies by name: the built-in ones, and those of plugins and of templates of a project."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Literal, TypeAlias

from pytest_puma.core import Capability, Conversation, Generation, SettingsError
from pytest_puma.phrases import did_you_mean
from pytest_puma.strategies import conversations
from pytest_puma.strategies.task import Task
from pytest_puma.strategies.templates import own_strategy
from pytest_puma.strategies.valid_answers import grammar_of
from pytest_puma.task_types import KINDS

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
_WITH_OPTIONS = frozenset(kind.name for kind in KINDS.values() if kind.form != "texts")
_CHOICE = frozenset(kind.name for kind in KINDS.values() if kind.form == "choices")


@dataclass(frozen=True, slots=True, kw_only=True)
class Strategy:
    """A way of asking, under its canonical name.

    `templates`: the names of the template that it uses, the first that exists. `shots`: solved examples in the
    prompt; `choice`: how each sample gets its own, empty if those of a group share them. `max_tokens` and `temperature`
    are the defaults of the cell's settings; a strategy with a temperature above 0 compares several replies and refuses
    0. `final_line`: only the `Answer:` line of a reply is parsed. `kinds`: the kinds of task that it can ask about,
    empty for all. `composes`: it needs no template if the scenario has methods for its prompts. `cloze`: prompts do not
    show the choices. `texts`: they do, and the answers are their texts. `needs`: what the responder must be able to do.
    `check`: raises an error for a trial that it cannot ask about, before a model is loaded.
    """

    name: str
    converse: Converse
    templates: tuple[str, ...]
    shots: int = 0
    choice: Literal["", "similar", "diverse"] = ""
    max_tokens: int = 16
    temperature: float = 0.0
    final_line: bool = False
    kinds: frozenset[str] = frozenset()
    composes: bool = False
    cloze: bool = False
    texts: bool = False
    needs: frozenset[Capability] = frozenset({"generate"})
    check: Callable[[Task], object] | None = None


_REASONING = Strategy(
    name="zero_shot_cot",
    converse=conversations.chain_of_thought,
    templates=("zero_shot_cot",),
    max_tokens=256,
    final_line=True,
    composes=True,
)
_DIRECT = Strategy(name="zero_shot", converse=conversations.direct, templates=("zero_shot",), composes=True)
_OPTIONS = replace(
    _DIRECT,
    name="option_scoring",
    converse=conversations.option_scoring,
    templates=("option_scoring", "zero_shot"),
    kinds=_WITH_OPTIONS,
    needs=frozenset({"score"}),
)
_CLOZE = replace(
    _DIRECT,
    name="cloze_scoring",
    converse=conversations.cloze_scoring,
    templates=("cloze_scoring",),
    kinds=_CHOICE,
    cloze=True,
    needs=frozenset({"score"}),
)
_TEXTS = replace(_CLOZE, name="text_scoring", templates=("text_scoring",), cloze=False, texts=True)
_CONSTRAINED = replace(
    _DIRECT,
    name="constrained",
    converse=conversations.constrained,
    templates=("constrained", "zero_shot"),
    needs=frozenset({"generate", "grammar"}),
    check=grammar_of,
)


def _with_shots(strategy: Strategy, *templates: str) -> Callable[[int], Strategy]:
    """Return the builder of a strategy with k examples; its name is that of its first template."""

    def build(k: int) -> Strategy:
        first, *others = (template.format(k=k) for template in templates)
        name = _SHORT_NAMES.get(first, first)
        return replace(strategy, name=name, templates=tuple(dict.fromkeys((name, *others))), shots=k)

    return build


def _numbered(
    strategy: Strategy, converse: Callable[..., Conversation], number: str, *templates: str
) -> Callable[[int], Strategy]:
    """Return the builder of a strategy whose conversation takes a `number`; its name begins as its first template."""

    def build(k: int) -> Strategy:
        name = f"{templates[0]}_{k}"
        return replace(strategy, name=name, converse=partial(converse, **{number: k}), templates=(name, *templates))

    return build


_SHORT_NAMES = {"few_shot_1": "one_shot", "cot_few_shot_3": "cot_few_shot"}
_few_shot = _with_shots(_DIRECT, "few_shot_{k}", "few_shot")


def _few_shot_of(choice: Literal["similar", "diverse"]) -> Callable[[int], Strategy]:
    """Return the builder of a strategy that asks as `few_shot_K` does, with examples of each sample's own."""
    family = f"few_shot_{choice}"
    return _with_shots(replace(_DIRECT, choice=choice), f"{family}_{{k}}", family, "few_shot_{k}", "few_shot")


_vote = _numbered(
    replace(_REASONING, temperature=0.7), conversations.self_consistency, "answers", "self_consistency", "zero_shot_cot"
)
_budget = _numbered(replace(_REASONING, max_tokens=16), conversations.budget, "tokens", "budget", "zero_shot_cot")
_best = _numbered(replace(_DIRECT, temperature=0.7), conversations.best_of, "answers", "best_of", "zero_shot")
_guided = _numbered(
    replace(_DIRECT, composes=False, needs=frozenset({"generate", "guidance"})),
    conversations.guided,
    "percent",
    "guided",
)
#: Family -> its default K, its minimum K, and the builder of its strategies.
_FAMILIES: Mapping[str, tuple[int, int, Callable[[int], Strategy]]] = {
    "few_shot": (3, 1, _few_shot),
    "few_shot_similar": (3, 1, _few_shot_of("similar")),
    "few_shot_diverse": (3, 1, _few_shot_of("diverse")),
    "cot_few_shot": (3, 1, _with_shots(replace(_REASONING, composes=False), "cot_few_shot_{k}", "cot_few_shot")),
    "self_consistency": (5, 2, _vote),
    "budget": (64, 0, _budget),
    "best_of": (4, 2, _best),
    "guided": (50, 0, _guided),
    "option_scoring": (3, 1, _with_shots(_OPTIONS, "option_scoring_{k}", "few_shot_{k}", "few_shot")),
    "cloze_scoring": (3, 1, _with_shots(_CLOZE, "cloze_scoring_{k}")),
    "text_scoring": (3, 1, _with_shots(_TEXTS, "text_scoring_{k}")),
    "constrained": (3, 1, _with_shots(_CONSTRAINED, "constrained_{k}", "few_shot_{k}", "few_shot")),
}
_PLAIN = {
    strategy.name: strategy
    for strategy in (
        _DIRECT,
        _REASONING,
        _few_shot(1),
        Strategy(name="rcoif", converse=conversations.direct, templates=("rcoif",)),
        Strategy(name="contextual_anchoring", converse=conversations.direct, templates=("contextual_anchoring",)),
        replace(_REASONING, name="egi", converse=conversations.egi, templates=("egi",), max_tokens=200, composes=False),
        _OPTIONS,
        _CLOZE,
        _TEXTS,
        _CONSTRAINED,
    )
}


def parse_strategy(text: str, custom: Mapping[str, Strategy] | None = None, *, folder: Path | None = None) -> Strategy:
    """Return the strategy of a name as users write it; `custom` are those of plugins and templates, by canonical name.

    A `SettingsError` lists the existing names, the nearest, and the file in `folder`, that of the templates of the
    scenario, which would make such a strategy.
    """
    name = text.strip().lower().replace("-", "_")
    known = _PLAIN | dict(custom or {})
    if name in known:
        return known[name]
    numbered = re.fullmatch(r"(\w+?)_([0-9]{1,6})", name)
    family = numbered[1] if numbered else name
    if family not in _FAMILIES:
        raise SettingsError(_unknown(text, name, custom or {}, folder))
    default, minimum, build = _FAMILIES[family]
    k = int(numbered[2]) if numbered else default
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
    longest = max(strategy.max_tokens, max_tokens or 0) if strategy.final_line else max_tokens or strategy.max_tokens
    return replace(
        generation,
        max_tokens=longest if generation.max_tokens is None else generation.max_tokens,
        temperature=strategy.temperature if generation.temperature is None else generation.temperature,
    )


def _unknown(text: str, name: str, custom: Mapping[str, Strategy], folder: Path | None) -> str:
    names = [*ALL, *custom]
    rename, write = own_strategy(name, folder, names)
    hint = f"{rename}; " if rename else did_you_mean(name, [*names, *_FAMILIES])
    return (
        f"strategy {text!r} is unknown; {hint}there are: {', '.join(names)}, "
        f"and with any other number {', '.join(f'{family}_K' for family in _FAMILIES)}"
        + (f"; {write}" if write else "")
    )
