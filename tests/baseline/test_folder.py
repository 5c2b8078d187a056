"""Baseline files: what is written comes back, re-writing changes nothing, and what is damaged is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_puma.baseline.columns import columns_of
from pytest_puma.baseline.entry import Entry
from pytest_puma.baseline.folder import Baselines
from pytest_puma.core import DataError, Drift, Outcome, StoreShare, Usage
from tests import factories
from tests.factories import measure, prediction, revised, unmeasured

SIGNATURE = {
    "data": {"file": "a.csv", "sha256": "d"},
    "template_sha256": "t",
    "samples": 3,
    "seed": 42,
    "generation": {"temperature": 0.0},
    "engine": {"weights_sha256": "w", "threads": "2"},
}


def outcome(
    cell_id: str = "triage-zero_shot@m", *, answers: tuple[str | None, ...] = ("A", None, "\u201cC\u201d")
) -> Outcome:
    measures = (measure(value=2 / 3, low=0.1, high=0.9, n=3), unmeasured("ece"), measure("latency_mean", 1.25, 1, 2))
    answered = tuple(
        prediction(
            f"s{row}",
            answer=answer,
            raw=("long text",),
            finish="stop" if answer else "overflow",
            probabilities={"A": 1 / 3, "B": 2 / 3},
            usage=Usage(prompt_tokens=10 + row, cached_tokens=3, decoded_tokens=2, seconds=0.5),
        )
        for row, answer in enumerate(answers)
    )
    named = {each.metric: each for each in measures}
    return factories.outcome(cell_id, signature=SIGNATURE, predictions=answered, measures=named)


def entry(cell_id: str = "triage-zero_shot@m", **answers: Any) -> Entry:
    return factories.entry(outcome(cell_id, **answers))


def texts(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text(encoding="utf-8") for path in sorted(folder.iterdir())}


def test_an_entry_comes_back_as_it_was_written(tmp_path: Path) -> None:
    Baselines(tmp_path / "new" / "folder").write([entry()])
    stored = Baselines(tmp_path / "new" / "folder").find("triage", "triage-zero_shot@m")

    assert stored is not None
    assert json.dumps(columns_of(stored.answers)) == json.dumps(columns_of(entry().answers))
    assert stored.head() == entry().head()
    assert [(each.answer, each.finish, each.usage.seconds) for each in stored.answers.values()] == [
        ("A", "stop", 0.0),
        (None, "overflow", 0.0),
        ("\u201cC\u201d", "stop", 0.0),
    ]
    assert stored.answers["s0", 0].probabilities == {"A": 0.333333, "B": 0.666667}


def test_the_file_is_made_to_be_read(tmp_path: Path) -> None:
    Baselines(tmp_path).write([entry()])
    text = texts(tmp_path)["triage.json"]

    assert '    "accuracy": {"value": 0.666667, "low": 0.1, "high": 0.9, "n": 3},\n' in text
    assert '    "ece": {"value": null, "low": null, "high": null, "n": 0}\n' in text
    assert "latency_mean" not in text
    assert "long text" not in "".join(texts(tmp_path).values())


def test_a_cell_without_a_baseline_has_none(tmp_path: Path) -> None:
    Baselines(tmp_path).write([entry()])

    assert Baselines(tmp_path).find("triage", "triage-egi@m") is None
    assert Baselines(tmp_path).find("points", "points-egi@m") is None
    assert Baselines(tmp_path / "nowhere").entries() == []


def test_writing_the_same_again_changes_no_byte(tmp_path: Path) -> None:
    cells = [entry("triage-zero_shot@m"), entry("triage-egi@m"), entry("points-egi@m")]
    Baselines(tmp_path).write(cells)
    before = texts(tmp_path)
    written = Baselines(tmp_path).write([replace(each, commit="main@later") for each in reversed(cells)])

    assert texts(tmp_path) == before
    assert [(each.path.name, each.new, each.changed, each.same) for each in written] == [
        ("points.json", 0, 0, 1),
        ("triage.json", 0, 0, 2),
    ]


def test_an_entry_notes_kept_answers_and_is_not_renewed_by_them(tmp_path: Path) -> None:
    kept = StoreShare(responses=3, kept=2, together=False, batches=1, runs=("20261125T104903-7",))
    Baselines(tmp_path).write([factories.entry(revised(outcome(), kept=kept)), entry("triage-egi@m")])
    before = texts(tmp_path)
    note = "2 of 3 answers kept from run 20261125T104903-7; the rest computed without them"
    heads = json.loads(before["triage.json"])["cells"]
    assert heads["triage-zero_shot@m"]["kept"] == note
    assert "kept" not in heads["triage-egi@m"]
    assert {each.cell: each.kept for each in Baselines(tmp_path).entries()} == {
        "triage-egi@m": "",
        "triage-zero_shot@m": note,
    }

    (written,) = Baselines(tmp_path).write([entry(), factories.entry(revised(outcome("triage-egi@m"), kept=kept))])
    assert (written.same, texts(tmp_path)) == (2, before)
    (written,) = Baselines(tmp_path).write([entry(answers=("B", "B", "B"))])
    assert (written.changed, "kept" in texts(tmp_path)["triage.json"]) == (1, False)


def test_the_same_answers_of_other_code_renew_the_signature_and_add_nothing_to_the_drift(tmp_path: Path) -> None:
    Baselines(tmp_path).write([entry()])

    def renew(series: float, *answers: str, **signature: str) -> Entry:
        (old,) = Baselines(tmp_path).entries()
        drift = Drift(total=series, renewals=0 if old.anchor is None else old.anchor.drift.renewals)
        run = revised(outcome(answers=answers or ("A", None, "\u201cC\u201d")), drift=drift)
        made = revised(run, signature={**run.execution.signature, **signature})
        Baselines(tmp_path).write([factories.entry(made, old=old)])
        (new,) = Baselines(tmp_path).entries()
        assert new.signature == made.execution.signature
        return new

    assert renew(0.4, parser_sha256="first").anchor is None
    assert renew(0.7, "B", "B", "B").head()["anchor"] == {"commit": "main@3f2c1d9", "cusum": 0.7, "renewals": 1}
    same = renew(1.4, "B", "B", "B", parser_sha256="second", scenario_sha256="other")
    assert same.head()["anchor"] == {"commit": "main@3f2c1d9", "cusum": 0.7, "renewals": 1}
    assert renew(2.1, "C", "B", "B").head()["anchor"] == {"commit": "main@3f2c1d9", "cusum": 2.1, "renewals": 2}


def test_repeats_and_subjects_come_first_in_a_signature() -> None:
    signature = SIGNATURE | {"repeats": 1, "subjects": []}
    written = factories.entry(revised(outcome(), signature=signature)).head()["signature"]
    assert (written, list(written)) == (signature, ["repeats", "subjects", *SIGNATURE])


def test_entries_of_cells_that_did_not_run_stay(tmp_path: Path) -> None:
    Baselines(tmp_path).write([entry("triage-zero_shot@m"), entry("triage-egi@m"), entry("points-egi@m")])
    changed = replace(entry("triage-egi@m", answers=("B", "B", "B")), commit="main@later")
    (written,) = Baselines(tmp_path).write([changed, entry("triage-rcoif@m")])
    stored = Baselines(tmp_path)

    assert (written.new, written.changed, written.same, written.gone) == (1, 1, 1, 0)
    assert {each.cell: each.commit for each in stored.entries()} == {
        "points-egi@m": "main@3f2c1d9",
        "triage-egi@m": "main@later",
        "triage-rcoif@m": "main@3f2c1d9",
        "triage-zero_shot@m": "main@3f2c1d9",
    }


def test_entries_of_removed_cells_are_dropped_and_empty_files_with_them(tmp_path: Path) -> None:
    cells = [entry("triage-zero_shot@m"), entry("triage-egi@m"), entry("points-egi@m")]
    Baselines(tmp_path).write(cells)
    written = Baselines(tmp_path).write([], gone=cells[1:])

    assert [(each.path.name, each.same, each.gone) for each in written] == [
        ("points.json", 0, 1),
        ("triage.json", 1, 1),
    ]
    assert sorted(texts(tmp_path)) == ["triage.answers.jsonl", "triage.json"]


def test_an_entry_that_somebody_else_wrote_meanwhile_stays(tmp_path: Path) -> None:
    mine, other = Baselines(tmp_path), Baselines(tmp_path)
    assert mine.entries() == other.entries() == []
    mine.write([entry("triage-zero_shot@m")])
    (written,) = other.write([entry("triage-egi@m")])

    assert (written.new, written.same) == (1, 1)
    assert [each.cell for each in Baselines(tmp_path).entries()] == ["triage-egi@m", "triage-zero_shot@m"]
    assert sorted(texts(tmp_path)) == ["triage.answers.jsonl", "triage.json"]


@pytest.mark.parametrize("odd", ["\u2028", "\x85", "\x0c", "\x1c", "\r"])
def test_a_character_that_python_takes_for_the_end_of_a_line_breaks_no_file(tmp_path: Path, odd: str) -> None:
    made = outcome()
    answered = tuple(replace(each, sample_id=f"T-{each.sample_id}{odd}x", answer=odd) for each in made.predictions)
    Baselines(tmp_path).write([factories.entry(replace(made, predictions=answered))])
    (stored,) = Baselines(tmp_path).entries()
    assert list(stored.answers) == [each.key for each in answered]


def _edited(name: str, old: str, new: str) -> Callable[[Path], object]:
    def edit(folder: Path) -> None:
        path = folder / name
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new), encoding="utf-8")

    return edit


def _made_a_folder(folder: Path) -> None:
    (folder / "triage.answers.jsonl").unlink()
    (folder / "triage.answers.jsonl").mkdir()


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        (_edited("triage.json", '"format": 2', '"format": "two"'), "format 'two'; expected 2"),
        (_edited("triage.json", '"format": 2', '"format": 1'), "format 1; expected 2"),
        (_edited("triage.json", "{", "{{"), "it cannot be read (JSONDecodeError"),
        (_edited("triage.json", '"cells"', '"cell"'), "it cannot be read (KeyError: 'cells')"),
        (_edited("triage.json", '"commit"', '"comit"'), "it cannot be read (ValueError: commit: missing)"),
        (_edited("triage.json", '"n": ', '"n": "x", "m": '), "it cannot be read (ValueError: measures.'accuracy'.'n'"),
        (
            _edited("triage.json", '"format": 2', '"format": 1e999'),
            "it cannot be read (ValueError: the number 1e999 is",
        ),
        (_edited("triage.answers.jsonl", '["A",null', '["B",null'), "the answers of triage-zero_shot@m are not those"),
        (_edited("triage.answers.jsonl", "zero_shot", "one_shot"), "the answers of triage-zero_shot@m are not those"),
        (_edited("triage.answers.jsonl", "}\n", "\n"), "it cannot be read (JSONDecodeError"),
        (lambda folder: (folder / "triage.answers.jsonl").unlink(), "no file triage.answers.jsonl beside it"),
        (lambda folder: (folder / "triage.json").unlink(), "no such file beside triage.answers.jsonl"),
        (_made_a_folder, "it cannot be read (IsADirectoryError"),
        (lambda folder: (folder / "triage.json").write_bytes(b"\xff"), "it cannot be read (UnicodeDecodeError"),
        (lambda folder: (folder / "triage.json").write_text("[]", encoding="utf-8"), "it cannot be read (TypeError"),
    ],
)
def test_a_damaged_file_is_refused_by_name(tmp_path: Path, damage: Callable[[Path], object], problem: str) -> None:
    Baselines(tmp_path).write([entry()])
    damage(tmp_path)

    with pytest.raises(DataError) as refused:
        Baselines(tmp_path).entries()
    assert str(refused.value).startswith(f"baseline {tmp_path / 'triage.json'}: {problem}")
    assert str(refused.value).endswith("or delete them and run --puma-update-baseline")


def test_a_file_of_a_newer_version_says_to_upgrade(tmp_path: Path) -> None:
    Baselines(tmp_path).write([entry()])
    _edited("triage.json", '"format": 2', '"format": 3')(tmp_path)

    with pytest.raises(DataError, match="format 3 is of a newer pytest-puma; this version reads 2; upgrade"):
        Baselines(tmp_path).entries()
