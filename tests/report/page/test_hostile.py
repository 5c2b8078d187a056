"""Texts of models, data, names and tests are shown, and never act."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from pytest_puma.codec.plain import storable
from pytest_puma.core import AnswerChanges, Contrast, Message, Outcome, Prediction, Robustness, Shift
from pytest_puma.core.outcome import Flip
from pytest_puma.report.page.page import as_page
from tests.factories import change, fault, measure, outcome, prediction, revised, verdict
from tests.report.page.page import Page
from tests.report.page.scripted import Recorded, recorded

PAYLOADS = (
    "<script>window.HACKED=1</script>",
    "</script><script>window.HACKED=1</script>",
    "</style><img src=x onerror=window.HACKED=1>",
    "<!-- <script> -->",
    "]]><svg onload=window.HACKED=1>",
    "{{ 7 * 7 }}{% raw %}",
    "${window.HACKED=1}",
    "\"'><b onmouseover=window.HACKED=1>",
    "javascript:window.HACKED=1",
    "\u2028\u2029\u202ereversed\u200b\x00\x1b[31m",
    "half \ud83d",
    "&lt;b&gt; &amp;",
    "x" * 50_000,
)


def hostile(root: Path, text: str) -> Recorded:
    """A run with a text in every place that a user, a model or a data file fills."""
    name = re.sub(r"[-+@]", "_", text)
    cell = f"{name}-{name}@{text}"
    whole = _outcome(cell, text)
    return recorded(
        root,
        [whole, revised(whole, model=f"{text}2")],
        environment={"pytest-puma": text, "commit": text},
        id=text[:50].replace("/", "_"),
        started=text,
        problems=(text,),
        faults=(fault(cell, message=text),),
        unchanged=(text,),
        rescored_from=text,
        robustness=(_robustness(cell, text),),
        contrasts=(_contrast(cell, text),),
    )


def _outcome(cell: str, text: str) -> Outcome:
    measures = (measure("accuracy", note=text, unit=text), measure("parse_failure_rate"), measure(text))
    return outcome(
        cell,
        metrics=("accuracy", text),
        measures={each.metric: each for each in measures},
        predictions=(_prediction(text, 0), _prediction(text, 1)),
        shared_prompts=((Message(role="system", content=text),),),
        confusion={text: {text: 1, "no answer": 1}},
        failures={text: 1},
        verdicts=(
            verdict("accuracy >= 0.9", "FAIL", text),
            verdict("accuracy >= baseline", "INCONCLUSIVE", text, change=change()),
        ),
        warnings=(f"{cell}: {text}", text),
        notes=(text,),
        signature={"data": {"file": text, "sha256": text}, text: text},
        naive_baselines={text: {"accuracy": measure()}},
        flips=(Flip(sample_id=f"{text}0", gold=text, old=text, new=text, better=False, text=text),),
    )


def _prediction(text: str, trial: int) -> Prediction:
    return prediction(
        sample_id=f"{text}{trial}",
        gold=text,
        answer=text if trial else f"{text}?",
        raw=(text, text),
        parsed=text,
        reply=f"{text}!",
        failure=text,
        prompts=((Message(role="user", content=f"{text} {trial}"), Message(role="assistant", content=text)), None),
        fields={"title": text},
        groups={text: text},
        references=(text, "other"),
        choices=(text, "other"),
        probabilities={text: 0.9, "other": 0.1},
        units=(text, f"{trial}"),
        scores={"loss": float(trial), text: 0.5},
    )


def _robustness(cell: str, text: str) -> Robustness:
    rate = AnswerChanges(rate=measure("flip_rate"), fixed=1, broken=1, still_wrong=0)
    shift = Shift(perturbation=text, change=change(text), answer_changes=rate, test=text, p=0.5, adjusted=0.5)
    return Robustness(
        cell=cell,
        scenario=text,
        strategy=text,
        model=text,
        metric=text,
        value=0.5,
        shifts=(shift,),
        worst=text,
        worst_value=0.5,
        worst_corrected=0.5,
        always_right=None,
        gaps=(),
    )


def _contrast(cell: str, text: str) -> Contrast:
    return Contrast(
        cell=cell,
        against=text,
        change=change(text),
        test=text,
        p=0.5,
        adjusted=0.5,
        tests={text: 0.5},
        rank_biserial=0.1,
        cliffs_delta=0.1,
    )


class Elements(HTMLParser):
    """The elements of a document with the names of their attributes, and the values that could act."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: Counter[tuple[str, tuple[str, ...]]] = Counter()
        self.links: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        self.elements[tag, tuple(name for name, _ in attrs)] += 1
        self.links += [value or "" for name, value in attrs if name in {"href", "src"}]


