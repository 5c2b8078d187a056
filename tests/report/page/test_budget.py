"""The size of a page: which texts go, in which order, and what never goes."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_puma.core import Message, Outcome, Prediction, TaskInfo
from pytest_puma.planning.reports import PageSettings
from pytest_puma.report.page import encoding
from pytest_puma.report.page.page import as_page
from tests.factories import flip, outcome, prediction
from tests.factories import run as run_of
from tests.report.page.page import Page
from tests.report.page.scripted import Recorded, completion, recorded

SIZE = 400
#: Megabytes of a page without cells: the viewer and the styles.
EMPTY = round(len(as_page(run_of(), None).encode()) / 1_000_000, 2)
#: Those of a page with room for the texts of wrong answers alone.
SMALL = round(EMPTY + 0.75, 2)


def noise(seed: object, length: int) -> str:
    """A text that cannot be packed."""
    source = random.Random(str(seed))  # noqa: S311 - no secret
    return "".join(source.choices("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", k=length))


def answered(cell: str, *, reply: int, prompt: int) -> Outcome:
    """A cell of right and wrong answers with texts of these lengths; every 20th answer depends on the cell."""

    def predictions() -> Iterator[Prediction]:
        for row in range(SIZE):
            right = row % 4 != 0
            differs = row % 20 == 1 and cell.startswith("triage-egi")
            question = noise(row, prompt)
            yield prediction(
                f"s{row:03}",
                answer="A" if right and not differs else "B",
                raw=(noise(f"{cell} {row}", reply),),
                scores={"loss": float(not right or differs)},
                prompts=((Message(role="user", content=question),),),
            )

    flips = tuple(flip(f"s{row:03}", better=True) for row in range(2, SIZE, 40))
    return outcome(
        cell,
        task=TaskInfo(type="classification", labels=("A",), primary="accuracy", better="high"),
        predictions=tuple(predictions()),
        shared_prompts=((),),
        trials=SIZE,
        flips=flips,
        confusion={"A": {"A": 1}},
    )


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    cells = [answered(f"triage-{name}@m", reply=1500, prompt=300) for name in ("zero_shot", "egi")]
    return recorded(tmp_path_factory.mktemp("project"), cells)


@pytest.fixture(scope="module")
def small(run: Recorded) -> Page:
    """A page with room for the texts of wrong answers alone."""
    return page(run, SMALL)


def page(run: Recorded, megabytes: float | None) -> Page:
    text = as_page(run.run, run.path, PageSettings(megabytes=megabytes))
    assert megabytes is None or len(text.encode()) <= 1_000_000 * megabytes
    made = Page(text)
    assert made.index["cells"]
    for cell in made.index["cells"]:
        entries, marks = made.entries(cell["id"]), made.flags(cell["id"])
        assert [entry is None for entry in entries] == [bool(each & encoding.LEFT_OUT) for each in marks]
        assert made.answers(cell["id"]) == [each.answer for each in run.predictions(cell["id"])]
    return made


def left_out(made: Page, flag: int, *, without: int = 0) -> list[bool]:
    """For each answer with the flag, in all cells: True if its texts are left out."""
    marks = (each for cell in made.index["cells"] for each in made.flags(cell["id"]))
    marked = [each for each in marks if each & flag and not each & without]
    assert marked
    return [bool(each & encoding.LEFT_OUT) for each in marked]


OF_INTEREST = encoding.DIFFERS | encoding.FLIP_BETTER


def test_without_a_limit_everything_stays(run: Recorded) -> None:
    made = page(run, None)
    assert made.index["left_out"] is None
    assert not any(left_out(made, encoding.PRESENT))
    assert "left out" not in made.shown


def test_right_answers_like_all_others_go_first_beyond_a_hundred_of_a_cell(run: Recorded) -> None:
    made = page(run, EMPTY + 1.2)
    assert not any(left_out(made, encoding.PRESENT, without=encoding.RIGHT))
    assert not any(left_out(made, encoding.DIFFERS))
    assert not any(left_out(made, encoding.FLIP_BETTER))
    (first, *_) = made.index["cells"]
    plain = [each for each in made.flags(first["id"]) if each & encoding.RIGHT and not each & OF_INTEREST]
    gone = [bool(each & encoding.LEFT_OUT) for each in plain]
    assert gone == [False] * 100 + [True] * (len(plain) - 100) or not any(gone)
    assert any(left_out(made, encoding.RIGHT))


def test_then_all_right_answers_go_and_wrong_ones_are_whole(small: Page) -> None:
    assert not any(left_out(small, encoding.PRESENT, without=encoding.RIGHT))
    assert not any(left_out(small, encoding.FLIP_BETTER))
    assert sum(left_out(small, encoding.RIGHT)) > 450
    assert not small.index["left_out"]["shortened"]


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    """A run of long texts."""
    cells = [answered("triage-zero_shot@m", reply=20_000, prompt=12_000)]
    return recorded(tmp_path_factory.mktemp("long"), cells)


@pytest.mark.parametrize("more", [1.0, 3.0])
def test_then_the_ends_of_long_texts_go_as_far_as_they_must(long: Recorded, more: float) -> None:
    made = page(long, EMPTY + more)
    assert 0.8 * more < len(made.text.encode()) / 1e6 - EMPTY < more
    assert not any(left_out(made, encoding.PRESENT, without=encoding.RIGHT))
    shortened = [each for each in made.flags("triage-zero_shot@m") if each & encoding.SHORTENED]
    assert made.index["left_out"]["shortened"] == len(shortened) > 0
    (length,) = {len(entry["replies"][0]) for entry in made.entries("triage-zero_shot@m") if entry}
    assert length >= 300
    assert max(map(len, made.block("s0")["pieces"])) == min(length, 12_000)


def test_pieces_that_no_kept_text_needs_go_with_the_texts(small: Page) -> None:
    assert small.block("s0")["pieces"].count("") > 100
    kept = [
        (cell["id"], row)
        for cell in small.index["cells"]
        for row, entry in enumerate(small.entries(cell["id"]))
        if entry is not None
    ]
    assert kept
    for cell_id, row in kept:
        (prompt,) = small.prompts(cell_id, row)
        assert prompt == [{"role": "user", "content": noise(row, 300)}]


def test_the_page_counts_what_is_left_out(run: Recorded, small: Page) -> None:
    missing = small.index["left_out"]
    assert missing == {"texts": sum(left_out(small, encoding.PRESENT)), "shortened": 0, "megabytes": SMALL}
    sentence = f"the texts of {missing['texts']:,} answers are left out, for a page of {SMALL:g} MB; "
    assert f"{sentence}pytest-puma report {run.run.id} --all writes all of them" in small.shown


def test_numbers_stay_even_if_the_page_is_too_large_for_any_text(run: Recorded) -> None:
    text = as_page(run.run, run.path, PageSettings(megabytes=0.001))
    made = Page(text)
    assert all(left_out(made, encoding.PRESENT))
    assert made.index["left_out"] == {"texts": 2 * SIZE, "shortened": 0, "megabytes": 0.001}
    assert made.answers("triage-egi@m") == [each.answer for each in run.predictions("triage-egi@m")]


def test_a_page_without_cells_can_be_larger_than_its_limit() -> None:
    assert Page(as_page(run_of(), None, PageSettings(megabytes=0.001))).index["cells"] == []


def test_no_texts_leave_the_house_by_choice(run: Recorded) -> None:
    made = Page(as_page(run.run, run.path, PageSettings(texts="none")))
    assert all(left_out(made, encoding.PRESENT))
    assert made.index["left_out"] == {"texts": 2 * SIZE, "shortened": 0, "megabytes": None}
    assert not [name for name in made.packed if name.startswith("t")]
    assert made.block("s0") == {"pieces": []}
    assert made.block("h0") == {"start": [], "end": []}
    assert made.answers("triage-egi@m") == [each.answer for each in run.predictions("triage-egi@m")]
    assert "the texts of samples are left out (ini key puma_report_texts = none)" in made.shown


def test_a_page_without_texts_can_be_too_large_all_the_same(run: Recorded) -> None:
    made = Page(as_page(run.run, run.path, PageSettings(megabytes=0.001, texts="none")))
    assert made.answers("triage-egi@m") == [each.answer for each in run.predictions("triage-egi@m")]


def test_free_texts_as_answers_do_not_leave_the_house_either(tmp_path: Path) -> None:
    run = recorded(tmp_path, [completion(tmp_path)])
    made = Page(as_page(run.run, run.path, PageSettings(texts="none")))
    everything = [made.inflated(name).decode() for name in made.packed if name != "fl"]
    assert everything
    assert not any("Rome" in each or "Oslo" in each for each in everything)
    assert "Rome" in Page(as_page(run.run, run.path)).inflated("a0").decode()
