"""The error of a missing or faulty template names the file, the line and what to do."""

from __future__ import annotations

import pytest

from pytest_puma.core import TemplateError
from pytest_puma.platform.bundled import bundled_folder
from tests.strategies.template_project import VARIABLES, TemplateProject


def test_a_missing_template_names_what_was_looked_for_and_what_to_create(project: TemplateProject) -> None:
    with pytest.raises(TemplateError) as caught:
        project.find("few_shot_3", "few_shot")
    folder = project.root / "prompts" / "mine"
    assert str(caught.value) == (
        "scenario mine, strategy few_shot_3: no template few_shot_3.jinja or few_shot.jinja in "
        f"{folder}, {bundled_folder('prompts') / 'mine'}; create {folder / 'few_shot.jinja'}"
    )


def test_an_undefined_variable_names_file_line_and_the_variables_there_are(project: TemplateProject) -> None:
    path = project.write("{% block user %}\n{{ title }}\n{{ severity }}\n{% endblock %}")
    with pytest.raises(TemplateError) as caught:
        project.find().render("user", VARIABLES)
    assert str(caught.value) == (
        f"{path}, line 3: 'severity' is undefined; the variables are: description, examples, instance, labels, title"
    )


def test_an_error_in_an_include_names_the_included_file(project: TemplateProject) -> None:
    partial = project.write("\n\n{{ 1 / 0 }}", "_sum")
    with pytest.raises(TemplateError) as caught:
        project.render('{% include "_sum.jinja" %}')
    assert str(caught.value).startswith(f"{partial}, line 3: division by zero")


def test_a_missing_include_names_the_line_that_asks_for_it(project: TemplateProject) -> None:
    with pytest.raises(TemplateError, match=r"zero_shot\.jinja, line 2: '_none\.jinja' not found"):
        project.render('x\n{% include "_none.jinja" %}')


def test_a_missing_include_may_be_allowed(project: TemplateProject) -> None:
    assert project.render('x{% include "_none.jinja" ignore missing %}')[0].content == "x"


def test_a_computed_include_is_an_error_because_the_digest_would_miss_it(project: TemplateProject) -> None:
    project.write("{% include title %}")
    with pytest.raises(TemplateError, match="name is computed"):
        project.find()


def test_a_syntax_error_names_file_and_line(project: TemplateProject) -> None:
    path = project.write("x\n{% if title %}\n{% endfor %}")
    with pytest.raises(TemplateError) as caught:
        project.find()
    assert str(caught.value).startswith(f"{path}, line 3: ")


def test_a_syntax_error_in_an_include_names_the_included_file(project: TemplateProject) -> None:
    partial = project.write("{{ title", "_broken")
    project.write('{% include "_broken.jinja" %}')
    with pytest.raises(TemplateError) as caught:
        project.find()
    assert str(caught.value).startswith(f"{partial}, line 1: ")


@pytest.mark.parametrize(
    ("source", "fault"),
    [
        (
            "{% for ex in examples %}\n{{ ex.title }}: {{ ex.label }}{% endfor %}",
            "an example has no field 'label'; did you mean 'gold_label'? its fields are: gold_label, priority, title",
        ),
        (
            "\n{{ examples[0]['xyz'].upper() }}",
            "an example has no field 'xyz'; its fields are: gold_label, priority, title",
        ),
        (
            "{{ examples[0].priority }}\n{{ instance.titel }}",
            "instance has no field 'titel'; did you mean 'title'? its fields are: title",
        ),
        ("\n{{ instance.priority }}", "'priority' reveals the gold answer, which no prompt may show; remove it"),
        (
            "\n{{ {'a': 1}.b }}",
            "'dict object' has no attribute 'b'; its fields are: a",
        ),
        (
            "\n{{ labels.first }}",
            "'list object' has no attribute 'first'; the variables are: description, examples, instance, labels, title",
        ),
    ],
)
def test_a_missing_field_is_named_with_the_fields_of_its_owner(
    project: TemplateProject, source: str, fault: str
) -> None:
    example = {"title": "Typo", "priority": "Trivial", "gold_label": "Trivial"}
    path = project.write(source)
    with pytest.raises(TemplateError) as caught:
        project.find().render("user", VARIABLES | {"examples": [example]}, hidden={"priority"})
    assert str(caught.value) == f"{path}, line 2: {fault}"


@pytest.mark.parametrize(
    ("source", "fault"),
    [
        ("", "the file is empty"),
        ("\n \n", "the file is empty"),
        ("{# What is to be done? #}\n", "the file has only comments"),
    ],
)
def test_an_empty_file_is_an_error_that_asks_for_no_block(project: TemplateProject, source: str, fault: str) -> None:
    path = project.write(source)
    with pytest.raises(TemplateError) as caught:
        project.find()
    assert str(caught.value) == f"{path}: {fault}; write the prompt into it (a file without blocks is the user's turn)"


def test_a_file_without_blocks_that_gives_no_text_needs_none(project: TemplateProject) -> None:
    with pytest.raises(TemplateError, match="no text for the turn 'user'; a file without blocks is this turn: write "):
        project.render("{% if not title %}x{% endif %}")


def test_a_turn_whose_block_is_misspelt_names_that_block(project: TemplateProject) -> None:
    with pytest.raises(
        TemplateError, match=r"no text for the turn 'user'; rename the block 'usr' \(line 2\), or add a "
    ):
        project.render("{% block system %}x{% endblock %}\n{% block usr %}{{ title }}{% endblock %}")


def test_a_template_that_is_not_text_is_an_error(project: TemplateProject) -> None:
    project.write("").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(TemplateError, match="UTF-8"):
        project.find()
