"""The store of one process: what it finds, what a damaged row costs, and what happens when the disk is full."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from pytest_puma.core import Generate, Message, Prompt, Response
from pytest_puma.responses.database import EngineRow, ResponseStore, Scope
from pytest_puma.responses.row import KeptTally
from pytest_puma.responses.upkeep import lines

ENGINE = EngineRow("5a", "m", {"weights_sha256": "5a"}, ("a note",))
COMPANY = b"c" * 16


def request(text: str) -> Generate:
    return Generate(prompt=Prompt(messages=(Message(role="user", content=text),)), max_tokens=1)


BASE = request("the same beginning, then p")


@pytest.fixture
def store(tmp_path: Path) -> ResponseStore:
    return ResponseStore(tmp_path / "responses.sqlite", run="r", started="now")


def kept_in(store: ResponseStore, cell: str = "triage-egi@", engine: bytes = b"e") -> Scope:
    scope = store.scope(cell, engine, ENGINE, {"samples": 3})
    assert scope is not None
    return scope


def keep(store: ResponseStore, scope: Scope, texts: str, company: bytes = COMPANY) -> None:
    rows = [(text.encode() * 32, request(f"the same beginning, then {text}"), Response(text=text)) for text in texts]
    store.keep(scope, company, BASE.prompt, rows)


def found_texts(store: ResponseStore, scope: Scope, texts: str, company: bytes = COMPANY) -> str:
    rows = store.find(scope, [text.encode() * 32 for text in texts], company)
    return "".join(row.response.text for row in rows.values())


def test_kept_responses_are_found_by_their_scope(store: ResponseStore) -> None:
    scope, other = kept_in(store), kept_in(store, cell="triage-zero_shot@")
    keep(store, scope, "pq")
    assert sorted(found_texts(store, scope, "pqr")) == ["p", "q"]
    assert found_texts(store, other, "pq") == ""
    assert kept_in(store, engine=b"other") not in {scope, other}


def test_many_keys_are_found_in_several_queries(store: ResponseStore) -> None:
    scope = kept_in(store)
    rows = [(number.to_bytes(32, "big"), BASE, Response(text=str(number))) for number in range(1201)]
    store.keep(scope, COMPANY, BASE.prompt, rows)
    kept = store.find(scope, [key for key, *_ in rows], COMPANY)
    assert {key: each.response for key, each in kept.items()} == {key: response for key, _, response in rows}


def test_of_several_companies_the_own_one_is_found_else_the_oldest(store: ResponseStore) -> None:
    scope = kept_in(store)
    for company, text in ((b"1", "one"), (b"2", "two"), (b"3", "three")):
        store.keep(scope, company, BASE.prompt, [(b"k", BASE, Response(text=text))])
    for company, text in ((b"2", "two"), (b"3", "three"), (b"9", "one")):
        assert store.find(scope, [b"k"], company)[b"k"].response.text == text


def test_a_damaged_row_is_missing_until_it_is_kept_again(store: ResponseStore) -> None:
    scope = kept_in(store)
    keep(store, scope, "pq")
    assert store.connection is not None
    store.connection.execute("UPDATE response SET text = 'x' WHERE text = ?", (b"p",))
    assert found_texts(store, scope, "pq") == "q"
    assert store.take_notes() == (f"1 of the answers in {store.path} are damaged, and count as missing",)
    keep(store, scope, "p")
    assert sorted(found_texts(store, scope, "pq")) == ["p", "q"]
    assert store.take_notes() == ()


def test_a_pass_is_whole_only_if_it_ended_and_all_its_rows_are_there(store: ResponseStore) -> None:
    scope = kept_in(store)
    keep(store, scope, "pq")
    assert [*store.whole_batches(scope)] == []
    store.finish_batch(scope, COMPANY, 2)
    (whole,) = store.whole_batches(scope)
    assert {kept.response.text for kept in whole.values()} == {"p", "q"}
    assert {kept.batch for kept in whole.values()} == {COMPANY}
    assert store.connection is not None
    store.connection.execute("DELETE FROM response WHERE text = ?", (b"p",))
    assert [*store.whole_batches(scope)] == []


def test_prompts_are_kept_as_differences_and_come_back(store: ResponseStore) -> None:
    keep(store, kept_in(store), "pqr")
    prompts = [line for line in lines(store) if "the same beginning, then " in line]
    assert len(prompts) == 3
    assert store.rows("SELECT count(*), sum(base IS NULL) FROM prompt") == [(3, 1)]


def test_without_prompts_no_text_of_a_prompt_is_in_the_file(tmp_path: Path) -> None:
    store = ResponseStore(tmp_path / "responses.sqlite", run="r", keep_prompts=False)
    keep(store, kept_in(store), "pq")
    assert store.rows("SELECT count(*) FROM prompt") == [(0,)]
    assert len([*lines(store)]) == 2
    store.close()
    assert b"beginning" not in b"".join(path.read_bytes() for path in tmp_path.iterdir())


def test_when_the_disk_is_full_what_is_kept_stays_and_nothing_more_is_kept(store: ResponseStore) -> None:
    scope = kept_in(store)
    keep(store, scope, "pq")
    assert store.connection is not None
    (pages,) = store.connection.execute("PRAGMA page_count").fetchone()
    store.connection.execute(f"PRAGMA max_page_count={pages}")
    long = [(bytes([n]) * 32, request(str(n) * 5000), Response(text=str(n))) for n in range(50)]
    store.keep(scope, COMPANY, BASE.prompt, long)
    store.keep(scope, COMPANY, BASE.prompt, [(b"later", BASE, Response(text="later"))])
    assert store.take_notes() == (f"from now on, no answers are kept in {store.path}: database or disk is full",)
    assert not store.keeps
    assert sorted(found_texts(store, scope, "pq")) == ["p", "q"]
    assert store.rows("SELECT count(*) FROM response") == [(2,)]
    store.close()
    again = ResponseStore(store.path, run="again")
    assert sorted(found_texts(again, scope, "pq")) == ["p", "q"]
    assert again.keeps


def test_runs_are_ordered_by_their_arrival_not_by_a_clock(tmp_path: Path) -> None:
    path = tmp_path / "responses.sqlite"
    for name, started in (("a", "2099"), ("c", "1999"), ("b", "2026")):
        store = ResponseStore(path, run=name, started=started)
        scope = kept_in(store)
        keep(store, scope, name)
        store.close()
    kept = ResponseStore(path, readonly=True).find(scope, [name.encode() * 32 for name in "abc"], COMPANY)
    tally = KeptTally()
    for response in kept.values():
        tally.take(response, together=True)
    share = tally.share()
    assert share is not None
    assert share.runs == ("b", "c", "a")


def test_the_last_use_of_a_scope_is_the_last_run(tmp_path: Path) -> None:
    path = tmp_path / "responses.sqlite"
    for name, cells in (("one", "ab"), ("two", "a")):
        store = ResponseStore(path, run=name)
        for cell in cells:
            kept_in(store, cell=f"{cell}-x@")
        store.close()
    reader = ResponseStore(path, readonly=True)
    assert [scope.cell for scope in reader.scopes()] == ["a-x@", "b-x@"]
    assert [scope.engine for scope in reader.scopes()] == [ENGINE, ENGINE]
    assert (reader.models(), reader.weights("m"), reader.weights("n")) == (["m"], ["5a"], [])


def test_a_reader_keeps_nothing(store: ResponseStore) -> None:
    scope = kept_in(store)
    store.close()
    reader = ResponseStore(store.path, readonly=True)
    assert not reader.keeps
    keep(reader, scope, "p")
    assert (reader.scope("new-x@", b"n", ENGINE, {}), reader.take_notes()) == (None, ())
    assert reader.rows("SELECT count(*) FROM response") == [(0,)]


def test_another_process_may_write_in_between(store: ResponseStore) -> None:
    scope = kept_in(store)
    other = ResponseStore(store.path, run="other")
    for text in "pqrs":
        keep(store if text in "pr" else other, scope, text)
    assert (
        sorted(found_texts(store, scope, "pqrs")) == sorted(found_texts(other, scope, "pqrs")) == ["p", "q", "r", "s"]
    )


def test_an_error_while_reading_is_a_note(store: ResponseStore) -> None:
    scope = kept_in(store)
    assert store.connection is not None
    store.connection.execute("DROP TABLE response")
    assert found_texts(store, scope, "p") == ""
    assert store.take_notes() == (f"{store.path} cannot be read: no such table: response",)


def test_a_transaction_that_another_error_ends_leaves_nothing(store: ResponseStore) -> None:
    scope = kept_in(store)
    with pytest.raises(AttributeError):
        store.keep(scope, COMPANY, BASE.prompt, [(b"p", BASE, Response(text="p")), (b"q", None, Response())])  # type: ignore[list-item]
    assert store.rows("SELECT count(*) FROM response") == [(0,)]
    assert isinstance(store.connection, sqlite3.Connection)
    assert not store.connection.in_transaction
