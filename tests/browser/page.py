"""A page around an invented report: the policy, a small summary, the blocks and the viewer, as the report has them."""

from __future__ import annotations

import base64
import hashlib
import json
import struct
import zlib
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from pytest_puma.report.page.page import START
from tests.browser.shapes import Report

FOLDER = Path(__file__).parents[2] / "pytest_puma" / "report" / "page"
_POLICY = (
    "default-src 'none'; script-src {script}; style-src {styles}; img-src data:; base-uri 'none'; form-action 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)


def page(report: Report, *, policy: bool = True) -> str:
    """Return the file of a report; without its policy if the viewer's construction alone must be safe."""
    script = (FOLDER / "viewer.js").read_text("utf-8")
    style = "\n".join((FOLDER / name).read_text("utf-8") for name in ("page.css", "viewer.css"))
    hashes = json.loads((FOLDER / "viewer.json").read_text("utf-8"))
    styles = " ".join(f"'{each}'" for each in (_sha256(style), *hashes["styles"]))
    content = _POLICY.format(script=f"'{hashes['script']}' '{_sha256(START)}'", styles=styles)
    meta = f'<meta http-equiv="Content-Security-Policy" content="{content}">' if policy else ""
    blocks = {"ix": packed(report.index), "fl": _packed(_flags(report))}
    blocks |= {name: packed(block) for name, block in report.blocks.items()}
    scripts = "\n".join(f'<script type="text/plain" id="{name}">{text}</script>' for name, text in blocks.items())
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
{meta}
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>puma report</title>
<style>{style}</style>
</head>
<body>
<header><h1>puma: run 42</h1></header>
<main id="summary">
{_summary(report)}
</main>
<section id="details" aria-label="Details"><noscript><p>The details need JavaScript.</p></noscript></section>
{scripts}
<template id="viewer"><script>{script}</script></template>
<script>{START}</script>
</body>
</html>
"""


def packed(value: Any) -> str:
    """Return a JSON block: base64 of raw deflate."""
    return _packed(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode(errors="replace"))


def _packed(data: bytes) -> str:
    compressor = zlib.compressobj(6, zlib.DEFLATED, -15)
    return base64.b64encode(compressor.compress(data) + compressor.flush()).decode()


def _flags(report: Report) -> bytes:
    flags = [flag for cell in report.flags for flag in cell]
    return struct.pack(f"<{len(flags)}H", *flags)


def _sha256(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _summary(report: Report) -> str:
    bodies = "\n".join(
        f'<tbody id="cell={escape(cell["id"])}"><tr>'
        f'<th scope="rowgroup"><a href="#{_fragment(cell["id"])}">{escape(cell["shown"])}</a></th>'
        f"<td>{escape(cell['model'])}</td><td>{cell['measures'][0]['value']:.3g}</td></tr></tbody>"
        for cell in report.index["cells"]
    )
    return f"""<h2>Summary</h2>
<table class="cells">
<thead><tr><th scope="col">strategy</th><th scope="col">model</th><th scope="col">value</th></tr></thead>
{bodies}
</table>"""


def _fragment(cell: str) -> str:
    return escape(urlencode({"cell": cell}, errors="replace"))
