"""Translation of lines, as WMT and FLORES publish them. The names of columns and files are codes of languages.

news.tsv                      a header as `en<TAB>de`, then a source and its translation in each line
src.en, ref.de                two files with as many lines, in one folder: words of the names identify each
devtest/deu_Latn.devtest, devtest/eng_Latn.devtest    FLORES-200: files of as many lines
{"translation": {"en": ..., "de": ...}}          the hub; the first language is the source

class GermanToEnglish(Translation):      # the other direction of the same data
    name = "german_to_english"
    swapped = True
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import permutations
from pathlib import Path
from typing import Any, ClassVar

from pytest_puma.core import DataError
from pytest_puma.datasets.frames import Frame
from pytest_puma.datasets.table import read_records
from pytest_puma.scenarios.benchmarks import fields
from pytest_puma.scenarios.benchmarks.benchmark import CompletionBenchmark
from pytest_puma.scenarios.file import content_of, shown_path, text_of

_SOURCE, _TARGET = {"src", "source"}, {"ref", "reference", "tgt", "trg", "target"}
#: English name of a language -> its codes of ISO 639-1 and 639-3.
_LANGUAGES = {
    "Arabic": "ar arb ara",
    "Bengali": "bn ben",
    "Bulgarian": "bg bul",
    "Catalan": "ca cat",
    "Chinese": "zh zho",
    "Croatian": "hr hrv",
    "Czech": "cs ces",
    "Danish": "da dan",
    "Dutch": "nl nld",
    "English": "en eng",
    "Estonian": "et est ekk",
    "Finnish": "fi fin",
    "French": "fr fra",
    "German": "de deu",
    "Greek": "el ell",
    "Hebrew": "he heb",
    "Hindi": "hi hin",
    "Hungarian": "hu hun",
    "Indonesian": "id ind",
    "Irish": "ga gle",
    "Italian": "it ita",
    "Japanese": "ja jpn",
    "Korean": "ko kor",
    "Latvian": "lv lav lvs",
    "Lithuanian": "lt lit",
    "Norwegian": "no nob nor",
    "Persian": "fa fas pes",
    "Polish": "pl pol",
    "Portuguese": "pt por",
    "Romanian": "ro ron",
    "Russian": "ru rus",
    "Slovak": "sk slk",
    "Slovenian": "sl slv",
    "Spanish": "es spa",
    "Swedish": "sv swe",
    "Thai": "th tha",
    "Turkish": "tr tur",
    "Ukrainian": "uk ukr",
    "Vietnamese": "vi vie",
}
_LANGUAGE_NAMES = {code: name for name, codes in _LANGUAGES.items() for code in codes.split()}


def language_name(code: str) -> str:
    """Return the name of a language: `de`, `de-AT`, `deu_Latn` are German; the code itself if it is unknown."""
    return _LANGUAGE_NAMES.get(re.split(r"[-_]", code.casefold())[0], code)


class Translation(CompletionBenchmark):
    """Lines to translate; `swapped` translates them back."""

    name = "translation"
    text_fields = ("source",)
    group_columns = ("pair",)
    stop = ("\n",)
    strategies = ("zero_shot", "few_shot_3")
    scores = ("bleu", "chrf")
    truth_column = "target"
    swapped: ClassVar[bool] = False
    contents = "lines with their translations, as newstest2014 (WMT) or devtest of FLORES-200 (CC BY-SA 4.0)"
    licence = "that of the data"
    hub = "wmt/wmt14:de-en/*"
    original = "two text files or a TSV file"

    def preamble(self, item: dict[str, Any]) -> str:
        """Name the languages."""
        return f"Translate from {language_name(item['from'])} to {language_name(item['to'])}."

    def instruction(self, item: dict[str, Any]) -> str:
        """Return the line."""
        return f"{language_name(item['from'])}: {item['source']}"

    def cue(self, item: dict[str, Any]) -> str:
        """Return the name of the language."""
        return f"{language_name(item['to'])}:"

    def split_in_folder(self, folder: Path, split: str) -> Path:
        """Return the folder, if it holds two files of lines."""
        return folder if self._pair(folder) else super().split_in_folder(folder, split)

    def examples(self) -> Frame | None:
        """None for lines: those that are not evaluated are the examples."""
        folder = self.path
        return None if folder.is_dir() or folder.suffix == ".tsv" else super().examples()

    def parts(self, path: Path) -> list[Path]:
        """Return the two files of lines, source first."""
        pair = self._pair(path) if path.is_dir() else None
        return [path] if pair is None else list(pair)

    def row(self, record: dict[str, Any]) -> dict[str, Any]:
        """Return a record of two languages."""
        texts = fields.value(record, dict, "translation") if "translation" in record else record
        if len(texts) != 2:  # noqa: PLR2004 - a pair
            msg = f"found the columns {', '.join(texts)}, expected two, named by their languages, as en and de"
            raise DataError(msg)
        source, target = reversed(texts) if self.swapped else texts
        return {
            "pair": f"{source}-{target}",
            "from": source,
            "to": target,
            "source": fields.text(texts, source),
            "target": fields.text(texts, target),
        }

    def published(self, path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
        """Read lines without quotes, or a file of the hub."""
        if path.is_dir():
            files = self.parts(path)
            yield from _rows(path, [_language(file) for file in files], [_lines(file) for file in files])
        elif path.suffix == ".tsv":
            header, *lines = ([cell.strip() for cell in line.split("\t")] for line in _lines(path))
            for number, cells in enumerate(lines, start=2):
                yield f"line {number}", dict(zip(header, cells, strict=False))
        else:
            yield from super().published(path)

    def _pair(self, folder: Path) -> tuple[Path, Path] | None:
        """The file of the sources and that of the translations; None if there are no such files."""
        files = [file for file in sorted(folder.iterdir()) if file.is_file()]
        sources, targets = ([file for file in files if _words(file) & names] for names in (_SOURCE, _TARGET))
        return (sources[0], targets[0]) if len(sources) == len(targets) == 1 else None


class Flores(Translation):
    """FLORES-200 (NLLB, 2022): 1,012 lines in many languages. Each pair of `languages` is a direction, and a group.

    The translations of a line are one unit. A folder needs the files of two languages at least.
    """

    name = "flores"
    split, fewshot_split = "devtest", "dev"
    files = ("devtest",)
    fewshot_files = ("dev",)
    unit_columns = ("line",)
    languages: ClassVar[tuple[str, ...]] = ("deu_Latn", "eng_Latn", "fin_Latn", "fra_Latn", "nld_Latn")
    contents = "devtest/deu_Latn.devtest, devtest/eng_Latn.devtest and so on: 1,012 lines each; and 997 lines in dev/"
    licence = "CC BY-SA 4.0"
    hub = ""
    original = "flores200_dataset.tar.gz of https://github.com/facebookresearch/flores, or a copy of flores_plus"

    def examples(self) -> Frame | None:
        """The lines of `dev`, if the folder has both."""
        return CompletionBenchmark.examples(self) if self.path.name == self.split else None

    def parts(self, path: Path) -> list[Path]:
        """Return the files of the languages."""
        files = [file for file in sorted(path.iterdir()) if file.stem in self.languages]
        if len(files) < 2:  # noqa: PLR2004 - a pair
            names = f"{self.languages[0]}.devtest and {self.languages[1]}.devtest"
            msg = f"scenario {self.name!r}: {len(files)} files of its languages in {path}; expected two, as {names}"
            raise DataError(msg)
        return files

    def row(self, record: dict[str, Any]) -> dict[str, Any]:
        """Return a record of two languages and its line."""
        texts = {name: text for name, text in record.items() if name != "line"}
        return {**super().row(texts), "line": record["line"]}

    def published(self, path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield each line in each direction."""
        files = self.parts(path)
        for source, target in permutations(files, 2):
            texts = [_lines(file) if file.suffix.startswith(".dev") else _texts(file) for file in (source, target)]
            for row, record in _rows(path, [source.stem, target.stem], texts):
                yield f"{source.name}, {row}", {**record, "line": row}


def _rows(folder: Path, codes: list[str], lines: list[list[str]]) -> Iterator[tuple[str, dict[str, Any]]]:
    if len(lines[0]) != len(lines[1]):
        msg = f"{shown_path(folder)}: {len(lines[0])} lines in {codes[0]} and {len(lines[1])} in {codes[1]}; "
        raise DataError(msg + "expected as many translations as lines")
    for number, texts in enumerate(zip(*lines, strict=True), start=1):
        yield f"line {number}", dict(zip(codes, texts, strict=True))


def _lines(file: Path) -> list[str]:
    return text_of(file).removesuffix("\n").split("\n")


def _texts(file: Path) -> list[str]:
    """The lines of FLORES+, whose records have more columns."""
    return [fields.text(record, "text") for _, record in read_records(content_of(file), name=shown_path(file))]


def _words(file: Path) -> set[str]:
    return set(re.split(r"[^a-z]+", file.name.casefold()))


def _language(file: Path) -> str:
    """The code of a file's language: `de` of `news-ref.de`, `deu_Latn` of `deu_Latn.ref`."""
    suffix = file.suffix.removeprefix(".")
    return file.stem if suffix in _SOURCE | _TARGET else suffix or file.stem
