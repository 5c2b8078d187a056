from __future__ import annotations

import sys

import pytest

from tests.fuzz.rounds import fuzz

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits the memory of a process as Linux does")


def test_no_template_hangs_takes_the_memory_or_raises_errors_of_its_own() -> None:
    from tests.fuzz.child import Child
    from tests.fuzz.templates import TEMPLATES, rendered

    with Child(rendered, megabytes=400, seconds=20) as child:
        fuzz(TEMPLATES, child.ask, examples=80)
