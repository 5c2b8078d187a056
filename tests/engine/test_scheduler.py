from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from itertools import chain

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_puma.core.shared import common_prefix
from pytest_puma.engine.jobs import Drop, Fork, Job
from pytest_puma.engine.scheduler import MAX_LEVELS
from tests.engine.drive import Drive, job

TOKENS = st.integers(0, 2)
#: Prompts are made of these, so that they share prefixes of all lengths, also all of their tokens.
SEGMENTS = st.lists(st.lists(TOKENS, min_size=1, max_size=40), min_size=1, max_size=4)
TAILS = st.lists(st.lists(TOKENS, min_size=1, max_size=5).map(tuple), max_size=6).map(tuple)


@st.composite
def jobs(draw: st.DrawFn, *, scored: bool = True) -> list[Job]:
    segments = draw(SEGMENTS)
    prompts = st.lists(st.sampled_from(segments), min_size=1, max_size=4).map(lambda parts: [*chain(*parts)])
    tails = TAILS if scored else st.just(())
    parts = draw(st.lists(st.tuples(prompts, st.integers(1, 6), tails), min_size=1, max_size=14))
    return [job(key, tokens, room=room, tails=each) for key, (tokens, room, each) in enumerate(parts)]


@st.composite
def drives(draw: st.DrawFn, *, follow_up: bool, streams: bool = False) -> Drive:
    """Jobs, submitted at once, with limits that each job alone just fits into."""
    submitted = draw(jobs(scored=not streams))
    generating = [each for each in submitted if not each.tails]
    endings = {each.key: tuple(draw(st.lists(TOKENS, max_size=each.room - 1))) for each in generating}
    continued = [each for each in submitted if follow_up and draw(st.booleans())]
    more = draw(st.lists(TOKENS, min_size=1, max_size=30))

    def next_job(key: int) -> Callable[[Sequence[int]], Job]:
        return lambda tokens: job(key + len(submitted), [*tokens, *more], room=2)

    longest = max(each.kv_slots for each in submitted) + (len(more) + 2 if continued else 0)
    sequences = draw(st.integers(2, 9))
    drive = Drive(
        sequences=sequences,
        parallel=draw(st.integers(1, 6)),
        batch=draw(st.integers(1, 60)),
        rows=draw(st.integers(1, 9)),
        kv_slots=(longest + draw(st.integers(0, 60))) * (sequences if streams else 1),
        streams=streams,
        endings=endings,
        follow_ups={each.key: next_job(each.key) for each in continued},
    )
    drive.submit(*submitted)
    return drive


def check(drive: Drive) -> None:
    """Run to the end, which checks every fork, drop, position, row and limit; then check the reported cached tokens."""
    drive.run()
    lengths = {key: len(each.tokens) for key, each in drive.jobs.items()}
    assert drive.cached.keys() == lengths.keys()
    assert all(0 <= drive.cached[key] < length for key, length in lengths.items())
    assert drive.prompt_tokens_computed == sum(lengths.values()) - sum(drive.cached.values())


@settings(max_examples=150, deadline=None)
@given(drives(follow_up=False))
def test_every_job_gets_all_its_rows_within_the_limits_and_each_token_is_counted(drive: Drive) -> None:
    check(drive)


@settings(max_examples=100, deadline=None)
@given(drives(follow_up=True))
def test_jobs_may_arrive_while_others_run_and_at_the_end_everything_is_free(drive: Drive) -> None:
    check(drive)
    for operation in drive.scheduler.leave():
        drive.cache.carry_out(operation)
    assert drive.cache.in_use == 0
    assert drive.scheduler.sequences.free_kv_slots == drive.kv_slots
    assert sorted(drive.scheduler.sequences.free) == list(range(drive.sequences))


@settings(max_examples=150, deadline=None)
@given(drives(follow_up=True, streams=True))
def test_one_stream_prefills_at_a_time_and_those_that_decode_have_consecutive_numbers(drive: Drive) -> None:
    check(drive)
    for plan in drive.plans:
        prefills = [step for step in plan.steps if len(step.tokens) > 1]
        assert len(plan.steps) == 1 or not prefills
        assert len(plan.steps) == 1 or [step.sequence for step in plan.steps] == list(range(len(plan.steps)))


