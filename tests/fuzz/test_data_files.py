from __future__ import annotations

import sys

import pytest

from tests.fuzz.rounds import fuzz

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits the memory of a process as Linux does")


def test_no_data_file_hangs_takes_the_memory_or_raises_errors_of_its_own() -> None:
    from tests.fuzz.child import Child
    from tests.fuzz.data_mutations import FILES
    from tests.fuzz.data_readers import read

    with Child(read, megabytes=1000, seconds=30) as child:
        fuzz(FILES, child.ask, examples=100)
