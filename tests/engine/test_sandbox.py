"""The sandbox of chat templates: no files, no Python; the first use has limits of time and memory."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

import jinja2
import pytest

from pytest_puma.core import EngineError, Model
from pytest_puma.engine.native import smoke_test
from pytest_puma.engine.sandbox import SandboxedEnvironment
from tests.engine.chat import ROLES, render
from tests.tiny_gguf import QWEN2, Shape

ModelFile: TypeAlias = Callable[[Shape], Path]


@pytest.mark.parametrize(
    "attack",
    [
        "{% include '/etc/passwd' %}",
        "{% import '/etc/passwd' as f %}{{ f }}",
        "{{ ''.__class__.__mro__[1].__subclasses__() }}",
        "{{ cycler.__init__.__globals__.os.mkdir('PATH') }}",
        "{{ raise_exception.__globals__['json'].codecs.open('PATH', 'w') }}",
        "{{ strftime_now.__self__.max }}",
        "{{ self.__init__.__globals__ }}",
        "{{ messages.append(messages[0]) }}",
        "{{ messages[0].update(content='PATH') }}",
        "{{ '{0.__class__.__mro__}'.format(messages) }}",
    ],
)
def test_a_template_reaches_neither_files_nor_python(attack: str, tmp_path: Path) -> None:
    target = tmp_path / "made"
    with pytest.raises(EngineError, match="chat template"):
        render(ROLES + attack.replace("PATH", str(target)))
    assert not target.exists()


BOMBS = {
    "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}": "it takes more than",
    "{{ 9 ** (9 ** 9) }}": "it takes more than",
    "{% set n = namespace(x='a') %}{% for i in range(99) %}{% set n.x = n.x ~ n.x %}{% endfor %}": "MemoryError",
    "{{ ('a' * 99999) | replace('a', 'b' * 99999) }}": "MemoryError",
    "{% for i in range(99999) %}{{ 'a' * 99999 }}{% endfor %}": "it makes more than 10,000,000 characters",
    "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}": "maximum recursion depth",
    "{% if true %}" * 300 + "{% endif %}" * 300: "recursion|nested|indentation",
}


@pytest.mark.skipif(sys.platform != "linux", reason="limits the memory of a process as Linux does")
@pytest.mark.parametrize("bomb", BOMBS, ids=lambda bomb: bomb[:40])
def test_a_template_without_bounds_is_refused_by_the_first_use(bomb: str, model_file: ModelFile) -> None:
    path = model_file(replace(QWEN2, chat_template=ROLES + bomb))
    with pytest.raises(EngineError, match=rf"^q: the model's chat template .*({BOMBS[bomb]})") as caught:
        smoke_test(Model(name="q", path=path))
    sentence = str(caught.value)
    assert len(sentence) < 300
    assert "\n" not in sentence


@pytest.mark.parametrize(
    ("harmless", "text"),
    [
        ("{{ 'ab' | center(8) }}{{ 'ab'.ljust(4) }}|", "   ab   ab  |"),
        ("{{ [1, 2, 3] | batch(2) | list }}", "[[1, 2], [3]]"),
        ("{{ [1, 2, 3] | slice(2) | list }}", "[[1, 2], [3]]"),
        ("{{ 2.345 | round(1) }}{{ [1, 2] | sum }}", "2.33"),
        ("{{ ['b', 'a'] | sort | join(', ') }}{{ 'x a b '.split() }}", "a, b['x', 'a', 'b']"),
        ("{% macro f(a) %}{{ varargs }}{{ kwargs }}{% endmacro %}{{ f(1, 2, b=3) }}", "(2,){'b': 3}"),
        ("{% macro f(a, b) %}{{ a ~ b }}{% endmacro %}{{ f(*[1, 2]) }}{{ f(**{'a': 1, 'b': 2}) }}", "1212"),
        ("{{ dict([[1, 2]], a=3) }}{{ dict({1: 2}) }}", "{1: 2, 'a': 3}{1: 2}"),
        ("{% filter upper | replace('A', 'b') %}a{% endfilter %}", "b"),
    ],
)
def test_filters_of_ordinary_size_work(harmless: str, text: str) -> None:
    assert render(f"{ROLES}@{harmless}").partition("@")[2] == text


@pytest.mark.parametrize("template", ["{{ 'abc def' | truncate(1) }}", "{{ raise_exception(messages) }}"])
def test_any_error_of_a_template_is_told_as_one_of_the_model(template: str) -> None:
    with pytest.raises(EngineError, match="the model's chat template refuses roles"):
        render(ROLES + template)


#: Templates that reach globals in every way: included, imported, extended, called back.
LINKED = {
    "include": '{% set mark = "!" %}{% for word in words %}{% include "_part" %}{% endfor %}',
    "_part": "{{ word }}{{ mark | default('?') }}{% for at in range(2) %}{{ at }}{% endfor %}",
    "import": '{% import "_macros" as m %}{{ m.row(words) }}',
    "from with context": '{% from "_macros" import counted with context %}{{ counted() }}',
    "_macros": """
        {% macro row(cells) %}{% set sep = joiner("|") %}
        {% for cell in cells %}{{ sep() }}{{ cell }}{% endfor %}{% endmacro %}
        {% macro counted() %}{% set all = namespace(n=0) %}
        {% for word in words %}{% set all.n = all.n + 1 %}{% endfor %}{{ all.n }}{% endmacro %}
    """,
    "extends": '{% extends "_base" %}{% block body %}{{ super() }}{{ dict(a=words[0]).a }}{% endblock %}',
    "_base": "<{% block body %}{{ cycler('x', 'y').next() }}{% endblock %}>",
    "call": '{% macro box() %}[{{ caller() }}]{% endmacro %}{% call box() %}{% include "_inner" %}{% endcall %}',
    "_inner": '{% include ["absent", "_part"] ignore missing %}{{ words | join }}',
}


@pytest.mark.parametrize("name", [name for name in LINKED if not name.startswith("_")])
def test_templates_that_include_and_import_others_have_the_globals_of_jinja2(name: str) -> None:
    loader = jinja2.DictLoader(LINKED)
    plain = jinja2.Environment(loader=loader, trim_blocks=True, lstrip_blocks=True)  # noqa: S701 - texts, no HTML
    sandboxed = SandboxedEnvironment(loader=loader)
    for words in (["b", "c"], [0]):
        assert sandboxed.get_template(name).render(words=words) == plain.get_template(name).render(words=words) != ""
