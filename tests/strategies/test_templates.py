"""Messages of prompt templates, which file is used, and the digest of its sources."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_puma.core import Message, TemplateError
from pytest_puma.platform.bundled import bundled_folder
from pytest_puma.strategies.templates import find_template
from tests.strategies.template_project import VARIABLES, TemplateProject


def test_a_template_without_blocks_is_the_users_message(project: TemplateProject) -> None:
    assert project.render("\n  {{ title }}!\n") == (Message(role="user", content="Login fails!"),)


def test_the_systems_message_comes_first(project: TemplateProject) -> None:
    messages = project.render("{% block user %}{{ title }}{% endblock %}\n{% block system %} Be brief. {% endblock %}")
    assert messages == (Message(role="system", content="Be brief."), Message(role="user", content="Login fails"))


def test_a_system_block_without_text_is_no_message(project: TemplateProject) -> None:
    messages = project.render("{% block system %}{% endblock %}{% block user %}x{% endblock %}")
    assert messages == (Message(role="user", content="x"),)


def test_a_later_turn_is_the_block_of_its_name(project: TemplateProject) -> None:
    messages = project.render("{% block user %}{{ title }}{% endblock %}{% block decide %}Now.{% endblock %}", "decide")
    assert messages == (Message(role="user", content="Now."),)


@pytest.mark.parametrize(
    "source", ["{{ title }}", "{% block user %}x{% endblock %}", "{% block decide %} {% endblock %}"]
)
def test_a_turn_without_text_is_an_error(project: TemplateProject, source: str) -> None:
    with pytest.raises(TemplateError, match=r"zero_shot\.jinja: no text for the turn 'decide'"):
        project.render(source, "decide")


def test_text_beside_blocks_is_an_error_because_no_turn_would_say_it(project: TemplateProject) -> None:
    with pytest.raises(TemplateError, match=r"zero_shot\.jinja, line 2: text outside of the blocks"):
        project.render("{% block user %}x{% endblock %}\nBe brief.\n")


def test_text_beside_extends_is_an_error_too(project: TemplateProject) -> None:
    project.write("{% block user %}x{% endblock %}", "_base")
    with pytest.raises(TemplateError, match="text outside of the blocks"):
        project.render('{% extends "_base.jinja" %}Be brief.')


def test_values_are_printed_as_they_are(project: TemplateProject) -> None:
    project.write("{{ title }}")
    messages = project.find().render("user", {"title": "<b>&amp; {{ labels }}"})
    assert messages[0].content == "<b>&amp; {{ labels }}"


def test_an_include_on_its_own_line_stays_a_line(project: TemplateProject) -> None:
    project.write("{{ title }}\n", "_title")
    assert project.render('a\n{% include "_title.jinja" %}\nb')[0].content == "a\nLogin fails\nb"


def test_macros_and_assignments_outside_of_blocks_serve_the_blocks(project: TemplateProject) -> None:
    project.write("{% macro loud(text) %}{{ text | upper }}{% endmacro %}", "_macros")
    source = """{% from "_macros.jinja" import loud %}{% set mark = "!" %}
    {% block user %}{{ loud(title) ~ mark }}{% endblock %}"""
    assert project.render(source)[0].content == "LOGIN FAILS!"


def test_a_template_may_extend_another(project: TemplateProject) -> None:
    project.write("{% block system %}Be brief.{% endblock %}{% block user %}{{ title }}{% endblock %}", "_base")
    messages = project.render('{% extends "_base.jinja" %}{% block user %}{{ super() }}?{% endblock %}')
    assert [message.content for message in messages] == ["Be brief.", "Login fails?"]


def test_the_projects_template_wins_over_the_bundled_one(project: TemplateProject) -> None:
    own = project.write("mine", scenario="triage_jira")
    assert project.find(scenario="triage_jira").path == own


def test_the_bundled_template_serves_where_the_project_has_none(project: TemplateProject) -> None:
    expected = bundled_folder("prompts") / "triage_jira" / "zero_shot.jinja"
    assert project.find(scenario="triage_jira").path == expected
    assert find_template("triage_jira", ["zero_shot"], project=None).path == expected


def test_a_projects_partial_changes_the_bundled_templates_that_include_it(project: TemplateProject) -> None:
    before = project.find(scenario="triage_jira")
    project.write("Be a pirate.\n", "_system", scenario="triage_jira")
    after = project.find(scenario="triage_jira")
    assert after.path == before.path
    assert after.sources_sha256 != before.sources_sha256
    assert after.render("user", VARIABLES)[0].content == "Be a pirate."


def test_an_earlier_name_wins_over_a_projects_later_one(project: TemplateProject) -> None:
    project.write("mine", "zero_shot_cot", scenario="triage_jira")
    assert project.find("zero_shot", "zero_shot_cot", scenario="triage_jira").path.name == "zero_shot.jinja"


def test_a_later_name_serves_where_the_first_has_no_file(project: TemplateProject) -> None:
    project.write("x", "few_shot")
    assert project.find("few_shot_3", "few_shot").path.name == "few_shot.jinja"


def test_a_partial_of_another_scenario_is_named_with_its_folder(project: TemplateProject) -> None:
    project.write("shared", "_words", scenario="other")
    assert project.render('{% include "other/_words.jinja" %}')[0].content == "shared"


def test_the_digest_covers_includes_of_includes(project: TemplateProject) -> None:
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
        project = TemplateProject(tmp_path / name)
        project.write("{{ title }}\n")
        digests.add(project.find().sources_sha256)
    assert len(digests) == 1


def test_templates_that_include_each_other_are_digested_once(project: TemplateProject) -> None:
    project.write('x{% if labels | length > 5 %}{% include "_a.jinja" %}{% endif %}')
    project.write('{% include "zero_shot.jinja" %}', "_a")
    assert project.find().render("user", VARIABLES)[0].content == "x"
