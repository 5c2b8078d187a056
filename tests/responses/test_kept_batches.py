"""Batches of kept answers: which ones a cell mixes, and the warning about them."""

from __future__ import annotations

from pathlib import Path

from pytest_puma.core import (
    Generate,
)
from tests.responses.keeping_runs import Run, ask_texts, generate, once, prompt


def test_a_killed_run_goes_on_and_every_report_tells_the_mixture(tmp_path: Path) -> None:
    ask_texts(tmp_path, "pq", "one")
    second, provenance = ask_texts(tmp_path, "pqrs", "two")
    assert second.backend.prompts == ["r", "s"]
    assert provenance.warnings == ("2 of 4 answers kept from run one; the rest computed without them",)
    _, provenance = ask_texts(tmp_path, "pqrs", "three")
    assert provenance.warnings == ("all 4 answers kept from run two and 1 more, computed in several batches",)


def test_strict_answers_serve_every_cell_and_are_never_a_mixture(tmp_path: Path) -> None:
    first = Run(tmp_path, "one", strict=True)
    first.run_cell(once(generate("p")))
    first.end()
    second = Run(tmp_path, "two", strict=True)
    second.run_cell(once(generate("p")), once(generate("q")), cell="triage-zero_shot@m")
    provenance = second.end()
    assert second.backend.prompts == ["q"]
    assert provenance.kept is not None
    assert (provenance.kept.kept, provenance.warnings) == (1, ())


def test_other_threads_are_another_company_not_another_engine(tmp_path: Path) -> None:
    ask_texts(tmp_path, "pq", "one")
    run = Run(tmp_path, "two")
    run.backend.signature = {**run.backend.signature, "threads": "7"}
    run.run_cell(once(generate("p")), once(generate("q")))
    provenance = run.end()
    assert run.backend.prompts == []
    assert provenance.warnings == ("all 2 answers kept from run one, computed in another batch",)


def test_answers_of_other_threads_and_of_the_own_batch_are_those_of_several(tmp_path: Path) -> None:
    ask_texts(tmp_path, "p", "one")
    run = Run(tmp_path, "two")
    run.backend.signature = {**run.backend.signature, "threads": "7"}
    run.run_cell(once(generate("p")), once(generate("q")))
    run.end()
    kept = ask_texts(tmp_path, "pq", "three")[1].kept
    assert kept is not None
    assert (kept.together, kept.batches) == (False, 2)
    assert str(kept) == "all 2 answers kept from run two and 1 more, computed in several batches"


def test_batches_are_counted_for_each_batch_of_a_cell(tmp_path: Path) -> None:
    for name, threads in (("one", "2"), ("two", "2"), ("three", "7")):
        run = Run(tmp_path, name)
        run.backend.signature = {**run.backend.signature, "threads": threads}
        run.run_cell(*(once(generate(text)) for text in "pqrs"), batches=2)
        kept = run.end().kept
        assert kept is None if name == "one" else kept is not None
        if kept is not None:
            assert (kept.together, kept.batches) == (name == "two", 1)


def test_the_only_answer_is_named_as_one(tmp_path: Path) -> None:
    ask_texts(tmp_path, "p", "one")
    assert str(ask_texts(tmp_path, "p", "two")[1].kept) == "the only answer kept from run one"


def test_a_rest_is_computed_in_the_cache_of_the_whole(tmp_path: Path) -> None:
    def opened(texts: str, folder: Path) -> list[tuple[int, int]]:
        run = Run(folder)
        run.backend.stream_kv_slots = 100_000
        run.run_cell(*(once(Generate(prompt=prompt(text * 20), max_tokens=900)) for text in texts))
        run.end()
        return run.backend.opened

    whole = opened("pqrstuvw", tmp_path / "whole")
    opened("pqrstuv", tmp_path / "part")
    assert whole[0][1] > 0
    assert opened("pqrstuvw", tmp_path / "part") == whole
    assert opened("w", tmp_path / "alone") != whole
