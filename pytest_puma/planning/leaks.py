"""Pairs of texts that quote a sample: a control vector made of them would be measured on what it was made of."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeAlias

from pytest_puma.core import Sample, Scenario, SettingsError
from pytest_puma.datasets.fields import hidden_fields, text_fields
from pytest_puma.evaluation.cell import Cell
from pytest_puma.metrics.library.exact import UNSPACED
from pytest_puma.models.pairs import is_pairs, read_pairs

#: Words in a row, without case and punctuation.
_Run: TypeAlias = tuple[str, ...]
#: Number of words in a row that make a quotation; of a shorter text, all of its words.
_WORDS = 8
#: Fewer words may be equal by chance.
_FEWEST = 3
_WORD = re.compile(rf"[{UNSPACED}]|[^\W{UNSPACED}]+")


def check_pairs(cells: Sequence[Cell], samples: Sequence[Sample]) -> None:
    """Refuse pairs of a control of these cells, which share their samples, that quote one of the samples.

    A `SettingsError` names the file, its line, the scenario and the sample.
    """
    variants = (cell.model.variant for cell in cells)
    controls = (control for variant in variants if variant is not None for control in variant.controls)
    for path in dict.fromkeys(control.path for control in controls if is_pairs(control.path)):
        _check_file(path, cells[0].scenario, samples)


def _check_file(path: Path, scenario: Scenario, samples: Sequence[Sample]) -> None:
    texts = list(_texts(scenario, samples))
    lengths = {length for _, _, length in texts}
    lines = {
        run: pair.line
        for pair in read_pairs(path)
        for text in (pair.prompt, pair.positive, pair.negative)
        for length in lengths
        for run in _runs(_words(text), length)
    }
    for sample, words, length in texts:
        if quoted := next((run for run in _runs(words, length) if run in lines), None):
            msg = (
                f"{path}, line {lines[quoted]}: the pair quotes sample {sample.id!r} of {scenario.name} "
                f"({' '.join(quoted)!r}); expected other texts, as a vector would be measured on what it was made of"
            )
            raise SettingsError(msg)


def _texts(scenario: Scenario, samples: Sequence[Sample]) -> Iterator[tuple[Sample, _Run, int]]:
    """Yield the words of each text and ground truth of the samples, and as how many in a row they are quoted."""
    names = text_fields(scenario, samples, hidden_fields(scenario, samples))
    for sample in samples:
        for text in (*(sample.fields.get(name) for name in names), *sample.references):
            words = _words(text) if isinstance(text, str) else ()
            if len(words) >= _FEWEST:
                yield sample, words, min(len(words), _WORDS)


def _words(text: str) -> _Run:
    return tuple(_WORD.findall(text.casefold()))


def _runs(words: _Run, length: int) -> Iterator[_Run]:
    """Yield all runs of this length."""
    return (words[start : start + length] for start in range(len(words) - length + 1))
