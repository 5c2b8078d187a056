from __future__ import annotations

import math
import re
import signal
import threading

import pytest

from pytest_puma.platform.signals import limited

#: A pattern that needs 2 ** 40 steps.
NEVER = re.compile(r"(a+)+$")
TEXT = "a" * 40 + "!"


def test_a_pattern_that_never_ends_is_stopped() -> None:
    with pytest.raises(TimeoutError, match=r"over 0\.2 seconds of computing"), limited(0.2):
        NEVER.match(TEXT)


def test_what_ends_in_time_leaves_no_trace() -> None:
    before = signal.getsignal(signal.SIGVTALRM)
    with limited(60):
        assert NEVER.match("aaa")
    assert signal.getsignal(signal.SIGVTALRM) is before
    assert signal.getitimer(signal.ITIMER_VIRTUAL) == (0.0, 0.0)


def test_code_that_ignores_the_error_gets_it_again() -> None:
    def stubborn() -> None:
        try:
            NEVER.match(TEXT)
        except TimeoutError:
            NEVER.match(TEXT)

    with pytest.raises(TimeoutError), limited(0.2):
        stubborn()


def test_other_threads_have_no_limit() -> None:
    done: list[bool] = []

    def work() -> None:
        with limited(0.0001):
            done.append(NEVER.match("a" * 10) is not None)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done == [True]


def test_a_limit_within_a_limit_ends_with_its_block() -> None:
    with limited(0.4):
        with pytest.raises(TimeoutError, match=r"over 0\.2 seconds"), limited(0.2):
            NEVER.match(TEXT)
        with limited(60):
            assert NEVER.match("aaa")
        with pytest.raises(TimeoutError, match=r"over 0\.4 seconds"):
            NEVER.match(TEXT)


def test_limits_within_an_infinite_one_share_its_timer() -> None:
    with limited(math.inf):
        handler, timer = signal.getsignal(signal.SIGVTALRM), signal.getitimer(signal.ITIMER_VIRTUAL)
        for _ in range(2):
            with pytest.raises(TimeoutError, match=r"over 0\.2 seconds"), limited(0.2):
                NEVER.match(TEXT)
        assert signal.getsignal(signal.SIGVTALRM) is handler
        assert signal.getitimer(signal.ITIMER_VIRTUAL)[1] == timer[1]
    assert signal.getitimer(signal.ITIMER_VIRTUAL) == (0.0, 0.0)
