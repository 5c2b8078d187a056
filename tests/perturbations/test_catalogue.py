"""Names of perturbations."""

from __future__ import annotations

import re

import pytest

from pytest_puma.core import SettingsError
from pytest_puma.perturbations import ALL, Group, Perturbation, is_built_in, parse_perturbation


@pytest.mark.parametrize("name", ALL)
def test_each_has_its_own_name(name: str) -> None:
    assert parse_perturbation(name).name == name
    assert re.fullmatch(r"[a-z0-9_]+", name)


@pytest.mark.parametrize(
    ("spelling", "name"),
    [
        (" Case-Upper ", "case_upper"),
        ("typos", "typos_5pct"),
        ("typos_05pct", "typos_5pct"),
        ("typos_100pct", "typos_100pct"),
        ("truncate", "truncate_50pct"),
        ("truncate-middle-30pct", "truncate_middle_30pct"),
        ("editor_1pct", "editor_1pct"),
        ("delete", "delete_10pct"),
    ],
)
def test_spellings_of_a_name_mean_the_same(spelling: str, name: str) -> None:
    assert parse_perturbation(spelling).name == name


@pytest.mark.parametrize("name", ["typos_0pct", "delete_101pct"])
def test_a_share_is_a_whole_percentage_from_1_to_100(name: str) -> None:
    with pytest.raises(
        SettingsError, match=r"the share is (0|101) %; expected (typos|delete)_Npct with N from 1 to 100"
    ):
        parse_perturbation(name)


@pytest.mark.parametrize("name", ["typos_5", "case_upper_5pct", "", "typos_5pct_", "typos_5.5pct", "none", "+"])
def test_the_error_of_an_unknown_name_lists_all_names(name: str) -> None:
    with pytest.raises(SettingsError, match=re.escape(f"perturbation {name!r} is unknown; ")) as caught:
        parse_perturbation(name)
    assert f"there are: {', '.join(ALL)}, and with any other share typos_Npct, " in str(caught.value)


def test_the_nearest_name_is_offered_also_one_of_a_plugin() -> None:
    own = {"shouted": Perturbation(name="shouted", change=lambda text, _: f"{text}!")}
    with pytest.raises(SettingsError, match="did you mean 'tech_noise'"):
        parse_perturbation("tech_nose")
    with pytest.raises(SettingsError, match="did you mean 'shouted'"):
        parse_perturbation("shout", own)
    assert parse_perturbation("Shouted", own) is own["shouted"]


def test_names_with_any_share_are_built_in() -> None:
    assert is_built_in("typos_33pct")
    assert not is_built_in("shouted")


def test_the_two_genders_are_sides_of_one_axis() -> None:
    groups = {name: parse_perturbation(name).group for name in ALL}
    assert {name: group for name, group in groups.items() if group} == {
        "gender_swap_prefix_male": Group("gender", "male"),
        "gender_swap_prefix_female": Group("gender", "female"),
    }
