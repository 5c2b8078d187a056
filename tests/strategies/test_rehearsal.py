"""A conversation without a model finds the faults of a template that no single rendering shows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_puma.core import Answer, Conversation, Generation, TemplateError, ask
from pytest_puma.strategies import Strategy, Task, parse_strategy
from pytest_puma.strategies.rehearsal import rehearse
from tests.strategies.play import task
from tests.strategies.template_project import TemplateProject

USER = "{% block user %}{{ title }}{% endblock %}"


def two_turns(task: Task) -> Conversation:
    """The second turn depends on the first reply, which is empty in a rehearsal."""
    response = yield from ask(task.generate(task.prompt()))
    if response.text:
        response = yield from ask(task.generate(task.prompt("criticize", task.prompt().messages)))
    return Answer(value=task.read(response), responses=(response,))


CRITIC = Strategy(name="critic", converse=two_turns, templates=("critic",))
CRITIC_BY_EXAMPLE = replace(CRITIC, shots=2)
EXAMPLES = [{"title": "Honey", "gold_label": "SWEET"}, {"title": "Coffee", "gold_label": "BITTER"}]


def fault(root: Path, template: str, strategy: str | Strategy = "zero_shot", **fields: Any) -> str:
    """The error of a template, empty for none; its path is shortened to the name of the file."""
    parsed = parse_strategy(strategy) if isinstance(strategy, str) else strategy
    try:
        rehearse(parsed, task(root, template=template, generation=Generation(max_tokens=9, temperature=0.7), **fields))
    except TemplateError as error:
        return str(error).replace(f"{root}/prompts/fruit/", "")
    return ""


def test_a_block_that_no_turn_reads_is_refused_with_the_nearest_name(tmp_path: Path) -> None:
    assert fault(tmp_path, "{% block sytem %}Be brief.{% endblock %}\n" + USER) == (
        "strategy.jinja, line 1: zero_shot reads no block 'sytem', so no prompt would show its text; "
        "did you mean 'system'? it reads: system, user"
    )
    decide = USER + "\n{% block decide %}So?{% endblock %}"
    assert "line 2: zero_shot reads no block 'decide'" in fault(tmp_path, decide)
    assert fault(tmp_path, decide, "egi") == ""


@pytest.mark.parametrize(
    "template",
    [
        "{% block user %}{{ title }}{% block hint %}?{% endblock %}{% endblock %}",
        "{% block user %}{{ title }}{{ self.hint() }}{% endblock %}{% block hint %}?{% endblock %}",
        '{% extends "_base.jinja" %}{% block hint %}?{% endblock %}',
        '{% extends "_child.jinja" %}{% block hint %}?{% endblock %}',
    ],
)
def test_a_block_that_a_turn_uses_is_no_turn(tmp_path: Path, template: str) -> None:
    project = TemplateProject(tmp_path)
    project.write("{% block user %}{{ title }}{% block hint %}{% endblock %}{% endblock %}", "_base", "fruit")
    project.write('{% extends "_base.jinja" %}', "_child", "fruit")
    assert fault(tmp_path, template) == ""
    assert "no block 'hnt'" in fault(tmp_path, '{% extends "_child.jinja" %}{% block hnt %}?{% endblock %}')


def test_a_conversation_of_a_plugin_may_read_other_blocks_later(tmp_path: Path) -> None:
    assert fault(tmp_path, USER + "{% block criticize %}Why?{% endblock %}", CRITIC) == ""
    assert "critic reads no block 'sytem'" in fault(tmp_path, "{% block sytem %}x{% endblock %}" + USER, CRITIC)


@pytest.mark.parametrize("strategy", ["few_shot_2", "cot_few_shot_2", "option_scoring_2", CRITIC_BY_EXAMPLE])
def test_a_prompt_that_leaves_out_its_examples_is_refused(tmp_path: Path, strategy: str | Strategy) -> None:
    message = fault(tmp_path, "{{ title }}", strategy, examples=EXAMPLES)
    name = strategy if isinstance(strategy, str) else strategy.name
    assert message == (
        f"strategy.jinja: {name} needs examples, but the template does not use the variable examples; "
        "add {% for example in examples %}...{% endfor %} with some of example.title, example.gold_label; "
        "a prompt with examples of its own belongs in a strategy of its own, a file with another name"
    )


@pytest.mark.parametrize(
    "template",
    [
        "{% for example in examples %}{{ example.gold_label }} {% endfor %}{{ title }}",
        "{{ examples[1].title }} {{ title }}",
        "{% block user %}{{ title }}{% endblock %}{% block system %}{{ examples | length }}{% endblock %}",
    ],
)
def test_a_prompt_that_shows_anything_of_its_examples_is_not(tmp_path: Path, template: str) -> None:
    assert fault(tmp_path, template, "few_shot_2", examples=EXAMPLES) == ""


def test_a_prompt_without_examples_needs_no_loop(tmp_path: Path) -> None:
    assert fault(tmp_path, "{{ title }}", "few_shot_2") == ""
    assert fault(tmp_path, "{{ title }}", "zero_shot") == ""
