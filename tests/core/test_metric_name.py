"""Names of metrics with slices."""

from __future__ import annotations

import pytest

from pytest_puma.core import SettingsError
from pytest_puma.core.metric_name import MetricName, Slice


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("accuracy", MetricName("accuracy")),
        ("accuracy[subject=law]", MetricName("accuracy", Slice(values=(("subject", "law"),)))),
        ("rouge[ a = b c , d=e ]", MetricName("rouge", Slice(values=(("a", "b c"), ("d", "e"))))),
        ("a[s=Health, Safety,d=e=f, g]", MetricName("a", Slice(values=(("s", "Health, Safety"), ("d", "e=f, g"))))),
        ("mae[mean subject]", MetricName("mae", Slice(fold="mean", key="subject"))),
        ("per_class.a[b].f1[min x]", MetricName("per_class.a[b].f1", Slice(fold="min", key="x"))),
    ],
)
def test_names_are_read_in_parts(text: str, name: MetricName) -> None:
    assert MetricName.parse(text) == name


@pytest.mark.parametrize("text", ["accuracy[subject]", "accuracy[]", "accuracy[median subject]", "accuracy[a,b=c]"])
def test_any_other_bracket_is_an_error(text: str) -> None:
    with pytest.raises(SettingsError, match=r"expected \[column=value\], or \[mean column\], min or max"):
        MetricName.parse(text)


def test_a_slice_includes_the_samples_with_all_of_its_values() -> None:
    part = Slice(values=(("lang", "de"), ("level", "easy")))
    assert part.includes({"lang": "de", "level": "easy", "more": "x"})
    assert not part.includes({"lang": "de", "level": "hard"})
    assert not part.includes({"lang": "de"})
    assert Slice(fold="mean", key="lang").includes({})
