"""A template that is not found under its name may lie beside it, under a name that nothing reads."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_puma.core import SettingsError, TemplateError
from pytest_puma.strategies import parse_strategy
from pytest_puma.strategies.templates import ANY, find_template


def write(prompts: Path, place: str) -> Path:
    path = prompts / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("{{ title }}", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("checklist", "garden/Checklist.jinja"),
        ("checklist", "garden/check-list.jinja"),
        ("checklist", "garden/checklist.jinja2"),
        ("checklist", "garden/checklist.jinja.txt"),
        ("check_list", "garden/checklist.jinja2"),
        ("check-list", "garden/check-list.jinja"),
        ("checklist", "gardn/checklist.jinja2"),
    ],
)
def test_an_unknown_strategy_with_a_misnamed_file_names_it(tmp_path: Path, name: str, place: str) -> None:
    found, expected = write(tmp_path, place), tmp_path / "garden" / f"{name.replace('-', '_')}.jinja"
    sentence = f"strategy '{name}' is unknown; a strategy of your own needs the file {expected}: rename {found} to it; "
    with pytest.raises(SettingsError) as caught:
        parse_strategy(name, folder=tmp_path / "garden")
    assert str(caught.value).startswith(f"{sentence}there are: zero_shot, ")
    with pytest.raises(SettingsError) as caught:
        parse_strategy(name, folder=tmp_path / ANY)
    assert f"the file {found.parent / expected.name}: rename {found} to it; there" in str(caught.value)


@pytest.mark.parametrize("place", ["garden/checklists.jinja", "kitchen/Checklist.jinja", "garden/_checklist.jinja"])
def test_an_unknown_strategy_without_one_names_the_file_that_would_make_it(tmp_path: Path, place: str) -> None:
    write(tmp_path, place)
    with pytest.raises(SettingsError) as caught:
        parse_strategy("checklist", folder=tmp_path / "garden")
    assert str(caught.value).endswith(
        f", constrained_K; a strategy of your own needs the file {tmp_path / 'garden' / 'checklist.jinja'}"
    )


@pytest.mark.parametrize("text", ["few shot", "2nd", ""])
def test_a_name_that_no_file_may_have_asks_for_none(tmp_path: Path, text: str) -> None:
    with pytest.raises(SettingsError) as caught:
        parse_strategy(text, folder=tmp_path / "garden")
    assert str(caught.value).endswith("constrained_K")


@pytest.mark.parametrize(
    ("place", "name"),
    [
        ("garden/few-shot.jinja", "few_shot"),
        ("gardens/few_shot.jinja", "few_shot"),
        ("garden/few_shot_3.html", "few_shot_3"),
    ],
)
def test_a_missing_template_names_a_misnamed_one(tmp_path: Path, place: str, name: str) -> None:
    file = write(tmp_path / "prompts", place)
    with pytest.raises(TemplateError) as caught:
        find_template("garden", ["few_shot_3", "few_shot"], project=tmp_path)
    folder = tmp_path / "prompts" / "garden"
    assert str(caught.value).endswith(f"; create {folder}/few_shot.jinja, or rename {file} to {folder}/{name}.jinja")
