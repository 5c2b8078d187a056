"""The command `pytest-puma store`, on a store with the answers of two cells."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_puma.cli import main
from pytest_puma.core import Generate, Message, Prompt, Response, Usage
from pytest_puma.responses.database import EngineRow, ResponseStore
from tests.responses.test_damage import damage, root

STORE = Path(".puma", "responses.sqlite")
SIGNATURE: dict[str, object] = {"data": None, "generation": {}, "seed": 1, "samples": 2, "template_sha256": "a1" * 32}


def keep(cell: str, run: str, *, engine: bytes = b"e", cpu: str = "AVX", text: str = "A", **signature: object) -> None:
    backend = EngineRow("5a" * 32, "m", {"weights_sha256": "5a" * 32, "cpu": cpu}, ())
    store = ResponseStore(STORE, run=run)
    scope = store.scope(cell, engine, backend, SIGNATURE | signature)
    assert scope is not None
    request = Generate(prompt=Prompt(messages=(Message(role="user", content=f"Which of {cell}?"),)), max_tokens=1)
    store.keep(scope, b"c", request.prompt, [(b"k" * 32, request, Response(text=text, usage=Usage(seconds=0.5)))])
    store.close()


@pytest.fixture(autouse=True)
def _project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    keep("triage-egi@", "one")
    keep("triage-egi@", "two", engine=b"f", cpu="AVX512", samples=4, template_sha256="b2" * 32)
    keep("triage-zero_shot@", "two", text="\x1b[31m")


def test_info_counts_the_answers_of_each_cell(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["store", "info"]) == 0
    first, *table = capsys.readouterr().out.splitlines()
    assert first.endswith("responses.sqlite: 0.1 MB, 3 answers of 3 cells, from 2 runs")
    assert [line.split() for line in table[2:]] == [
        ["triage-zero_shot@m", "1", "5a5a5a5a", "two"],
        ["triage-egi@m", "1", "5a5a5a5a", "two"],
        ["triage-egi@m", "1", "5a5a5a5a", "one"],
    ]


def test_strict_answers_are_named_as_those_of_all_cells(capsys: pytest.CaptureFixture[str]) -> None:
    keep("", "three")
    assert main(["store", "info"]) == 0
    assert capsys.readouterr().out.splitlines()[3].split() == ["strict@m", "1", "5a5a5a5a", "three"]
    assert main(["store", "why", "strict@m"]) == 0
    assert capsys.readouterr().out == "1 answer, used last by run three, weights 5a5a5a5a\n"


@pytest.mark.parametrize("command", [["info"], ["why", "triage-egi@m"], ["export"]])
def test_a_damaged_store_is_an_error_that_reports_how_to_save_it(
    capsys: pytest.CaptureFixture[str], command: list[str]
) -> None:
    content = STORE.read_bytes()
    page = 4096
    STORE.write_bytes(content[:page] + b"\xff" * (len(content) - page))
    assert main(["store", *command]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"pytest-puma: {STORE.resolve()} cannot be read: database disk image is malformed; ")
    assert error.endswith("rename it; `sqlite3 FILE .recover` prints what can still be read\n")


def test_why_reports_what_differs_from_the_last_use(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["store", "why", "triage-egi@m"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "1 answer, used last by run two, weights 5a5a5a5a",
        "1 answer, used last by run one, weights 5a5a5a5a",
        "  the prompt template is another one (a1a1a1a1, now b2b2b2b2)",
        "  the engine is another one (cpu: AVX, now AVX512)",
        "  the number of samples was 2 and is 4",
    ]


def test_why_of_an_unknown_cell_names_the_known_ones(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["store", "why", "triage-egi@n"]) == 2
    assert capsys.readouterr().err == (
        "pytest-puma: no answers of triage-egi@n are kept; there are answers of: triage-zero_shot@m, triage-egi@m\n"
    )


def test_export_writes_every_answer_with_its_prompt(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["store", "export"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["cell"] for line in lines] == ["triage-egi@m", "triage-egi@m", "triage-zero_shot@m"]
    assert lines[2]["prompt"] == {"chat": True, "messages": [["user", "Which of triage-zero_shot@?"]], "prefill": ""}
    assert (lines[2]["run"], lines[2]["response"]["text"]) == ("two", "\x1b[31m")


def test_export_never_writes_a_raw_escape(capsys: pytest.CaptureFixture[str]) -> None:
    main(["store", "export"])
    assert "\x1b" not in capsys.readouterr().out


def test_prune_and_clear_tell_what_is_gone(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["store", "prune", "--mb", "1"]) == 0
    assert capsys.readouterr().out.startswith("removed 0 answers of 0 cells; the store has 0.1 MB")
    assert main(["store", "prune", "--mb", "0"]) == 2
    assert "--mb is 0; expected a whole number of megabytes, at least 1" in capsys.readouterr().err
    assert main(["store", "clear"]) == 0
    assert [path.name for path in STORE.parent.iterdir()] == [".gitignore"]
    assert main(["store", "clear"]) == 2
    assert "found no response store .puma/responses.sqlite; run a benchmark first" in capsys.readouterr().err


def test_a_damaged_store_cannot_be_pruned(capsys: pytest.CaptureFixture[str]) -> None:
    damage(STORE, root(STORE, "prompt"))
    assert main(["store", "prune", "--mb", "1"]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"pytest-puma: {STORE.resolve()} cannot be pruned: database disk image is malformed; ")
    assert error.endswith("rename it; `sqlite3 FILE .recover` prints what can still be read\n")


def test_the_store_is_found_from_a_folder_below(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    below = tmp_path / "benchmarks" / "deep"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    assert main(["store", "info"]) == 0
    monkeypatch.chdir("/")
    assert main(["store", "--store", str(tmp_path / STORE), "info"]) == 0
    assert capsys.readouterr().out.count("3 answers of 3 cells") == 2


@pytest.mark.parametrize("arguments", [[], ["store"], ["store", "infos"], ["nothing"]])
def test_an_unknown_command_is_an_error_that_lists_the_known_ones(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as raised:
        main(arguments)
    assert raised.value.code == 2
    assert "usage: pytest-puma" in capsys.readouterr().err


def test_stores_are_merged_into_the_one_of_the_project(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    shard = STORE.rename(tmp_path / "shard-1.sqlite")
    assert main(["store", "merge", str(shard)]) == 0
    assert capsys.readouterr().out == f"{shard}: 3 answers added to {STORE}\n"
    assert main(["store", "merge", str(shard)]) == 0
    assert capsys.readouterr().out == f"{shard}: 0 answers added to {STORE}, 3 were there\n"
    assert main(["store", "merge", str(STORE)]) == 2
    assert "is the store that is written" in capsys.readouterr().err
    assert main(["store", "merge", str(shard), "gone.sqlite"]) == 2
    assert "found no response store gone.sqlite; nothing was merged" in capsys.readouterr().err
