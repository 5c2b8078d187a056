"""A second prompt needs no Python."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_puma.core import Answer, Conversation, SettingsError, ask
from pytest_puma.strategies import Strategy, Task, parse_strategy, templated


def write(folder: Path, **texts: str) -> Path:
    for place, text in texts.items():
        scenario, _, name = place.partition("__")
        (folder / scenario).mkdir(exist_ok=True)
        (folder / scenario / f"{name}.jinja").write_text(text, encoding="utf-8")
    return folder


def terse(task: Task) -> Conversation:
    response = yield from ask(task.generate(task.prompt()))
    return Answer(value=task.read(response), responses=(response,))


OWN = {"terse": Strategy(name="terse", converse=terse, templates=("terse", "short"))}


def test_a_template_of_no_strategy_makes_one_that_asks_as_zero_shot_does(tmp_path: Path) -> None:
    prompts = write(tmp_path, tickets__rules="{# prompts/tickets/rules.jinja #}\n{{ text }}", mood__rules="{{ text }}")
    result = templated(prompts, OWN)
    zero_shot = parse_strategy("zero_shot")
    assert list(result) == ["rules"], "one strategy, whatever the number of scenarios"
    assert (result["rules"].name, result["rules"].templates) == ("rules", ("rules",))
    assert (result["rules"].converse, result["rules"].max_tokens) == (zero_shot.converse, zero_shot.max_tokens)


@pytest.mark.parametrize("comment", ["{# strategy: few-shot-5 #}", "\n{#- strategy:few_shot_5 -#}\n{{ text }}"])
def test_its_first_comment_chooses_another_conversation(tmp_path: Path, comment: str) -> None:
    result = templated(write(tmp_path, tickets__rules=comment), {})["rules"]
    assert (result.shots, result.converse) == (5, parse_strategy("few_shot_5").converse)
    other = templated(write(tmp_path, tickets__rules="{# strategy: terse #}"), OWN)["rules"]
    assert other.converse is terse
    votes = "{# strategy: self_consistency #}"
    assert templated(write(tmp_path, tickets__rules=votes, mood__rules=votes), {})["rules"].temperature > 0


def test_templates_of_strategies_partials_and_other_names_are_none(tmp_path: Path) -> None:
    names = ("zero_shot", "few_shot", "few_shot_4", "self_consistency", "_rules", "short", "Rules", "rules v2", "2nd")
    assert templated(write(tmp_path, **{f"tickets__{name}": "{{ text }}" for name in names}), OWN) == {}
    assert templated(tmp_path / "nowhere", {}) == {}


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (
            {"a__rules": "{# strategy: few_shots #}"},
            r"rules\.jinja: strategy 'few_shots' is unknown; did you mean 'few_",
        ),
        (
            {"a__all": "{{ text }}"},
            r"all\.jinja: 'all' is taken and cannot be the name of a new strategy; rename the file",
        ),
        (
            {"a__rules": "{# strategy: egi #}", "b__rules": "{{ text }}"},
            r"b/rules\.jinja: asks as zero_shot does, elsewhere rules asks as egi; expected one of the two",
        ),
    ],
)
def test_what_cannot_be_obeyed_is_refused(tmp_path: Path, texts: dict[str, str], message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        templated(write(tmp_path, **texts), OWN)
