"""The answers that became worse and better, in words: `14 of 200 answers went from right to wrong, 2 the other way`."""

from __future__ import annotations

from pytest_puma.core import Change, Decline


def moved(counts: Change | Decline, *, other: str = "baseline") -> str:
    """Return the counts of a comparison with `other`; of questions if these have several trials."""
    one, two = _words(counts, earlier=other == "baseline")
    noun = "questions" if counts.several else "scores" if isinstance(counts, Change) and counts.scored else "answers"
    return f"{counts.worse} of {counts.n} {noun} {one}, {counts.better} {two}"


def _words(counts: Change | Decline, *, earlier: bool) -> tuple[str, str]:
    """The words for the worse and for the better ones."""
    verb = "got" if earlier else "have"
    if isinstance(counts, Change) and counts.scored:
        return (f"{verb} worse scores", "better ones") if counts.several else ("are worse", "better")
    if counts.graded:
        return (f"{verb} answers that are farther off", "nearer") if counts.several else ("are farther off", "nearer")
    if counts.several:
        return f"{verb} fewer right answers", "more"
    return ("went from right to wrong" if earlier else "are wrong where it is right"), "the other way"
