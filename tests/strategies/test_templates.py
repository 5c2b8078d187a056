from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_puma.core import Message, TemplateError
from pytest_puma.core.bundled import bundled_folder
from pytest_puma.strategies.templates import Template, find_template

VARIABLES: dict[str, Any] = {
    "title": "Login fails",
    "description": "Since Monday.",
    "labels": ["Critical", "Trivial"],
    "examples": [],
    "instance": {"title": "Login fails"},
}


class Project:
    """A project's folder with templates of the scenario `triage_jira` or another."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def write(self, source: str, name: str = "zero_shot", scenario: str = "mine") -> Path:
        path = self.root / "prompts" / scenario / f"{name}.jinja"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source, encoding="utf-8")
        return path

    def find(self, *names: str, scenario: str = "mine") -> Template:
        return find_template(scenario, names or ("zero_shot",), project=self.root)

    def says(self, source: str, turn: str = "user") -> tuple[Message, ...]:
        self.write(source)
        return self.find().render(turn, VARIABLES)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def test_a_template_without_blocks_is_the_users_message(project: Project) -> None:
    assert project.says("\n  {{ title }}!\n") == (Message(role="user", content="Login fails!"),)


def test_the_systems_message_comes_first(project: Project) -> None:
    messages = project.says("{% block user %}{{ title }}{% endblock %}\n{% block system %} Be brief. {% endblock %}")
    assert messages == (Message(role="system", content="Be brief."), Message(role="user", content="Login fails"))


def test_a_system_block_without_text_is_no_message(project: Project) -> None:
    messages = project.says("{% block system %}{% endblock %}{% block user %}x{% endblock %}")
    assert messages == (Message(role="user", content="x"),)


def test_a_later_turn_is_the_block_of_its_name(project: Project) -> None:
    messages = project.says("{% block user %}{{ title }}{% endblock %}{% block decide %}Now.{% endblock %}", "decide")
    assert messages == (Message(role="user", content="Now."),)


@pytest.mark.parametrize(
    "source", ["{{ title }}", "{% block user %}x{% endblock %}", "{% block decide %} {% endblock %}"]
)
def test_a_turn_without_text_is_an_error(project: Project, source: str) -> None:
    with pytest.raises(TemplateError, match=r"zero_shot\.jinja: no text for the turn 'decide'"):
        project.says(source, "decide")


def test_text_beside_blocks_is_an_error_because_no_turn_would_say_it(project: Project) -> None:
    with pytest.raises(TemplateError, match=r"zero_shot\.jinja, line 2: text outside of the blocks"):
        project.says("{% block user %}x{% endblock %}\nBe brief.\n")


def test_text_beside_extends_is_an_error_too(project: Project) -> None:
    project.write("{% block user %}x{% endblock %}", "_base")
    with pytest.raises(TemplateError, match="text outside of the blocks"):
        project.says('{% extends "_base.jinja" %}Be brief.')


def test_values_are_printed_as_they_are(project: Project) -> None:
    project.write("{{ title }}")
    messages = project.find().render("user", {"title": "<b>&amp; {{ labels }}"})
    assert messages[0].content == "<b>&amp; {{ labels }}"


def test_an_include_on_its_own_line_stays_a_line(project: Project) -> None:
    project.write("{{ title }}\n", "_title")
    assert project.says('a\n{% include "_title.jinja" %}\nb')[0].content == "a\nLogin fails\nb"


def test_macros_and_assignments_outside_of_blocks_serve_the_blocks(project: Project) -> None:
    project.write("{% macro loud(text) %}{{ text | upper }}{% endmacro %}", "_macros")
    source = """{% from "_macros.jinja" import loud %}{% set mark = "!" %}
    {% block user %}{{ loud(title) ~ mark }}{% endblock %}"""
    assert project.says(source)[0].content == "LOGIN FAILS!"


def test_a_template_may_extend_another(project: Project) -> None:
    project.write("{% block system %}Be brief.{% endblock %}{% block user %}{{ title }}{% endblock %}", "_base")
    messages = project.says('{% extends "_base.jinja" %}{% block user %}{{ super() }}?{% endblock %}')
    assert [message.content for message in messages] == ["Be brief.", "Login fails?"]


def test_the_projects_template_wins_over_the_bundled_one(project: Project) -> None:
    own = project.write("mine", scenario="triage_jira")
    assert project.find(scenario="triage_jira").path == own


def test_the_bundled_template_serves_where_the_project_has_none(project: Project) -> None:
    expected = bundled_folder("prompts") / "triage_jira" / "zero_shot.jinja"
    assert project.find(scenario="triage_jira").path == expected
    assert find_template("triage_jira", ["zero_shot"], project=None).path == expected


def test_a_projects_partial_changes_the_bundled_templates_that_include_it(project: Project) -> None:
    before = project.find(scenario="triage_jira")
    project.write("Be a pirate.\n", "_system", scenario="triage_jira")
    after = project.find(scenario="triage_jira")
    assert after.path == before.path
    assert after.sources_sha256 != before.sources_sha256
    assert after.render("user", VARIABLES)[0].content == "Be a pirate."


def test_an_earlier_name_wins_over_a_projects_later_one(project: Project) -> None:
    project.write("mine", "zero_shot_cot", scenario="triage_jira")
    assert project.find("zero_shot", "zero_shot_cot", scenario="triage_jira").path.name == "zero_shot.jinja"


def test_a_later_name_serves_where_the_first_has_no_file(project: Project) -> None:
    project.write("x", "few_shot")
    assert project.find("few_shot_3", "few_shot").path.name == "few_shot.jinja"


def test_a_partial_of_another_scenario_is_named_with_its_folder(project: Project) -> None:
    project.write("shared", "_words", scenario="other")
    assert project.says('{% include "other/_words.jinja" %}')[0].content == "shared"


def test_a_missing_template_names_what_was_looked_for_and_what_to_create(project: Project) -> None:
    with pytest.raises(TemplateError) as caught:
        project.find("few_shot_3", "few_shot")
    folder = project.root / "prompts" / "mine"
    assert str(caught.value) == (
        "scenario mine, strategy few_shot_3: no template few_shot_3.jinja or few_shot.jinja in "
        f"{folder}, {bundled_folder('prompts') / 'mine'}; create {folder / 'few_shot.jinja'}"
    )


def test_an_undefined_variable_names_file_line_and_the_variables_there_are(project: Project) -> None:
    path = project.write("{% block user %}\n{{ title }}\n{{ severity }}\n{% endblock %}")
    with pytest.raises(TemplateError) as caught:
        project.find().render("user", VARIABLES)
    assert str(caught.value) == (
        f"{path}, line 3: 'severity' is undefined; the variables are: description, examples, instance, labels, title"
    )


def test_an_error_in_an_include_names_the_included_file(project: Project) -> None:
    partial = project.write("\n\n{{ 1 / 0 }}", "_sum")
    with pytest.raises(TemplateError) as caught:
        project.says('{% include "_sum.jinja" %}')
    assert str(caught.value).startswith(f"{partial}, line 3: division by zero")


def test_a_missing_include_names_the_line_that_asks_for_it(project: Project) -> None:
    with pytest.raises(TemplateError, match=r"zero_shot\.jinja, line 2: '_none\.jinja' not found"):
        project.says('x\n{% include "_none.jinja" %}')


def test_a_missing_include_may_be_allowed(project: Project) -> None:
    assert project.says('x{% include "_none.jinja" ignore missing %}')[0].content == "x"


def test_a_computed_include_is_an_error_because_the_digest_would_miss_it(project: Project) -> None:
    project.write("{% include title %}")
    with pytest.raises(TemplateError, match="name is computed"):
        project.find()


def test_a_syntax_error_names_file_and_line(project: Project) -> None:
    path = project.write("x\n{% if title %}\n{% endfor %}")
    with pytest.raises(TemplateError) as caught:
        project.find()
    assert str(caught.value).startswith(f"{path}, line 3: ")


def test_a_syntax_error_in_an_include_names_the_included_file(project: Project) -> None:
    partial = project.write("{{ title", "_broken")
    project.write('{% include "_broken.jinja" %}')
    with pytest.raises(TemplateError) as caught:
        project.find()
    assert str(caught.value).startswith(f"{partial}, line 1: ")


def test_a_template_that_is_not_text_is_an_error(project: Project) -> None:
    project.write("").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(TemplateError, match="UTF-8"):
        project.find()


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
def test_a_template_reaches_nothing_but_its_variables(project: Project, source: str) -> None:
    with pytest.raises(TemplateError):
        project.says(source)


def test_the_digest_covers_includes_of_includes(project: Project) -> None:
    project.write('{% include "_a.jinja" %}')
    project.write('{% import "_b.jinja" as b %}', "_a")
    project.write("one", "_b")
    before = project.find().sources_sha256
    assert project.find().sources_sha256 == before
    project.write("two", "_b")
    assert project.find().sources_sha256 != before


def test_the_digest_does_not_depend_on_where_the_file_lies(tmp_path: Path) -> None:
    digests = set()
    for name in ("here", "there"):
        project = Project(tmp_path / name)
        project.write("{{ title }}\n")
        digests.add(project.find().sources_sha256)
    assert len(digests) == 1


def test_templates_that_include_each_other_are_digested_once(project: Project) -> None:
    project.write('x{% if labels | length > 5 %}{% include "_a.jinja" %}{% endif %}')
    project.write('{% include "zero_shot.jinja" %}', "_a")
    assert project.find().render("user", VARIABLES)[0].content == "x"


@pytest.mark.parametrize(
    "bomb",
    [
        "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}",
        "{% block user %}{% for i in range(99999) %}{{ 'a' * 99999 }}{% endfor %}{% endblock %}",
        "{% macro f(n) %}{{ f(n + 1) if n < 99 }}{{ f(n + 1) if n < 99 }}{% endmacro %}{{ f(0) }}",
        "{{ title * 10 ** 10 }}",
        "{{ title | center(10 ** 10) }}",
        "{{ '%9999999999d' % 1 }}",
        "{{ ('a b' * 3000000) | sort }}",
        "{{ 'a' | indent(10 ** 10) }}{{ ('a\n' * 99999) | indent(10 ** 5) }}",
        "{% set n = namespace(x=title) %}{% for i in range(99) %}{% set n.x = n.x ~ n.x %}{% endfor %}",
    ],
)
def test_a_template_without_bounds_is_refused_with_its_line(project: Project, bomb: str) -> None:
    expected = r"zero_shot\.jinja, line 1: it (makes|pads) .*; expected a prompt of ordinary size: shorten its loops"
    with pytest.raises(TemplateError, match=expected):
        project.says(bomb)


def test_the_budget_grows_with_the_fields_of_the_sample(project: Project) -> None:
    project.write("{% for word in title.split(' ') %}{{ word }}{% endfor %}")
    title = "a " * 500_000
    assert project.find().render("user", {"title": title})[0].content == title.replace(" ", "")


@pytest.mark.parametrize(
    "source", ["{{ " + "(" * 9999 + "1" + ")" * 9999 + " }}", "{% if true %}" * 300 + "{% endif %}" * 300, "x" * 70_000]
)
def test_a_template_that_cannot_be_compiled_is_an_error_with_its_file(project: Project, source: str) -> None:
    with pytest.raises(TemplateError, match=r"zero_shot\.jinja: .*; expected a Jinja2 template"):
        project.says(source)


def test_a_template_that_includes_itself_is_an_error(project: Project) -> None:
    with pytest.raises(TemplateError, match="maximum recursion depth"):
        project.says('{% include "zero_shot.jinja" %}')


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
def test_a_template_reaches_neither_files_nor_python(project: Project, attack: str) -> None:
    with pytest.raises(TemplateError):
        project.says(attack)


def test_an_error_that_shows_a_variable_is_one_short_line(project: Project) -> None:
    project.write("{{ {}[title].x }}{{ title.index('b') }}{{ labels[title].x }}")
    with pytest.raises(TemplateError) as caught:
        project.find().render("user", {"title": "a\n" * 99999, "labels": {}})
    assert len(str(caught.value)) < 700
    assert "\n" not in str(caught.value)
