"""The engine that keeps: what is computed, what is read, and what reports are told."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from pytest_puma.core import (
    Answer,
    Conversation,
    DataError,
    Generate,
    Message,
    Model,
    ModelOptions,
    Origin,
    Prompt,
    Provenance,
    Request,
    Response,
    Score,
    Trial,
    ask,
    ask_all,
)
from pytest_puma.run.conversations import run_conversations
from pytest_puma.store.database import ResponseStore
from pytest_puma.store.keeping import KeepingEngine, Mode
from pytest_puma.testing import Engine, ScriptedBackend
from tests.factories import sample

CELL, SIGNATURE = "triage-egi@m", {"samples": 3}


class Counting(ScriptedBackend):
    """A script that counts the prompts whose answers are computed."""

    def __init__(self, answers: str = "abc", **options: Any) -> None:
        super().__init__(self._answer_of, digest="5a", **options)
        self.prompts: list[str] = []
        self.opened: list[tuple[int, int]] = []
        self._words = answers

    def _answer_of(self, prompt: str) -> str:
        self.prompts.append(prompt.rpartition("\x03")[2])
        return self._words + self.prompts[-1]

    def open(self, kv_slots: int, streams: int = 0) -> None:
        self.opened.append((kv_slots, streams))
        super().open(kv_slots, streams)


def prompt(text: str) -> Prompt:
    return Prompt(messages=(Message(role="user", content=text),))


def generate(text: str, **fields: Any) -> Generate:
    return Generate(prompt=prompt(text), max_tokens=40, **fields)


def once(request: Request) -> Conversation:
    response = yield from ask(request)
    return Answer(value=response.text, responses=(response,))


def twice(text: str) -> Conversation:
    """The second request depends on the first response."""
    first = yield from ask(generate(text))
    second = yield from ask(generate(first.text))
    return Answer(value=second.text, responses=(first, second))


class Run:
    """One run over the store of a folder."""

    def __init__(
        self, folder: Path, name: str = "r", *, mode: Mode = "mix", strict: bool = False, **backend: Any
    ) -> None:
        self.backend = Counting(**backend)
        self.backend.signature = {**self.backend.signature, "strict": str(strict), "threads": "2"}
        self.store = ResponseStore(folder / "responses.sqlite", run=name, started="now")
        model = Model(name="m", path=folder, options=ModelOptions(strict=strict))
        self.engine = KeepingEngine(Engine(self.backend), self.store, model, mode=mode)

    def hold(self, *conversations: Conversation, cell: str = CELL, passes: int = 1) -> list[str | None]:
        """Begin a cell, hold its conversations, in one pass or in several, and return the answers."""
        self.engine.begin(cell, SIGNATURE)
        answers: list[str | None] = []
        size = -(-len(conversations) // passes)
        for start in range(0, len(conversations), size):
            part = conversations[start : start + size]
            origins = [Origin(cell, sample(str(start + place)), Trial()) for place in range(len(part))]
            states = run_conversations(part, self.engine, origins=origins)
            answers += [None if state.answer is None else state.answer.value for state in states]
        return answers

    def end(self) -> Provenance:
        provenance = self.engine.provenance()
        self.engine.close()
        return provenance


def ask_texts(folder: Path, texts: Sequence[str], name: str = "r", **options: Any) -> tuple[Run, Provenance]:
    run = Run(folder, name, **options)
    run.hold(*(once(generate(text)) for text in texts))
    return run, run.end()


def test_a_first_run_computes_everything_and_a_second_one_nothing(tmp_path: Path) -> None:
    first, provenance = ask_texts(tmp_path, "pqr", "one")
    assert (first.backend.prompts, provenance.kept, provenance.unmeasured) == (["p", "q", "r"], None, {})
    second = Run(tmp_path, "two")
    assert second.hold(*(once(generate(text)) for text in "pqr")) == ["abcp", "abcq", "abcr"]
    provenance = second.end()
    assert second.backend.prompts == []
    assert provenance.kept is not None
    assert (provenance.kept.kept, provenance.kept.responses, provenance.kept.runs) == (3, 3, ("one",))
    assert str(provenance.kept) == "all 3 answers kept from run one"
    assert (provenance.kept.mixed, provenance.warnings) == (False, ())
    assert "--puma-store=fresh" in provenance.unmeasured["latency_mean"]
    assert second.engine.speed.prefill_tokens == 0


def test_a_killed_run_goes_on_and_every_report_tells_the_mixture(tmp_path: Path) -> None:
    ask_texts(tmp_path, "pq", "one")
    second, provenance = ask_texts(tmp_path, "pqrs", "two")
    assert second.backend.prompts == ["r", "s"]
    assert provenance.warnings == ("2 of 4 answers kept from run one; the rest computed without them",)
    _, provenance = ask_texts(tmp_path, "pqrs", "three")
    assert provenance.warnings == ("all 4 answers kept from run two and 1 more, computed in several batches",)


def test_a_response_is_in_the_file_before_the_strategy_has_it(tmp_path: Path) -> None:
    seen = []

    def watching(text: str) -> Conversation:
        response = yield from ask(generate(text))
        with_others = ResponseStore(tmp_path / "responses.sqlite", readonly=True)
        seen.append(with_others.rows("SELECT count(*) FROM response")[0][0])
        with_others.close()
        return Answer(value=response.text, responses=(response,))

    Run(tmp_path).hold(watching("p"), watching("q longer"))
    assert seen in ([1, 2], [2, 2])


def test_later_requests_of_a_conversation_are_kept_as_well(tmp_path: Path) -> None:
    first = Run(tmp_path, "one")
    answers = first.hold(twice("p"), twice("q"))
    first.end()
    second = Run(tmp_path, "two")
    assert second.hold(twice("p"), twice("q")) == answers
    kept = second.end().kept
    assert second.backend.prompts == []
    assert kept is not None
    assert (kept.kept, kept.together) == (4, True)


def test_equal_requests_have_their_own_answers(tmp_path: Path) -> None:
    def several() -> Conversation:
        responses = yield from ask_all([generate("p", temperature=0.5, seed=seed) for seed in (1, 1, 2)])
        return Answer(value="", responses=responses)

    first = Run(tmp_path)
    first.hold(several())
    first.end()
    store = ResponseStore(tmp_path / "responses.sqlite", readonly=True)
    assert store.rows("SELECT count(*), count(DISTINCT request) FROM response") == [(3, 3)]


def test_answers_belong_to_their_cell_and_to_their_engine(tmp_path: Path) -> None:
    ask_texts(tmp_path, "p")
    other = Run(tmp_path)
    other.hold(once(generate("p")), cell="triage-zero_shot@m")
    assert other.backend.prompts == ["p"]
    for change in ({"cpu": "other"}, {"weights_sha256": "5b"}, {"library_sha256": "1"}):
        run = Run(tmp_path)
        run.backend.signature = {**run.backend.signature, **change}
        run.hold(once(generate("p")))
        assert run.backend.prompts == ["p"], change
    same = Run(tmp_path)
    same.hold(once(generate("p")), cell="triage-egi@another-name")
    assert same.backend.prompts == []


def test_strict_answers_serve_every_cell_and_are_never_a_mixture(tmp_path: Path) -> None:
    first = Run(tmp_path, "one", strict=True)
    first.hold(once(generate("p")))
    first.end()
    second = Run(tmp_path, "two", strict=True)
    second.hold(once(generate("p")), once(generate("q")), cell="triage-zero_shot@m")
    provenance = second.end()
    assert second.backend.prompts == ["q"]
    assert provenance.kept is not None
    assert (provenance.kept.kept, provenance.warnings) == (1, ())


def test_other_threads_are_another_company_not_another_engine(tmp_path: Path) -> None:
    ask_texts(tmp_path, "pq", "one")
    run = Run(tmp_path, "two")
    run.backend.signature = {**run.backend.signature, "threads": "7"}
    run.hold(once(generate("p")), once(generate("q")))
    provenance = run.end()
    assert run.backend.prompts == []
    assert provenance.warnings == ("all 2 answers kept from run one, computed in another batch",)


def test_answers_of_other_threads_and_of_the_own_batch_are_those_of_several(tmp_path: Path) -> None:
    ask_texts(tmp_path, "p", "one")
    run = Run(tmp_path, "two")
    run.backend.signature = {**run.backend.signature, "threads": "7"}
    run.hold(once(generate("p")), once(generate("q")))
    run.end()
    kept = ask_texts(tmp_path, "pq", "three")[1].kept
    assert kept is not None
    assert (kept.together, kept.batches) == (False, 2)
    assert str(kept) == "all 2 answers kept from run two and 1 more, computed in several batches"


def test_batches_are_counted_for_each_batch_of_a_cell(tmp_path: Path) -> None:
    for name, threads in (("one", "2"), ("two", "2"), ("three", "7")):
        run = Run(tmp_path, name)
        run.backend.signature = {**run.backend.signature, "threads": threads}
        run.hold(*(once(generate(text)) for text in "pqrs"), passes=2)
        kept = run.end().kept
        assert kept is None if name == "one" else kept is not None
        if kept is not None:
            assert (kept.together, kept.batches) == (name == "two", 1)


def test_the_only_answer_is_named_as_one(tmp_path: Path) -> None:
    ask_texts(tmp_path, "p", "one")
    assert str(ask_texts(tmp_path, "p", "two")[1].kept) == "the only answer kept from run one"


def test_whole_replays_a_finished_pass_and_computes_any_other_from_its_start(tmp_path: Path) -> None:
    ask_texts(tmp_path, "pq", "one")
    again, provenance = ask_texts(tmp_path, "pq", "two", mode="whole")
    assert (again.backend.prompts, provenance.warnings) == ([], ())
    more, provenance = ask_texts(tmp_path, "pqr", "three", mode="whole")
    assert (more.backend.prompts, provenance.kept) == (["p", "q", "r"], None)


def test_whole_does_not_replay_a_pass_that_was_killed(tmp_path: Path) -> None:
    killed = Run(tmp_path, "one")
    killed.hold(twice("p"), twice("q"))  # `end` is not reached
    killed.engine.close()
    again = Run(tmp_path, "two", mode="whole")
    again.hold(twice("p"), twice("q"))
    assert len(again.backend.prompts) == 4
    assert again.end().kept is None


def test_whole_refuses_a_pass_that_leads_to_other_requests(tmp_path: Path) -> None:
    first = Run(tmp_path, "one")
    first.hold(twice("p"))
    first.end()

    def otherwise() -> Conversation:
        first = yield from ask(generate("p"))
        second = yield from ask(generate(f"{first.text}!"))
        return Answer(value=second.text, responses=(second,))

    with pytest.raises(DataError, match=r"lead to other requests than before.*--puma-store=fresh"):
        Run(tmp_path, "two", mode="whole").hold(otherwise())


def test_the_passes_of_a_cell_are_kept_one_by_one(tmp_path: Path) -> None:
    for mode in ("mix", "whole"):
        for name, computed in (("one", 4), ("two", 0)):
            run = Run(tmp_path / mode, name, mode=mode)
            run.hold(*(once(generate(text)) for text in "pqrs"), passes=2)
            provenance = run.end()
            assert (len(run.backend.prompts), provenance.warnings) == (computed, ()), (mode, name)


def test_fresh_computes_again_and_tells_a_difference(tmp_path: Path) -> None:
    ask_texts(tmp_path, "pq", "one")
    same, provenance = ask_texts(tmp_path, "pq", "two", mode="fresh")
    assert (same.backend.prompts, provenance.kept, provenance.warnings) == (["p", "q"], None, ())
    _, provenance = ask_texts(tmp_path, "pq", "three", mode="fresh", answers="xyz")
    (warning,) = provenance.warnings
    assert warning.startswith("2 of 2 answers differ from those kept of the same requests in the same batch")


def test_prompts_that_are_too_long_are_kept_too(tmp_path: Path) -> None:
    texts = ["p", "q" * 50]
    ask_texts(tmp_path, texts, "one", context_limit=60)
    again, provenance = ask_texts(tmp_path, texts, "two", context_limit=60)
    assert again.backend.prompts == []
    assert provenance.kept is not None
    assert str(provenance.kept) == "all 2 answers kept from run one"
    larger, _ = ask_texts(tmp_path, texts, "three", context_limit=90)
    assert larger.backend.prompts == texts


def test_a_rest_is_computed_in_the_cache_of_the_whole(tmp_path: Path) -> None:
    def opened(texts: str, folder: Path) -> list[tuple[int, int]]:
        run = Run(folder)
        run.backend.stream_kv_slots = 100_000
        run.hold(*(once(Generate(prompt=prompt(text * 20), max_tokens=900)) for text in texts))
        run.end()
        return run.backend.opened

    whole = opened("pqrstuvw", tmp_path / "whole")
    opened("pqrstuv", tmp_path / "part")
    assert whole[0][1] > 0
    assert opened("pqrstuvw", tmp_path / "part") == whole
    assert opened("w", tmp_path / "alone") != whole


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
