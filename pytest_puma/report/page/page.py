"""The page as one text: the frame with its security policy, the summary, the blocks and the viewer."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, FunctionLoader, StrictUndefined, Template

from pytest_puma.codec.plain import storable
from pytest_puma.core import Run
from pytest_puma.phrases import named
from pytest_puma.planning.reports import PageSettings
from pytest_puma.report import comparison, escape
from pytest_puma.report.page.blocks import Blocks, blocks_of
from pytest_puma.report.page.changes import Against, against_baseline
from pytest_puma.report.page.disagreements import disagreements
from pytest_puma.report.page.summary import standing, summarize
from pytest_puma.report.rows import computed_tokens, difference, interval, number, parse_failures, seconds
from pytest_puma.runs.run_order import REMOVED

_MEGABYTE = 1_000_000
#: Characters of a name or a sentence: a browser takes minutes to set names of a megabyte.
_LONGEST = 5000
#: Bytes that the sentences about the page itself may add.
_RESERVE = 10_000
_FRAME = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="pytest-puma">
<title>{title}</title>
<link rel="icon" href="data:,">
<style>{style}</style>
</head>
<body>
{body}
{blocks}
<template id="viewer"><script>{script}</script></template>
<script>{start}</script>
</body>
</html>
"""
#: Starts the viewer after the first paint of the page, which its 370 kB would delay; at once where the address opens
#: a cell, and by the clock in a tab that shows nothing yet. The start moves the script, so that a second one does
#: nothing. The policy allows a script element that the parser has made, not a text that becomes one.
START = """\
const start = () => document.body.append(document.getElementById("viewer").content);
if (location.hash) start();
new PerformanceObserver(start).observe({ type: "paint", buffered: true });
setTimeout(start, 1000);"""


def as_page(
    run: Run,
    folder: Path | None,
    settings: PageSettings = PageSettings(),  # noqa: B008 - frozen
    *,
    against: Against | None = None,
) -> str:
    """Return the page of a run; its samples are read from the run folder, None if there is none.

    `against`: what the run is compared with, by default its baseline.
    """
    against = against or against_baseline(run)
    contradicted = [] if settings.texts == "none" else disagreements(run, folder)
    limit = None
    if settings.megabytes is not None:
        around = len(_page(run, summarize(run, against, contradicted), {}).encode()) + _RESERVE
        limit = max(0, round(settings.megabytes * _MEGABYTE) - around)
    blocks = blocks_of(run, folder, settings, against, limit=limit)
    return _page(run, summarize(run, against, contradicted, _about(run, blocks, settings)), blocks.texts)


def _page(run: Run, summary: dict[str, Any], blocks: Mapping[str, str]) -> str:
    style = _file("page.css") + _file("viewer.css")
    script = _file("viewer.js")
    title = f"{summary['heading']}: {run.id}" if run.id else summary["heading"]
    elements = (f'<script type="text/plain" id="{name}">{text}</script>' for name, text in blocks.items())
    return _FRAME.format(
        policy=_policy(script, style),
        title=escape.html(title),
        style=style,
        body=_template().render(summary=summary, approximate=comparison.APPROXIMATE),
        blocks="\n".join(elements),
        script=script,
        start=START,
    )


def _policy(script: str, style: str) -> str:
    """The content security policy: only the scripts and the styles of this very page."""
    styles = [_hash(style), *json.loads(_file("viewer.json"))["styles"]]
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src '{_hash(script)}' '{_hash(START)}'",
            f"style-src {' '.join(map(repr, styles))}",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
        )
    )


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(sha256(text.encode()).digest()).decode()}"


def _file(name: str) -> str:
    return (files("pytest_puma.report.page") / name).read_text(encoding="utf-8")


def _template() -> Template:
    """The template of the summary, in which every text is escaped, and hidden characters are written out."""
    loader = FunctionLoader(_file)
    environment = Environment(autoescape=True, undefined=StrictUndefined, finalize=_shown, loader=loader)
    forms = (difference, interval, number, parse_failures, seconds, computed_tokens, standing)
    environment.filters |= {form.__name__: form for form in forms}
    environment.filters["words"] = _words
    environment.filters["fragment"] = lambda text: quote(storable(text), safe="")
    return environment.get_template("page.html.jinja")


def _shown(value: object) -> object:
    """A text without hidden characters; what the template has escaped already is of another type."""
    if type(value) is not str:
        return value
    return escape.unmarked(value if len(value) <= _LONGEST else f"{value[:_LONGEST]}\u2026")


def _words(command: str) -> list[list[str]]:
    """The words of a command, each in the pieces that start at `::` and at brackets."""
    shown = escape.unmarked(command[:_LONGEST])
    return [re.split(r"(?=::|\[)", word) for word in shown.split(" ")]


def _about(run: Run, blocks: Blocks, settings: PageSettings) -> list[str]:
    """Sentences on what the page lacks."""
    missing, sentences = blocks.left_out, []
    if settings.texts == "none":
        sentences.append("the texts of samples are left out (ini key puma_report_texts = none)")
    elif missing:
        parts = [f"the texts of {missing.texts:,} answers are left out"] if missing.texts else []
        parts += [f"those of {missing.shortened:,} are shortened"] if missing.shortened else []
        all_of_them = f"pytest-puma report {run.id} --all writes all of them"
        sentences.append(f"{' and '.join(parts)}, for a page of {settings.megabytes:g} MB; {all_of_them}")
    if blocks.without_samples:
        sentences.append(f"the samples of {named(blocks.without_samples, 1)} are not in the run folder: {REMOVED}")
    return sentences
