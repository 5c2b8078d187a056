from __future__ import annotations

from pathlib import Path

import pytest

from pytest_puma.core import DataError
from pytest_puma.scenarios import draw
from pytest_puma.scenarios.benchmarks.translation import Flores, Translation, language_name
from tests.scenarios.benchmarks.sample_requests import json_lines, sample_requests

ENGLISH = ["The cat sleeps.", 'The "dog" barks.']
GERMAN = ["Die Katze schläft.", "Der „Hund“ bellt."]


class Back(Translation):
    name = "back"
    swapped = True


def lines(path: Path, texts: list[str]) -> None:
    path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    lines(tmp_path / "news-src.en", ENGLISH)
    lines(tmp_path / "news-ref.de", GERMAN)
    return tmp_path


def test_two_files_of_lines_in_a_chat(folder: Path) -> None:
    cat, dog = sample_requests(Translation(folder))
    assert cat.text == "user: Translate from English to German.\n\nEnglish: The cat sleeps.\nassistant: German:"
    assert (cat.golds, dog.golds) == (("Die Katze schläft.",), ("Der „Hund“ bellt.",))


def test_the_other_direction_with_an_example_in_plain_text(folder: Path) -> None:
    (shown,) = sample_requests(Back(folder), "one_shot", chat=False, samples=1)
    cat, dog = ("Die Katze schläft.", "The cat sleeps."), ("Der „Hund“ bellt.", 'The "dog" barks.')
    first, second = (cat, dog) if shown.golds == (dog[1],) else (dog, cat)
    assert shown.text == (
        f"Translate from German to English.\n\nGerman: {first[0]}\nEnglish: {first[1]}\n\nGerman: {second[0]}\nEnglish:"
    )


def test_a_pair_of_languages_is_a_group(folder: Path) -> None:
    assert draw(Translation(folder), 1, 42)[0].groups == {"pair": "en-de"}
    assert draw(Back(folder), 1, 42)[0].groups == {"pair": "de-en"}


def test_tabs_separate_columns_and_quotes_are_text(tmp_path: Path) -> None:
    path = tmp_path / "news.tsv"
    lines(path, ["eng_Latn\tdeu_Latn", *(f"{one}\t{other}" for one, other in zip(ENGLISH, GERMAN, strict=True))])
    _, dog = sample_requests(Translation(path))
    assert dog.text == 'user: Translate from English to German.\n\nEnglish: The "dog" barks.\nassistant: German:'


def test_the_hub_has_an_object_of_both_languages(tmp_path: Path) -> None:
    rows = [{"translation": {"de": GERMAN[0], "en": ENGLISH[0]}}]
    (cat,) = sample_requests(Translation(json_lines(tmp_path / "test.jsonl", rows)))
    assert cat.text.endswith("German: Die Katze schläft.\nassistant: English:")


def test_files_may_end_in_their_role(tmp_path: Path) -> None:
    lines(tmp_path / "en.source", ENGLISH)
    lines(tmp_path / "fi.target", GERMAN)
    cat, _ = sample_requests(Translation(tmp_path))
    assert "from English to Finnish" in cat.text


def test_another_reference_is_other_data(folder: Path) -> None:
    before = Translation(folder).source()
    lines(folder / "news-ref.de", GERMAN[::-1])
    assert Translation(folder).source() != before


def test_a_translation_too_few_is_refused(folder: Path) -> None:
    lines(folder / "news-ref.de", GERMAN[:1])
    with pytest.raises(DataError, match=r"2 lines in en and 1 in de; expected as many translations as lines"):
        _ = Translation(folder).rows


def test_an_empty_line_is_named(folder: Path) -> None:
    lines(folder / "news-ref.de", [GERMAN[0], ""])
    with pytest.raises(DataError, match=r"line 2, column 'de': found '' \(str\), expected a text that is not empty"):
        _ = Translation(folder).rows


def test_a_third_column_is_refused(tmp_path: Path) -> None:
    lines(tmp_path / "news.tsv", ["en\tde\tfr", "a\tb\tc"])
    with pytest.raises(
        DataError, match=r"line 2, found the columns en, de, fr, expected two, named by their languages"
    ):
        _ = Translation(tmp_path / "news.tsv").rows


@pytest.mark.parametrize(
    ("code", "name"),
    [("de", "German"), ("de-AT", "German"), ("deu_Latn", "German"), ("EN", "English"), ("Elvish", "Elvish")],
)
def test_codes_have_names(code: str, name: str) -> None:
    assert language_name(code) == name


@pytest.fixture
def flores(tmp_path: Path) -> Path:
    """As in the published archive, with one language more than the benchmark has."""
    for language, texts in (("deu_Latn", GERMAN), ("eng_Latn", ENGLISH), ("ace_Arab", ENGLISH)):
        for split in ("dev", "devtest"):
            (tmp_path / split).mkdir(exist_ok=True)
            lines(tmp_path / split / f"{language}.{split}", [f"{split}: {text}" for text in texts])
    return tmp_path


def test_flores_has_each_pair_of_languages_as_a_direction(flores: Path) -> None:
    asked = sample_requests(Flores(flores), "one_shot", chat=False)
    assert len(asked) == 4
    assert asked[0].text.startswith("Translate from German to English.\n\nGerman: dev: D")
    assert asked[0].text.endswith("\n\nGerman: devtest: Die Katze schläft.\nEnglish:")
    assert asked[0].golds == ("devtest: The cat sleeps.",)
    samples = draw(Flores(flores), 4, 42)
    assert {sample.groups["pair"] for sample in samples} == {"deu_Latn-eng_Latn", "eng_Latn-deu_Latn"}
    assert len({sample.units for sample in samples}) == 2, "the translations of a line are one unit"


def test_flores_plus_has_records(tmp_path: Path) -> None:
    for language, texts in (("deu_Latn", GERMAN), ("eng_Latn", ENGLISH)):
        json_lines(
            tmp_path / "devtest" / f"{language}.jsonl", [{"id": n, "text": text} for n, text in enumerate(texts)]
        )
    first, *_ = sample_requests(Flores(tmp_path))
    assert first.text == ("user: Translate from German to English.\n\nGerman: Die Katze schläft.\nassistant: English:")


def test_flores_needs_two_languages(flores: Path) -> None:
    (flores / "devtest" / "eng_Latn.devtest").unlink()
    with pytest.raises(DataError, match=r"1 files of its languages in .*; expected two, as deu_Latn.devtest and"):
        _ = Flores(flores).rows
