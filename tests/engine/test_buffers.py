from __future__ import annotations

import ctypes
import re
from array import array

import pytest

from pytest_puma.core import EngineError, Step
from pytest_puma.engine.native.buffers import BatchBuffers


def buffers() -> BatchBuffers:
    return BatchBuffers(tokens=8, rows=3, sequences=4)


def read(full: BatchBuffers, name: str, count: int) -> list[int]:
    return [int(value) for value in full.arrays()[name][:count]]


def test_steps_lie_side_by_side_with_their_positions_sequences_and_wanted_rows() -> None:
    full = buffers()
    steps = [Step(0, 5, array("i", [10, 11, 12]), 2), Step(3, 0, [20], 0), Step(1, 7, (30, 31), 2)]
    assert full.fill(steps) == (6, 2)
    assert read(full, "token", 6) == [10, 11, 12, 20, 30, 31]
    assert read(full, "pos", 6) == [5, 6, 7, 0, 7, 8]
    assert read(full, "logits", 6) == [0, 0, 1, 1, 0, 0]
    assert read(full, "n_seq_id", 6) == [1] * 6


def test_each_token_points_at_its_own_sequence() -> None:
    full = buffers()
    full.fill([Step(2, 0, [1, 1], 2), Step(3, 0, [1], 1)])
    pointers = read(full, "seq_id", 3)
    assert [ctypes.c_int32.from_address(pointer).value for pointer in pointers] == [2, 2, 3]


def test_nothing_of_the_last_batch_is_left_in_the_next() -> None:
    full = buffers()
    full.fill([Step(1, 0, [1, 2, 3], 0)])
    assert full.fill([Step(2, 4, [7, 8], 2)]) == (2, 0)
    assert read(full, "logits", 2) == [0, 0]
    assert read(full, "pos", 2) == [4, 5]


def test_a_batch_may_be_full_to_the_brim() -> None:
    assert buffers().fill([Step(3, 0, [0] * 8, 5)]) == (8, 3)


@pytest.mark.parametrize(
    ("step", "problem"),
    [
        (Step(0, 0, [0] * 9, 9), "9 tokens; expected at most 8"),
        (Step(0, 0, [0] * 8, 4), "4 rows; expected at most 3"),
        (Step(4, 0, [0], 1), "5 sequences; expected at most 4"),
    ],
)
def test_what_would_abort_the_process_is_refused(step: Step, problem: str) -> None:
    with pytest.raises(EngineError, match=re.escape(problem)):
        buffers().fill([Step(1, 0, [], 0), step])
