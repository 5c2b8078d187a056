"""The engine that keeps answers: which ones it computes, and which ones it reads."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_puma.core import (
    Answer,
    Conversation,
    Origin,
    Response,
    Score,
    Trial,
    ask,
    ask_all,
)
from pytest_puma.evaluation import conversations
from pytest_puma.evaluation.conversations import run_conversations
from pytest_puma.responses.database import ResponseStore
from tests.factories import sample
from tests.responses.keeping_runs import CELL, SIGNATURE, Run, ask_texts, generate, once, prompt, twice


def test_a_first_run_computes_everything_and_a_second_one_nothing(tmp_path: Path) -> None:
    first, provenance = ask_texts(tmp_path, "pqr", "one")
    assert (first.backend.prompts, provenance.kept, provenance.unmeasured) == (["p", "q", "r"], None, {})
    second = Run(tmp_path, "two")
    assert second.run_cell(*(once(generate(text)) for text in "pqr")) == ["abcp", "abcq", "abcr"]
    provenance = second.end()
    assert second.backend.prompts == []
    assert provenance.kept is not None
    assert (provenance.kept.kept, provenance.kept.responses, provenance.kept.runs) == (3, 3, ("one",))
    assert str(provenance.kept) == "all 3 answers kept from run one"
    assert (provenance.kept.mixed, provenance.warnings) == (False, ())
    assert "--puma-store=fresh" in provenance.unmeasured["clock"]
    assert second.engine.speed.prefill_tokens == 0


def test_a_response_is_in_the_file_before_the_strategy_has_it(tmp_path: Path) -> None:
    seen = []

    def watching(text: str) -> Conversation:
        response = yield from ask(generate(text))
        with_others = ResponseStore(tmp_path / "responses.sqlite", readonly=True)
        seen.append(with_others.rows("SELECT count(*) FROM response")[0][0])
        with_others.close()
        return Answer(value=response.text, responses=(response,))

    Run(tmp_path).run_cell(watching("p"), watching("q longer"))
    assert seen in ([1, 2], [2, 2])


def test_blocks_that_were_computed_apart_are_those_of_one_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conversations, "MAX_CONCURRENT", 2)
    part = Run(tmp_path, "part")
    part.run_cell(twice("r"), twice("s"))
    part.end()
    whole = Run(tmp_path, "whole")
    whole.run_cell(*map(twice, "pqrst"))
    kept = whole.end().kept
    assert {prompt for prompt in whole.backend.prompts if len(prompt) == 1} == {"p", "q", "t"}
    assert kept is not None
    assert (kept.kept, kept.responses, kept.together) == (4, 10, True)


def test_looks_of_several_blocks_are_one_chain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conversations, "MAX_CONCURRENT", 2)
    texts = "pqrstu"
    first = Run(tmp_path, "one")
    answers = first.run_cell(*map(twice, texts), batches=2)
    first.end()
    second = Run(tmp_path, "two")
    assert second.run_cell(*map(twice, texts), batches=2) == answers
    kept = second.end().kept
    assert second.backend.prompts == []
    assert kept is not None
    assert (kept.kept, kept.together) == (12, True)


def test_later_requests_of_a_conversation_are_kept_as_well(tmp_path: Path) -> None:
    first = Run(tmp_path, "one")
    answers = first.run_cell(twice("p"), twice("q"))
    first.end()
    second = Run(tmp_path, "two")
    assert second.run_cell(twice("p"), twice("q")) == answers
    kept = second.end().kept
    assert second.backend.prompts == []
    assert kept is not None
    assert (kept.kept, kept.together) == (4, True)


def test_equal_requests_have_their_own_answers(tmp_path: Path) -> None:
    def several() -> Conversation:
        responses = yield from ask_all([generate("p", temperature=0.5, seed=seed) for seed in (1, 1, 2)])
        return Answer(value="", responses=responses)

    first = Run(tmp_path)
    first.run_cell(several())
    first.end()
    store = ResponseStore(tmp_path / "responses.sqlite", readonly=True)
    assert store.rows("SELECT count(*), count(DISTINCT request) FROM response") == [(3, 3)]


def test_answers_belong_to_their_cell_and_to_their_engine(tmp_path: Path) -> None:
    ask_texts(tmp_path, "p")
    other = Run(tmp_path)
    other.run_cell(once(generate("p")), cell="triage-zero_shot@m")
    assert other.backend.prompts == ["p"]
    for change in ({"cpu": "other"}, {"weights_sha256": "5b"}, {"library_sha256": "1"}):
        run = Run(tmp_path)
        run.backend.signature = {**run.backend.signature, **change}
        run.run_cell(once(generate("p")))
        assert run.backend.prompts == ["p"], change
    same = Run(tmp_path)
    same.run_cell(once(generate("p")), cell="triage-egi@another-name")
    assert same.backend.prompts == []


def test_prompts_that_are_too_long_are_kept_too(tmp_path: Path) -> None:
    texts = ["p", "q" * 50]
    ask_texts(tmp_path, texts, "one", context_limit=60)
    again, provenance = ask_texts(tmp_path, texts, "two", context_limit=60)
    assert again.backend.prompts == []
    assert provenance.kept is not None
    assert str(provenance.kept) == "all 2 answers kept from run one"
    larger, _ = ask_texts(tmp_path, texts, "three", context_limit=90)
    assert larger.backend.prompts == texts


def test_scores_are_kept_with_all_that_they_have(tmp_path: Path) -> None:
    def scored() -> tuple[Response, ...]:
        run = Run(tmp_path)
        run.engine.begin(CELL, SIGNATURE)
        request = Score(prompt=prompt("p"), continuations=("abcp", "no"))
        (state,) = run_conversations([once(request)], run.engine, origins=[Origin(CELL, sample("s"), Trial())])
        run.end()
        assert state.answer is not None
        return state.answer.responses

    assert scored() == scored()


def test_a_store_that_cannot_be_written_changes_no_answer_and_is_named_once(tmp_path: Path) -> None:
    (tmp_path / "responses.sqlite").mkdir()
    run, provenance = ask_texts(tmp_path, "pq")
    assert run.backend.prompts == ["p", "q"]
    assert len(provenance.warnings) == 1
    assert "responses.sqlite cannot be opened" in provenance.warnings[0]