def test_the_last_tokens_of_equal_prompts_are_computed_in_one_batch_of_streams() -> None:
    drive = Drive(sequences=5, parallel=3, kv_slots=5 * 256, streams=True, endings=dict.fromkeys(range(6), (7, 7, 7)))
    drive.submit(*(job(key, range(100), room=4) for key in range(6)))
    sizes = [[len(step.tokens) for step in plan.steps] for plan in drive.run().plans]
    # The common part, then two waves: the last token of each prompt, and three new ones.
    assert sizes == [[99], *[[1, 1, 1]] * 4, *[[1, 1, 1]] * 4]


def test_no_stream_takes_a_longer_job_or_the_continuations_of_a_score() -> None:
    scheduler = Drive(sequences=4, kv_slots=400, streams=True).scheduler
    assert scheduler.takes(job(0, range(99)))
    assert not scheduler.takes(job(0, range(100)))
    assert not scheduler.takes(job(0, range(10), tails=((1, 2),)))


@settings(max_examples=50, deadline=None)
@given(jobs().flatmap(lambda submitted: st.tuples(st.just(submitted), st.permutations(submitted))))
def test_the_order_of_submission_does_not_change_the_plans(orders: tuple[list[Job], list[Job]]) -> None:
    first, second = Drive(kv_slots=8192), Drive(kv_slots=8192)
    first.submit(*orders[0])
    for each in orders[1]:
        second.submit(each)
    assert first.run().plans == second.run().plans


@given(st.lists(TOKENS), st.lists(TOKENS), st.lists(TOKENS))
def test_common_prefix_counts_leading_tokens(shared: list[int], left: list[int], right: list[int]) -> None:
    one, other = array("i", shared + left), array("i", shared + right)
    length = common_prefix(one, other)
    assert one[:length] == other[:length]
    assert length >= len(shared)
    assert length in (len(one), len(other)) or one[length] != other[length]


def tree(*shared: int, leaves: int = 3) -> list[Job]:
    """Jobs that share prefixes of these lengths, level by level, three at each; then their own four tokens."""
    prefixes: list[list[int]] = [[]]
    for level in shared:
        prefixes = [[*prefix, *[branch] * level] for prefix in prefixes for branch in range(leaves)]
    return [job(key, [*prefix, 9, 9, 9, key]) for key, prefix in enumerate(prefixes)]


def computed(submitted: Sequence[Job], **limits: int) -> int:
    drive = Drive(**limits)  # type: ignore[arg-type]
    drive.submit(*submitted)
    return drive.run().prompt_tokens_computed


def test_a_shared_prefix_is_computed_once() -> None:
    assert computed([job(key, [7] * 100 + [key] * 5) for key in range(10)]) == 100 + 10 * 5


def test_equal_prompts_are_computed_once_but_for_their_last_token() -> None:
    assert computed([job(key, range(50)) for key in range(5)]) == 49 + 5


def test_a_prompt_that_begins_another_is_computed_once() -> None:
    assert computed([job(0, range(30)), job(1, range(60))]) == 29 + 1 + 31


@pytest.mark.parametrize(
    ("shared", "prompts", "times"), [(16, 2, 1), (15, 2, 2), (8, 3, 1), (7, 3, 3), (4, 5, 1), (4, 4, 4), (3, 40, 40)]
)
def test_a_prefix_is_shared_when_it_saves_more_than_a_round_trip_costs(shared: int, prompts: int, times: int) -> None:
    assert computed([job(key, [9] * shared + [key] * 4) for key in range(prompts)]) == times * shared + prompts * 4


def test_a_short_question_is_computed_once_for_all_orders_of_its_choices() -> None:
    # The instructions, then questions of ten tokens, each in five orders: the fewest tokens possible.
    submitted = [
        job(5 * question + order, [99] * 40 + [question] * 10 + [50 + order] * 20)
        for question in range(30)
        for order in range(5)
    ]
    assert computed(submitted) == 40 + 30 * (10 + 5 * 20)


def test_prefixes_of_prefixes_are_computed_once_each() -> None:
    assert computed(tree(20, 30, 40)) == 3 * 20 + 9 * 30 + 27 * 40 + 27 * 4


