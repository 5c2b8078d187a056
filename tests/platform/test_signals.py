from __future__ import annotations

import signal
import threading

import pytest

from pytest_puma.platform.signals import deferred


def press(times: int = 1) -> None:
    for _ in range(times):
        signal.raise_signal(signal.SIGINT)


def test_an_interrupt_waits_for_the_end_of_the_block() -> None:
    done = []
    with pytest.raises(KeyboardInterrupt):  # noqa: SIM117, PT012
        with deferred() as waiting:
            assert not waiting
            press()
            assert waiting == [signal.SIGINT]
            done.append(True)
    assert done
    with pytest.raises(KeyboardInterrupt):
        press()


def test_a_second_interrupt_does_not_wait() -> None:
    done = []
    with pytest.raises(KeyboardInterrupt):  # noqa: SIM117, PT012
        with deferred():
            press(2)
            done.append(True)
    assert not done
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_without_a_limit_each_waits_and_one_is_raised() -> None:
    with pytest.raises(KeyboardInterrupt):  # noqa: SIM117, PT012
        with deferred(limit=None) as waiting:
            press(3)
            assert len(waiting) == 3


def test_an_interrupt_is_not_lost_by_an_error() -> None:
    with pytest.raises(KeyboardInterrupt):  # noqa: SIM117, PT012
        with deferred():
            press()
            raise ValueError


def test_signals_that_are_left_to_the_system_stay_there() -> None:
    before = signal.signal(signal.SIGTERM, signal.SIG_DFL)
    try:
        with deferred():
            assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
    finally:
        signal.signal(signal.SIGTERM, before)


def test_other_threads_hold_nothing() -> None:
    seen: list[object] = []

    def work() -> None:
        with deferred():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [signal.default_int_handler]
