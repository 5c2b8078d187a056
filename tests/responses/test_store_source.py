"""Answers from the store alone: which ones a request gets, and why it gets none."""

from __future__ import annotations

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
    ModelError,
    ModelOptions,
    Origin,
    Prompt,
    Provenance,
    Responder,
    Trial,
    ask,
)
from pytest_puma.evaluation.conversations import run_conversations
from pytest_puma.models.weights import weights_digest
from pytest_puma.planning.offline import offline_models
from pytest_puma.responses.database import ResponseStore
from pytest_puma.responses.keeping import KeepingResponder
from pytest_puma.responses.reading import ReadingResponder, StoreSource
from pytest_puma.testing import Engine, ScriptedBackend
from tests.factories import sample

CELL = "triage-zero_shot@m"
SIGNATURE: dict[str, Any] = {
    "template_sha256": "a1" * 32,
    "parser_sha256": "a1" * 32,
    "samples": 3,
    "seed": 1,
    "data": None,
    "generation": {},
}


def conversation(text: str) -> Conversation:
    prompt = Prompt(messages=(Message(role="user", content=text),))
    response = yield from ask(Generate(prompt=prompt, max_tokens=40))
    return Answer(value=response.text, responses=(response,))


def answers_of(responder: Responder, texts: str, **signature: Any) -> list[str | None]:
    responder.begin(CELL, SIGNATURE | signature)
    origins = [Origin(CELL, sample(text), Trial()) for text in texts]
    states = run_conversations([conversation(text) for text in texts], responder, origins=origins)
    return [None if state.answer is None else state.answer.value for state in states]


def compute(
    path: Path, texts: str, run: str, *, word: str = "", digest: str = "5a", strict: bool = False, **signature: str
) -> None:
    backend = ScriptedBackend(lambda prompt: word + prompt[-1], digest=digest)
    backend.signature = {**backend.signature, "threads": "2", **signature}
    store = ResponseStore(path, run=run)
    model = Model(name="m", path=path, options=ModelOptions(strict=strict))
    engine = KeepingResponder(Engine(backend), store, model)
    answers_of(engine, texts)
    engine.provenance()
    engine.close()


def read(path: Path, texts: str, *, strict: bool = False, digest: str = "5a") -> tuple[list[str | None], Provenance]:
    options = ModelOptions(strict=strict)
    model = Model(name="m", path=path, source="store", weights=digest, options=options)
    reader = ReadingResponder(StoreSource(ResponseStore(path, readonly=True), model))
    answers = answers_of(reader, texts)
    return answers, reader.provenance()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "responses.sqlite"


def test_the_answers_are_those_of_the_run_with_its_engine(path: Path) -> None:
    compute(path, "pqr", "one")
    answers, provenance = read(path, "pqr")
    assert answers == ["p", "q", "r"]
    assert provenance.signature["engine"] == {"backend": "scripted", "weights_sha256": "5a", "threads": "2"}
    assert provenance.signature["seed"] == 1
    assert str(provenance.kept) == "all 3 answers kept from run one"
    assert (provenance.warnings, [*provenance.unmeasured]) == ((), ["clock"])


def test_of_several_engines_the_last_one_with_all_answers_gives_them(path: Path) -> None:
    compute(path, "pqr", "one", word="1", cpu="AVX")
    compute(path, "pqr", "two", word="2", cpu="AVX512")
    compute(path, "pq", "three", word="3", cpu="NEON")
    assert read(path, "pqr")[0] == ["2p", "2q", "2r"]
    assert read(path, "pq")[0] == ["3p", "3q"]


def test_answers_of_several_batches_are_a_mixture_unless_they_are_strict(path: Path) -> None:
    compute(path, "pq", "one")
    compute(path, "pqr", "two")
    assert read(path, "pqr")[1].warnings == ("all 3 answers kept from run two and 1 more, computed in several batches",)
    assert read(path, "pq")[1].warnings == ()
    assert read(path, "p")[1].warnings == ()
    assert read(path, "r")[1].warnings == ("the only answer kept from run two, computed in another batch",)
    strict = path.with_name("strict.sqlite")
    compute(strict, "pq", "one", strict=True)
    compute(strict, "pqr", "two", strict=True)
    assert read(strict, "pqr", strict=True)[1].warnings == ()


def test_answers_of_one_batch_are_no_mixture_after_another_engine_lacks_them(path: Path) -> None:
    compute(path, "pqr", "one", cpu="AVX")
    compute(path, "pq", "two", cpu="AVX512")
    assert read(path, "pqr")[1].warnings == ()