def test_a_prefix_tree_with_too_many_levels_is_still_computed_correctly() -> None:
    chain_of_prompts = [job(key, [*range(20 * (key + 1)), 999]) for key in range(MAX_LEVELS + 4)]
    lengths = [len(each.tokens) for each in chain_of_prompts]
    assert max(lengths) < computed(chain_of_prompts) < sum(lengths)


def test_two_sequences_are_enough_for_anything() -> None:
    prompts = [job(key, [7] * 40 + [key], tails=((1, 2, 3), (4, 5), (6, 7))) for key in range(4)]
    assert computed(prompts, sequences=2, parallel=1) == 4 * 41


def test_prompts_are_computed_before_anything_is_generated() -> None:
    drive = Drive(batch=10, parallel=2, endings={0: (1,) * 5, 1: (1,) * 5})
    drive.submit(job(0, [0] * 9, room=6), job(1, [1] * 25, room=6))
    sizes = [sum(len(step.tokens) for step in drive.step().steps) for _ in range(5)]
    assert sizes == [10, 10, 10, 4, 2]


def test_a_finished_sequence_is_taken_by_the_next_job_at_once() -> None:
    drive = Drive(parallel=2, endings={1: (5, 5)})
    drive.submit(job(0, [0]), job(1, [1], room=3), job(2, [2]))
    assert [step.sequence for step in drive.step().steps] == [0, 1]
    plan = drive.step()
    assert plan.operations == [Drop(0)]
    assert [(step.sequence, list(step.tokens)) for step in plan.steps] == [(0, [2])]


def test_a_job_waits_until_its_kv_slots_are_free() -> None:
    drive = Drive(kv_slots=100, endings={0: (5,)})
    drive.submit(job(0, [0] * 60, room=2), job(1, [1] * 60))
    assert [len(drive.step().steps) for _ in range(3)] == [1, 1, 1]
    assert drive.scheduler.idle


def test_a_scored_job_forks_its_prompt_for_all_continuations_but_the_last() -> None:
    drive = Drive()
    drive.submit(job(0, [0, 1], tails=((3, 4), (5, 6), (7, 8))))
    drive.step()
    plan = drive.step()
    assert plan.operations == [Fork(0, 1), Fork(0, 2)]
    assert sorted(list(step.tokens) for step in plan.steps) == [[3], [5], [7]]


def test_a_continuation_of_one_token_needs_nothing_but_the_prompt() -> None:
    drive = Drive()
    drive.submit(job(0, [0, 1], tails=((3,), (4,))), job(1, [0, 2], tails=((3,), (4, 5))))
    assert drive.run().cache.fed == 2 + 2 + 1


def test_a_fork_point_waits_until_the_job_below_it_fits_too() -> None:
    drive = Drive(kv_slots=100, parallel=3)
    drive.submit(job(0, [0] * 60, room=5), *(job(key, [7] * 50 + [key]) for key in (1, 2)))
    assert [len(drive.step().steps) for _ in range(2)] == [1, 1]
    assert drive.run().prompt_tokens_computed == 60 + 50 + 2


def test_a_fork_point_is_still_used_when_another_job_arrives_before_its_jobs() -> None:
    drive = Drive(parallel=2, batch=16, follow_ups={0: lambda tokens: job(3, [*tokens, 5, 5])})
    drive.submit(job(0, [0]), *(job(key, [7] * 40 + [key]) for key in (1, 2)))
    assert drive.run().prompt_tokens_computed == 1 + 3 + 40 + 2


def test_shared_kv_slots_are_counted_once() -> None:
    drive = Drive(kv_slots=100)
    drive.submit(*(job(key, [7] * 60 + [key] * 9) for key in range(4)))
    assert [len(drive.step().steps) for _ in range(2)] == [1, 4]


@pytest.mark.parametrize(("later", "cached"), [([7] * 40 + [3], 40), ([7] * 40, 0), ([7] * 39, 0), ([7] * 41, 40)])
def test_fork_points_stay_for_later_requests_that_are_longer(later: list[int], cached: int) -> None:
    drive = Drive()
    drive.submit(*(job(key, [7] * 40 + [key]) for key in (1, 2)))
    drive.run()
    drive.submit(job(3, later))
    assert drive.run().cached[3] == cached