def page_of(root: Path, text: str) -> str:
    run = hostile(root, text)
    return storable(as_page(run.run, run.path))


@pytest.mark.parametrize("payload", PAYLOADS, ids=lambda payload: ascii(payload[:12]))
def test_a_text_adds_no_element_and_no_attribute(tmp_path: Path, payload: str) -> None:
    harmless = Elements(page_of(tmp_path / "harmless", "harmless"))
    text = page_of(tmp_path / "hostile", payload)
    attacked = Elements(text)
    # A command has as many bare spans as pieces.
    for document in (attacked, harmless):
        document.elements.pop(("span", ()))
    assert attacked.elements == harmless.elements
    assert attacked.links
    # To cells, whose names are escaped; to the icon; and to the parts of the page, whose names are its own.
    assert all(re.fullmatch(r"#cell=.*|data:,|#[a-z]+(-\d+)?", link, re.DOTALL) for link in attacked.links)


@pytest.mark.parametrize("payload", PAYLOADS[:-1], ids=lambda payload: ascii(payload[:12]))
def test_a_text_is_shown_as_it_is_but_for_hidden_characters(tmp_path: Path, payload: str) -> None:
    page = Page(page_of(tmp_path, payload))
    shown = " ".join(payload.split()) if payload.isprintable() else ascii(payload)[1:-1]
    assert shown in page.shown
    assert not re.search("[\u2028\u2029\u202e\u200b\x00\x1b]", page.summary)


@pytest.mark.parametrize("payload", PAYLOADS, ids=lambda payload: ascii(payload[:12]))
def test_blocks_bring_every_text_to_the_viewer(tmp_path: Path, payload: str) -> None:
    page = Page(page_of(tmp_path, payload))
    expected: Any = payload.encode("utf-16", errors="surrogatepass").decode("utf-16", errors="replace")
    assert page.block("r0")["references"][0] == [expected, "other"]
    entry = page.block("t0")["rows"][0]
    assert entry["replies"] == [expected, expected]
    assert entry["reply"] == f"{expected}!"
    assert page.block("h0")["start"][0][0] == ["system", expected]


def test_no_source_writes_markup_past_the_escaping() -> None:
    """Only the viewer's libraries, which the build bundles, may have some of these."""
    forbidden = re.compile(
        r"\|\s*safe|\bMarkup\(|innerHTML|dangerouslySetInnerHTML|insertAdjacentHTML|\beval\(|autoescape false"
    )
    root = Path(__file__).parents[3]
    sources = [
        *(root / "pytest_puma" / "report").rglob("*.py"),
        *(root / "pytest_puma" / "report").rglob("*.jinja"),
        *(root / "tools" / "viewer" / "src").rglob("*.js"),
    ]
    assert len(sources) > 20
    for source in sources:
        assert not forbidden.search(source.read_text(encoding="utf-8")), source


def test_an_empty_outcome_of_hostile_names_keeps_its_anchor(tmp_path: Path) -> None:
    page = page_of(tmp_path, '"><i id=x>')
    assert 'id="cell=&#34;&gt;&lt;i id=x&gt;' in page
