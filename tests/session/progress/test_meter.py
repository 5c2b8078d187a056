from __future__ import annotations

from typing import Any

import pytest

from pytest_puma.session.progress.meter import line


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({}, "a-b@c 0 of 1,200 samples"),
        ({"answered": 7, "kept": 2000}, "a-b@c 7 of 1,200 samples, 2,000 answers kept"),
        ({"speed": 1234.5}, "a-b@c 0 of 1,200 samples, 1,234 tokens/s"),
        ({"left": 0.4}, "a-b@c 0 of 1,200 samples, about 0 s left"),
        ({"left": 89.4}, "a-b@c 0 of 1,200 samples, about 89 s left"),
        ({"left": 90.0}, "a-b@c 0 of 1,200 samples, about 2 min left"),
        (
            {"answered": 1000, "kept": 10, "speed": 80.0, "left": 3600.0},
            "a-b@c 1,000 of 1,200 samples, 10 answers kept, 80 tokens/s, about 60 min left",
        ),
    ],
)
def test_progress_is_a_line(values: dict[str, Any], expected: str) -> None:
    assert line("a-b@c", **({"answered": 0, "samples": 1200} | values)) == expected
