"""Instructions about the parts and the form of a reply: lists, sections, titles, placeholders, JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from pytest_puma.metrics.library.ifeval.kind import Kind, count, text

_ANSWERS = ("My answer is yes.", "My answer is no.", "My answer is maybe.")
_POSTSCRIPTS = {"P.S.": r"p\.\s?s\.", "P.P.S": r"p\.\s?p\.\s?s"}


def number_placeholders(reply: str, num_placeholders: int) -> bool:
    """At least as many spans in square brackets, each on one line."""
    # A span without an end is one match too, as a search from each of thousands of brackets would take minutes.
    return sum(map(bool, re.findall(r"\[[^\]\n]*(\]?)", reply))) >= num_placeholders


def postscript(reply: str, postscript_marker: str) -> bool:
    """The marker of a postscript occurs in any case; after the full stops of P.S. and P.P.S there may be a space."""
    marker = _POSTSCRIPTS.get(postscript_marker, re.escape(postscript_marker.lower()))
    return re.search(marker, reply.lower()) is not None


def number_bullet_lists(reply: str, num_bullets: int) -> bool:
    """Exactly as many lines that start with `-`, or with `*` but not `**`."""
    stars = re.findall(r"^[^\S\n]*\*[^*].*", reply, flags=re.MULTILINE)
    dashes = re.findall(r"^[^\S\n]*-", reply, flags=re.MULTILINE)
    return len(stars) + len(dashes) == num_bullets


def constrained_response(reply: str) -> bool:
    """One of three fixed sentences occurs."""
    return any(answer in reply for answer in _ANSWERS)


def number_highlighted_sections(reply: str, num_highlights: int) -> bool:
    """At least as many spans `*x*` and `**x**`, each on one line and not empty."""
    spans = [*re.findall(r"\*([^\n*]*)\*", reply), *re.findall(r"\*\*([^\n*]*)\*\*", reply)]
    return sum(bool(span.strip()) for span in spans) >= num_highlights


def multiple_sections(reply: str, section_spliter: str, num_sections: int) -> bool:
    """At least as many times a word before a number, as in `Section 1`."""
    return len(re.findall(rf"{re.escape(section_spliter)}\s?\d+", reply)) >= num_sections


def json_format(reply: str) -> bool:
    """The whole reply is JSON, with or without a Markdown fence."""
    bare = re.sub(r"^```(?:json|Json|JSON)?|```$", "", reply.strip())
    try:
        json.loads(bare)
    except (ValueError, RecursionError):
        return False
    return True


def title(reply: str) -> bool:
    """A title in double angular brackets occurs, on one line and not empty."""
    titles = (line.partition("<<")[2].rpartition(">>")[0] for line in reply.split("\n"))
    return any(each.strip("<").strip(">").strip() for each in titles)


def two_responses(reply: str) -> bool:
    """Exactly two different texts, between six asterisks; these may open and close the reply, too."""
    texts = [part.strip() for part in reply.split("******")]
    given = [each for each in texts if each]
    return all(texts[1:-1]) and len(given) == len(set(given)) == 2  # noqa: PLR2004 - as the name says


KINDS: Mapping[str, Kind] = {
    "detectable_content:number_placeholders": Kind(number_placeholders, {"num_placeholders": count}),
    "detectable_content:postscript": Kind(postscript, {"postscript_marker": text}),
    "detectable_format:number_bullet_lists": Kind(number_bullet_lists, {"num_bullets": count}),
    "detectable_format:constrained_response": Kind(constrained_response),
    "detectable_format:number_highlighted_sections": Kind(number_highlighted_sections, {"num_highlights": count}),
    "detectable_format:multiple_sections": Kind(multiple_sections, {"section_spliter": text, "num_sections": count}),
    "detectable_format:json_format": Kind(json_format),
    "detectable_format:title": Kind(title),
    "combination:two_responses": Kind(two_responses),
}
