"""Misspelt names of optional declarations, which would be ignored: a hidden column would be in the prompt."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_puma.core import SettingsError
from pytest_puma.scenarios.declared import check_declared
from tests.composed import Capitals, Quiz
from tests.scenarios.custom import Custom, frame

#: A name that is ignored, and the one that was meant.
MISSPELT = {
    "hiden_fields": "hidden_fields",
    "orderd": "ordered",
    "group_column": "group_columns",
    "text_field": "text_fields",
    "stopp": "stop",
    "parse_conclusions": "parse_conclusion",
}
OWN = (
    "row",
    "row_text",
    "parse_number",
    "label_of",
    "load",
    "limit",
    "tag",
    "place",
    "labels",
    "orderly",
    "_hiden_fields",
)


def declaring(*bases: type, **declared: Any) -> type[Any]:
    """A scenario class of the user with these attributes."""
    return type("Own", bases, declared)


@pytest.mark.parametrize("name", MISSPELT)
def test_a_misspelt_declaration_is_an_error_with_the_right_name(name: str) -> None:
    with pytest.raises(SettingsError) as raised:
        check_declared(declaring(Custom, **{name: ("kind",)})(frame()))
    sentence = (
        f"Own: it declares {name!r}; did you mean {MISSPELT[name]!r}? rename it, or begin its name with an underscore "
        "if it is your own"
    )
    assert str(raised.value) == sentence


def test_a_misspelling_is_found_in_any_class_of_the_user() -> None:
    mixin, base = declaring(object, orderd=True), declaring(Custom, hiden_fields=None, hidden_field=None)
    for kind, name in ((declaring(mixin, Custom), "orderd"), (declaring(base), "hiden_fields")):
        with pytest.raises(SettingsError, match=f"Own: it declares '{name}'; did you mean"):
            check_declared(kind(frame()))


def test_names_of_other_attributes_are_free() -> None:
    names = dict.fromkeys(OWN)
    for scenario in (declaring(Custom, **names)(frame()), declaring(Quiz, **names)(), declaring(Capitals, **names)()):
        check_declared(scenario)


def test_a_name_beside_the_one_that_it_resembles_is_free() -> None:
    check_declared(declaring(Custom, example=None, examples=lambda self: None)(frame()))  # noqa: ARG005 - a method
