"""Guided jobs in the scheduler: both halves start together, get the same tokens, and share prefixes of their kind."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_puma.engine.jobs import Job
from tests.engine.drive import Drive, job

TOKENS = st.integers(0, 2)
PROMPTS = st.lists(st.sampled_from([[0] * 20, [1] * 9, [2] * 30, [0, 1], [1]]), min_size=1, max_size=4).map(
    lambda parts: [token for part in parts for token in part]
)


@st.composite
def drives(draw: st.DrawFn) -> Drive:
    """Guided, plain and scored jobs, submitted at once, with limits that each job alone just fits into."""
    submitted: list[Job] = []
    for key in range(draw(st.integers(1, 14))):
        tokens, kind = draw(PROMPTS), draw(st.sampled_from(["guided", "guided", "plain", "scored"]))
        twin = draw(PROMPTS) if kind == "guided" else ()
        tails = ((0, 1, 2), (1,), (2, 2)) if kind == "scored" else ()
        submitted.append(job(key, tokens, room=draw(st.integers(1, 5)), tails=tails, twin=twin))
    drive = Drive(
        sequences=draw(st.integers(2, 9)),
        parallel=draw(st.integers(1, 6)),
        batch=draw(st.integers(1, 60)),
        rows=draw(st.integers(1, 9)),
        kv_slots=max(each.kv_slots for each in submitted) + draw(st.integers(0, 60)),
        endings={each.key: tuple(draw(st.lists(TOKENS, max_size=each.room - 1))) for each in submitted if each.room},
    )
    drive.submit(*submitted)
    return drive


def prompt_tokens(jobs: Sequence[Job]) -> int:
    return sum(len(each.tokens) + (len(each.twin.tokens) if each.twin else 0) for each in jobs)


@settings(max_examples=200, deadline=None)
@given(drives())
def test_both_halves_get_all_their_rows_within_the_limits_and_each_token_is_counted(drive: Drive) -> None:
    drive.run()
    assert drive.cached.keys() == drive.jobs.keys()
    assert drive.prompt_tokens_computed == prompt_tokens([*drive.jobs.values()]) - sum(drive.cached.values())
    for operation in drive.scheduler.leave():
        drive.cache.carry_out(operation)
    assert drive.cache.in_use == 0
    assert drive.scheduler.sequences.free_kv_slots == drive.kv_slots


@pytest.mark.parametrize(("sequences", "kv_slots"), [(2, 24), (3, 100), (16, 100), (16, 4096)])
def test_pairs_that_sort_apart_never_wait_for_each_other(sequences: int, kv_slots: int) -> None:
    """Were halves admitted alone, the first ones would fill all places, and wait for twins that find none."""
    pairs = [job(key, [key] * 9, room=3, twin=[99 - key] * 9) for key in range(64)]
    drive = Drive(sequences=sequences, parallel=16, kv_slots=kv_slots, endings=dict.fromkeys(range(64), (5, 5)))
    drive.submit(*pairs)
    assert drive.run().cached.keys() == set(range(64))


def test_each_half_shares_the_prefix_of_its_kind() -> None:
    # In reverse order, so that no twin has another one behind it.
    pairs = [job(key, [7] * 100 + [key] * 5, twin=[8] * 60 + [50 - key] * 3) for key in range(10)]
    drive = Drive(sequences=24, parallel=8)
    drive.submit(*pairs)
    assert drive.run().prompt_tokens_computed == 100 + 10 * 5 + 60 + 10 * 3


def test_equal_second_prompts_are_computed_once_but_for_their_last_token() -> None:
    drive = Drive(sequences=24, parallel=8)
    drive.submit(*(job(key, [key] * 5, twin=range(50)) for key in range(10)))
    assert drive.run().prompt_tokens_computed == 10 * 5 + 49 + 10


def test_a_pair_fits_only_as_a_whole_and_into_no_stream() -> None:
    assert Drive(kv_slots=22).scheduler.takes(job(0, range(10), twin=range(10)))
    assert not Drive(kv_slots=21).scheduler.takes(job(0, range(10), twin=range(10)))
    assert not Drive(kv_slots=4096, streams=True).scheduler.takes(job(0, range(10), twin=range(10)))
