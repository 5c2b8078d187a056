"""Included files of plain text, which stand in a template before any rendering."""

from __future__ import annotations

import jinja2
import pytest

from pytest_puma.engine.sandbox import SandboxedEnvironment
from pytest_puma.strategies.includes import with_texts
from tests.strategies.template_project import VARIABLES, TemplateProject

TEXT, EMPTY, RENDERED = "Be brief.\n  Or {not}?\n", "", "{{ title }}\n"


@pytest.mark.parametrize(
    "source",
    [
        '{% include "_text.jinja" %}',
        'a\n{% include "_text.jinja" %}\n\n{% include "_rendered.jinja" %}\nb',
        '{% for label in labels %}\n{{ label }}: {% include "_text.jinja" %}\n{% endfor %}',
        '{% if labels %}{% include "_empty.jinja" %}x{% else %}{% include "_text.jinja" %}{% endif %}',
        '{% filter upper %}{% include "_text.jinja" %}{% endfilter %}',
        '{% macro twice() %}{% include "_text.jinja" %}{% include "_text.jinja" %}{% endmacro %}{{ twice() }}',
        '{% include "_text.jinja" ignore missing without context %}{% include ["_none.jinja", "_text.jinja"] %}',
        '{% set title = "Other" %}{% include "_rendered.jinja" %}{% include "_text.jinja" %}',
    ],
)
def test_a_prompt_is_the_one_that_jinja_renders(project: TemplateProject, source: str) -> None:
    for name, included in (("_text", TEXT), ("_empty", EMPTY), ("_rendered", RENDERED)):
        folder = project.write(included, name).parent
    environment = SandboxedEnvironment(loader=jinja2.FileSystemLoader(folder), keep_trailing_newline=True)
    rendered = environment.from_string(source).render(VARIABLES)
    assert project.render(source)[0].content == rendered.strip()


def test_only_files_without_expressions_are_texts() -> None:
    environment = SandboxedEnvironment()
    sources = {"main": '{% include "text" %}{% include "rendered" %}', "text": TEXT, "rendered": RENDERED}
    trees = {name: environment.parse(source) for name, source in sources.items()}
    tree = with_texts(trees, "main")
    assert [node.template for node in tree.find_all(jinja2.nodes.Include)] == [jinja2.nodes.Const("rendered")]