@pytest.mark.parametrize(
    ("texts", "signature", "problem"),
    [
        ("pqrs", {"samples": 4}, "1 of 4 answers are not kept: the number of samples was 3 and is 4"),
        (
            "xyz",
            {"template_sha256": "b2" * 32, "seed": 2},
            "3 of 3 answers are not kept: the prompt template is another one (a1a1a1a1, now b2b2b2b2); "  # noqa: ISC004
            "the seed is another one (1, now 2)",
        ),
        ("xyz", {}, "3 of 3 answers are not kept"),
        ("xyz", {"parser_sha256": "b2" * 32}, "3 of 3 answers are not kept"),
    ],
)
def test_a_missing_answer_is_an_error_that_tells_what_changed(
    path: Path, texts: str, signature: dict[str, Any], problem: str
) -> None:
    compute(path, "pqr", "one")
    reader = ReadingResponder(StoreSource(ResponseStore(path, readonly=True), Model(name="m", path=path, weights="5a")))
    with pytest.raises(DataError) as raised:
        answers_of(reader, texts, **signature)
    assert str(raised.value) == f"--puma-offline: {CELL}: {problem}; run it without --puma-offline"


def test_a_cell_without_answers_is_an_error(path: Path) -> None:
    compute(path, "pqr", "one")
    for digest in ("5b", ""):
        with pytest.raises(DataError, match=f"{CELL}: no answers are kept of it; run it without --puma-offline"):
            read(path, "p", digest=digest)
    with pytest.raises(DataError, match=r"no answers are kept of it: there is no response store .*none\.sqlite;"):
        read(path.with_name("none.sqlite"), "p")


def test_a_model_is_known_by_its_name_its_file_or_its_digest(path: Path) -> None:
    compute(path, "p", "one")
    store = ResponseStore(path, readonly=True)
    for argument in ("m", "m.gguf", "models/m.gguf", "package:m", "m=other.gguf", "m@5", "m,strict=on"):
        (model,) = offline_models([argument], store, where="--puma-model")
        assert (model.name, model.weights, model.source, model.computes) == ("m", "5a", "store", False), argument
        assert model.options.strict == ("strict" in argument)


def test_a_digest_selects_answers_under_another_name(path: Path) -> None:
    compute(path, "p", "one")
    (model,) = offline_models(["small=models/m@5a"], ResponseStore(path, readonly=True), where="--puma-model")
    assert (model.name, model.weights) == ("small", "5a")


def test_a_file_that_is_there_has_the_answers_of_its_weights_under_any_name(path: Path, tmp_path: Path) -> None:
    file = tmp_path / "q.gguf"
    file.write_bytes(b"weights")
    compute(path, "p", "one", digest=weights_digest(file))
    for argument in (str(file), f"m={file}", f"small={file}", "q"):
        (model,) = offline_models([argument], ResponseStore(path, readonly=True), where="o", directories=[tmp_path])
        assert model.weights == weights_digest(file), argument


@pytest.mark.parametrize("argument", ["{folder}/m.gguf", "m={folder}/m.gguf", "m"])
def test_a_file_that_is_there_never_has_the_answers_of_other_weights(path: Path, tmp_path: Path, argument: str) -> None:
    compute(path, "p", "one")
    file = tmp_path / "models" / "m.gguf"
    file.parent.mkdir()
    file.write_bytes(b"other weights")
    with pytest.raises(ModelError) as raised:
        offline_models(
            [argument.format(folder=file.parent)],
            ResponseStore(path, readonly=True),
            where="--puma-model",
            directories=[file.parent],
        )
    problem = f"no answers of the weights {weights_digest(file)[:8]} in {file} are kept"
    advice = "other weights answered under this name: give m@5a for them, or run without --puma-offline"
    assert str(raised.value).endswith(f"{problem}; {advice}")


def test_a_file_with_a_missing_part_is_an_error_and_not_a_name(path: Path, tmp_path: Path) -> None:
    compute(path, "p", "one")
    (tmp_path / "m-00001-of-00002.gguf").write_bytes(b"half")
    with pytest.raises(ModelError, match=r"o 'm': .*the weights cannot be read: .*m-00002-of-00002\.gguf"):
        offline_models(["m"], ResponseStore(path, readonly=True), where="o", directories=[tmp_path])


@pytest.mark.parametrize(
    ("argument", "problem"),
    [
        ("n", "no answers of n are kept (there are answers of m); run without --puma-offline"),
        ("n=m.gguf", "no answers of n are kept (there are answers of m); run without --puma-offline"),
        ("m", "different files answered under this name; expected one of m@5a, m@6b"),
        ("m@7", "found no weights 7; expected the beginning of one of 5a, 6b"),
        ("recorded:m=answers.jsonl", "answers cannot be combined with --puma-offline; use one"),
    ],
)
def test_a_model_that_the_store_does_not_know_or_knows_twice_is_an_error(
    path: Path, argument: str, problem: str
) -> None:
    compute(path, "p", "one")
    compute(path, "p", "two", digest="6b")
    with pytest.raises(ModelError) as raised:
        offline_models([argument], ResponseStore(path, readonly=True), where="--puma-model")
    assert str(raised.value).startswith(f"--puma-model {argument!r}")
    assert str(raised.value).endswith(problem)
