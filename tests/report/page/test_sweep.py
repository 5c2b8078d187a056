"""Sweep curves: which points are on which line, and where."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from pytest_puma.core import Outcome
from pytest_puma.core.variant import Setting, settings_of
from pytest_puma.core.weights import Weights
from pytest_puma.report.page.sweep import Curve, curves
from tests.factories import measure, outcome


def cell(variant: str, value: float = 0.5) -> Outcome:
    model = f"q+{variant}" if variant else "q"
    found = measure(value=value, low=value - 0.1, high=value + 0.1)
    return outcome(f"triage-zero_shot@{model}", measures={"accuracy": found})


def drawn(*variants: str, weights: Mapping[str, Weights] | None = None) -> list[Curve]:
    return list(curves([cell(name, 0.1 * (index + 1)) for index, name in enumerate(variants)], weights or {}))


def weights(**bits: float) -> dict[str, Weights]:
    return {
        "q" if name == "plain" else f"q+{name}": Weights(size=100, bits=each, types={}) for name, each in bits.items()
    }


def lines(curve: Curve) -> dict[str, list[str]]:
    return {line.name: [mark.label.partition(":")[0] for mark in line.marks] for line in curve.lines}


@pytest.mark.parametrize(
    ("variant", "expected"),
    [
        ("", {}),
        ("polite-8", {"polite": Setting(part="polite-8", strength=8)}),
        ("my-tone-2-0.5-L10", {"my-tone-2": Setting(part="my-tone-2-0.5-L10", strength=0.5, layers="10")}),
        ("a--0.25-L8-20", {"a": Setting(part="a--0.25-L8-20", strength=-0.25, layers="8-20")}),
        (
            "a-1e-05+b-2",
            {"a": Setting(part="a-1e-05", strength=1e-5), "b": Setting(part="b-2", strength=2)},
        ),
    ],
)
def test_the_settings_of_controls_are_read_from_their_names(variant: str, expected: dict[str, Setting]) -> None:
    assert settings_of(variant) == expected


def test_a_control_without_a_strength_has_its_name_alone() -> None:
    assert settings_of("Q4_K_M")["Q4_K_M"].part == "Q4_K_M"


def test_strengths_are_in_order_and_begin_with_the_plain_model() -> None:
    (curve,) = drawn("", "v-1", "v-0.5", "v--1")

    assert (curve.title, curve.where) == ("accuracy by strength of v", "triage-zero_shot@q")
    assert lines(curve) == {"": ["q+v--1", "q", "q+v-0.5", "q+v-1"]}
    (line,) = curve.lines
    places = [mark.x for mark in line.marks]
    assert places == sorted(places)
    assert places[1] - places[0] == pytest.approx(2 * (places[2] - places[1]), abs=0.2), "to scale"
    assert curve.plain is not None
    assert curve.plain[0] == line.marks[1].y
    assert all(mark.high < mark.y < mark.low for mark in line.marks), "from the top"


def test_each_value_of_the_other_controls_has_a_line_that_begins_without_the_control() -> None:
    by_v, by_w = drawn("", "v-1-L2", "v-2-L2", "w-1", "v-1-L2+w-1", "v-2-L2+w-1", "w-2")

    assert lines(by_v) == {
        "layer 2": ["q", "q+v-1-L2", "q+v-2-L2"],
        "layer 2, w-1": ["q+w-1", "q+v-1-L2+w-1", "q+v-2-L2+w-1"],
    }
    assert list(lines(by_w)) == ["alone", "v-1-L2", "v-2-L2"]


def test_layers_are_swept_at_one_strength() -> None:
    (curve,) = drawn("", "v-1-L2", "v-1-L10", "v-1-L4")

    assert curve.title == "accuracy by layer of v"
    assert lines(curve) == {"": ["q+v-1-L2", "q+v-1-L4", "q+v-1-L10"]}


def test_quantisations_are_in_order_of_their_bits_per_weight() -> None:
    found = weights(plain=16.0, Q4_K_M=6.17, Q8_0=8.5)
    (curve,) = drawn("", "Q4_K_M", "Q8_0", weights=found)

    assert curve.title == "accuracy by bits per weight"
    assert curve.where == "triage-zero_shot@q: 16 plain, 8.5 Q8_0, 6.17 Q4_K_M"
    assert lines(curve) == {"": ["q+Q4_K_M", "q+Q8_0", "q"]}


def test_other_controls_have_a_line_over_the_quantisations() -> None:
    found = weights(plain=16.0, Q8_0=8.5) | {
        "q+kv-q8_0": weights(plain=16.0)["q"],
        "q+Q8_0+kv-q8_0": weights(a=8.5)["q+a"],
    }
    (curve,) = drawn("", "Q8_0", "kv-q8_0", "Q8_0+kv-q8_0", weights=found)

    assert lines(curve) == {"alone": ["q+Q8_0", "q"], "kv-q8_0": ["q+Q8_0+kv-q8_0", "q+kv-q8_0"]}


def test_more_lines_than_kinds_make_further_charts_on_one_scale() -> None:
    first, second = drawn("", *(f"v-{strength}-L{layer}" for layer in range(1, 7) for strength in (1, 2)))

    assert [len(curve.lines) for curve in (first, second)] == [4, 2]
    assert first.frame == second.frame


def test_without_a_plain_model_there_is_no_band() -> None:
    (curve,) = drawn("v-1", "v-2")

    assert curve.plain is None


def test_what_is_not_swept_has_no_curve() -> None:
    assert drawn("") == drawn("", "v-1") == drawn("v-1", "w-1") == drawn("Q4_K_M", "Q8_0") == []
