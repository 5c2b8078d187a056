"""Templates cannot reach Python or files."""

from __future__ import annotations

import pytest

from pytest_puma.core import TemplateError
from tests.strategies.template_project import TemplateProject


@pytest.mark.parametrize(
    "source",
    [
        "{{ ''.__class__.__mro__[1].__subclasses__() }}",
        "{{ title.__init__.__globals__ }}",
        "{{ '{0.__class__}'.format(title) }}",
        "{{ labels.append('Urgent') }}",
        "{{ instance.update(title='x') }}",
        "{{ range(10 ** 9) | list }}",
        "{{ cycler.__init__.__globals__.os.popen('id').read() }}",
        "{% include '../../../../../../etc/passwd' %}",
        "{{ labels | random }}",
        "{{ lipsum() }}",
    ],
)
def test_a_template_reaches_nothing_but_its_variables(project: TemplateProject, source: str) -> None:
    with pytest.raises(TemplateError):
        project.render(source)


@pytest.mark.parametrize(
    "source", ["{{ " + "(" * 9999 + "1" + ")" * 9999 + " }}", "{% if true %}" * 300 + "{% endif %}" * 300]
)
def test_a_template_that_cannot_be_compiled_is_an_error_with_its_file(project: TemplateProject, source: str) -> None:
    with pytest.raises(TemplateError, match=r"zero_shot\.jinja: .*; expected a Jinja2 template"):
        project.render(source)


def test_a_template_that_includes_itself_is_an_error(project: TemplateProject) -> None:
    with pytest.raises(TemplateError, match="maximum recursion depth"):
        project.render('{% include "zero_shot.jinja" %}')


@pytest.mark.parametrize(
    "attack",
    [
        "{{ ''.__class__.__mro__ }}",
        "{{ title.__class__ }}",
        "{{ '{0.__class__.__mro__}'.format(title) }}",
        "{{ cycler.__init__.__globals__ }}",
        "{{ labels.append('x') }}",
        "{% include '/etc/passwd' %}",
        "{% include '../../../etc/passwd' %}",
    ],
)
def test_a_template_reaches_neither_files_nor_python(project: TemplateProject, attack: str) -> None:
    with pytest.raises(TemplateError):
        project.render(attack)


def test_an_error_that_shows_a_variable_is_one_short_line(project: TemplateProject) -> None:
    project.write("{{ {}[title].x }}{{ title.index('b') }}{{ labels[title].x }}")
    with pytest.raises(TemplateError) as caught:
        project.find().render("user", {"title": "a\n" * 99999, "labels": {}})
    assert len(str(caught.value)) < 700
    assert "\n" not in str(caught.value)
