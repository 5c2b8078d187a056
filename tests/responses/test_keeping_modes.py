"""Modes of the store: `whole` replays finished passes alone, `fresh` computes again and compares."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_puma.core import (
    Answer,
    Conversation,
    DataError,
    ask,
)
from tests.responses.keeping_runs import Run, ask_texts, generate, once, twice


def test_whole_replays_a_finished_pass_and_computes_any_other_from_its_start(tmp_path: Path) -> None:
    ask_texts(tmp_path, "pq", "one")
    again, provenance = ask_texts(tmp_path, "pq", "two", mode="whole")
    assert (again.backend.prompts, provenance.warnings) == ([], ())
    more, provenance = ask_texts(tmp_path, "pqr", "three", mode="whole")
    assert (more.backend.prompts, provenance.kept) == (["p", "q", "r"], None)


def test_whole_does_not_replay_a_pass_that_was_killed(tmp_path: Path) -> None:
    killed = Run(tmp_path, "one")
    killed.run_cell(twice("p"), twice("q"))  # `end` is not reached
    killed.engine.close()
    again = Run(tmp_path, "two", mode="whole")
    again.run_cell(twice("p"), twice("q"))
    assert len(again.backend.prompts) == 4
    assert again.end().kept is None


def test_whole_refuses_a_pass_that_leads_to_other_requests(tmp_path: Path) -> None:
    first = Run(tmp_path, "one")
    first.run_cell(twice("p"))
    first.end()

    def otherwise() -> Conversation:
        first = yield from ask(generate("p"))
        second = yield from ask(generate(f"{first.text}!"))
        return Answer(value=second.text, responses=(second,))

    with pytest.raises(DataError, match=r"lead to other requests than before.*--puma-store=fresh"):
        Run(tmp_path, "two", mode="whole").run_cell(otherwise())


def test_the_passes_of_a_cell_are_kept_one_by_one(tmp_path: Path) -> None:
    for mode in ("mix", "whole"):
        for name, computed in (("one", 4), ("two", 0)):
            run = Run(tmp_path / mode, name, mode=mode)
            run.run_cell(*(once(generate(text)) for text in "pqrs"), passes=2)
            provenance = run.end()
            assert (len(run.backend.prompts), provenance.warnings) == (computed, ()), (mode, name)


def test_fresh_computes_again_and_tells_a_difference(tmp_path: Path) -> None:
    ask_texts(tmp_path, "pq", "one")
    same, provenance = ask_texts(tmp_path, "pq", "two", mode="fresh")
    assert (same.backend.prompts, provenance.kept, provenance.warnings) == (["p", "q"], None, ())
    _, provenance = ask_texts(tmp_path, "pq", "three", mode="fresh", answers="xyz")
    (warning,) = provenance.warnings
    assert warning.startswith("2 of 2 answers differ from those kept of the same requests in the same batch")
