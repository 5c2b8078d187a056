"""What the name of a variant says about its plain model."""

from __future__ import annotations

import pytest

from pytest_puma.analysis.cross_cell import verdicts
from pytest_puma.core import Policy
from pytest_puma.core.variant import adding_plain
from tests.analysis.test_cross_cell import outcome


@pytest.mark.parametrize(
    ("variant", "advice"),
    [
        ("tone-0.5-L10", "add 0 to the list, as in steer=polite.gguf:0/4/8"),
        ("Q4_K_M", "add none to the list, as in quant=none/Q4_K_M"),
        ("kv-q8_0", "add f16 to the list, as in kv=f16/q8_0"),
        ("flash-on", "add auto to the list, as in flash=auto/on"),
        ("Q4_0+tone-0.5", "add none and 0 to the lists, as in quant=none/Q4_K_M,steer=polite.gguf:0/4/8"),
    ],
)
def test_the_plain_model_is_added_to_the_list_of_each_control(variant: str, advice: str) -> None:
    assert adding_plain(variant) == advice
    gate = "f1_macro >= plain - 0.02 !fail"
    (verdict,) = verdicts([outcome("egi", model=f"m+{variant}", gate=gate)], Policy())
    assert (verdict.status, verdict.fails) == ("NOT RUN", True)
    assert verdict.reason.endswith(f"was not judged: m did not run: {advice}")
