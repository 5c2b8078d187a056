"""Modes of the store: `mix` takes what is kept, `fresh` computes again and compares."""

from __future__ import annotations

from pathlib import Path

from tests.responses.keeping_runs import Run, ask_texts, generate, once


def test_the_batches_of_a_cell_are_kept_one_by_one(tmp_path: Path) -> None:
    for name, computed in (("one", 4), ("two", 0)):
        run = Run(tmp_path, name)
        run.run_cell(*(once(generate(text)) for text in "pqrs"), batches=2)
        provenance = run.end()
        assert (len(run.backend.prompts), provenance.warnings) == (computed, ()), name


def test_fresh_computes_again_and_tells_a_difference(tmp_path: Path) -> None:
    ask_texts(tmp_path, "pq", "one")
    same, provenance = ask_texts(tmp_path, "pq", "two", mode="fresh")
    assert (same.backend.prompts, provenance.kept, provenance.warnings) == (["p", "q"], None, ())
    _, provenance = ask_texts(tmp_path, "pq", "three", mode="fresh", answers="xyz")
    (warning,) = provenance.warnings
    assert warning.startswith("2 of 2 answers differ from those kept of the same requests in the same batch")
