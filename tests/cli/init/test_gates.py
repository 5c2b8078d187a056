"""Gates that `pytest-puma init` proposes: active if the samples suffice, else comments."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pytest_puma.cli.init.gates import proposed_gates
from tests.cli.init.tickets import TEST, TICKETS, rows


def test_gates_that_could_not_decide_are_comments_with_the_number_they_need(output: Callable[..., str]) -> None:
    shown = output(TICKETS)
    assert "gate:  accuracy > naive.majority, as a comment: needs about 110 samples, and there are 4" in shown
    test = TEST.read_text(encoding="utf-8")
    assert '        "parse_failure_rate <= 0.05",\n' in test
    assert '        # "accuracy > naive.majority",  # needs about 110 samples, and there are 4\n' in test


def test_gates_that_can_decide_are_active(output: Callable[..., str]) -> None:
    content = rows(*(f"{n},text {n},{'ab'[n % 2]}" for n in range(120)))
    assert "comment" not in output(content)
    test = TEST.read_text(encoding="utf-8")
    assert '        "accuracy > naive.majority",\n' in test
    assert '        "no_regression",\n' in test
    assert 'samples="all"' in test


def test_a_large_file_lends_as_many_samples_as_the_gates_need(output: Callable[..., str]) -> None:
    # The rarer the other label, the smaller a lead can be.
    content = rows(*(f"{n},text {n},{'b' if n % 10 == 0 else 'a'}" for n in range(2000)))
    output(content)
    (samples,) = [line.strip() for line in TEST.read_text(encoding="utf-8").splitlines() if "samples=" in line]
    assert 200 < int(samples.removeprefix("samples=").rstrip(",")) < 500


@pytest.mark.parametrize(
    ("golds", "needed"),
    [
        (["a", "b"] * 50, 103),
        (["a"] * 90 + ["b"] * 10, 464),
        (["a", "b", "c", "d", "e"] * 20, 91),
    ],
)
def test_the_gate_on_labels_needs_more_samples_for_a_smaller_lead(golds: list[str], needed: int) -> None:
    gate = proposed_gates("classification", golds)[1]
    assert gate.gate == "accuracy > naive.majority"
    assert gate.needed == pytest.approx(needed, rel=0.05)


def test_the_gate_on_numbers_needs_more_samples_for_a_wider_spread() -> None:
    even, wide = (proposed_gates("regression", [str(gold) for gold in golds]) for golds in ([1, 3] * 9, [1] * 9 + [99]))
    assert even[1].needed == 1
    assert wide[1].needed > 1000
    assert even[2].gate == "no_regression"
    assert wide[2].decides(100) is False
