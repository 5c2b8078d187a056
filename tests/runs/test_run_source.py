"""The reader of an earlier run: which response a request gets, and why it gets none."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from pytest_puma.core import (
    MODEL,
    DataError,
    Generate,
    Likelihood,
    Message,
    Messages,
    Origin,
    Prompt,
    Request,
    Response,
    Score,
    Speed,
    Transcript,
    Trial,
    Turn,
    Usage,
)
from pytest_puma.responses.reading import ReadingResponder
from pytest_puma.runs.recorded_run import RecordedRun, RunSource
from pytest_puma.runs.run_folder import RunFolder
from tests.factories import outcome, prediction, sample

CELL = "triage-egi@m"
SIGNATURE = {
    "samples": 2,
    "seed": 42,
    "generation": {"temperature": 0.7},
    "engine": {"weights_sha256": "5a"},
    "data": {"file": "data/issues.csv", "sha256": "00"},
}
AGAIN = "run the benchmark again without --puma-rescore"


def messages_of(text: str) -> Messages:
    return (Message(role="user", content=text),)


def generate(text: str, *, prefill: str = "", seed: int = 0) -> Generate:
    return Generate(prompt=Prompt(messages=messages_of(text), prefill=prefill), max_tokens=9, seed=seed)


def score(text: str, *continuations: str) -> Score:
    return Score(prompt=Prompt(messages=messages_of(text)), continuations=continuations)


def replay(
    tmp_path: Path, *turns: tuple[str | None, Sequence[str], Response], sample_id: str = "a"
) -> ReadingResponder:
    """A reader of a run with one conversation: for each request its prompt, its continuations and its response."""
    asked = (
        Turn(
            prompt=None if text is None else messages_of(text),
            continuations=tuple(continuations),
            response=response,
        )
        for text, continuations, response in turns
    )
    answered = prediction(sample_id=sample_id, transcripts={MODEL: Transcript(tuple(asked))})
    shared = tuple(() for text, *_ in turns if text is not None)
    folder = RunFolder(tmp_path, "r")
    folder.add(outcome(CELL, predictions=(answered,), shared_prompts=shared, signature=SIGNATURE))
    return ReadingResponder(RunSource(RecordedRun(folder.path / "predictions.jsonl")))


def ask(reader: ReadingResponder, *requests: Request, of: Origin | None = None) -> list[Response]:
    origin = of or Origin(CELL, sample("a"), Trial())
    reader.begin(origin.cell, {})
    tickets = reader.submit_all(requests, [origin.at(index) for index in range(len(requests))])
    responses = reader.step()
    return [responses[ticket] for ticket in tickets]


def test_a_request_gets_the_response_to_the_same_prompt(tmp_path: Path) -> None:
    reply = Response(
        text="x", finish="length", usage=Usage(prompt_tokens=4, cached_tokens=1, decoded_tokens=2, seconds=0.5)
    )
    assert ask(replay(tmp_path, ("p", (), reply)), generate("p")) == [reply]


def test_equal_requests_get_their_responses_in_order(tmp_path: Path) -> None:
    replies = [Response(text=text) for text in "xyz"]
    reader = replay(tmp_path, ("p", (), replies[0]), (None, (), replies[1]), (None, (), replies[2]))
    assert ask(reader, *(generate("p", seed=seed) for seed in range(3))) == replies


def test_a_text_and_scores_of_the_same_prompt_are_distinguished_in_any_order(tmp_path: Path) -> None:
    likelihood = Likelihood(total=-1.0, end=-0.5, tokens=2, greedy=True)
    scored = Response(logprobs=(-1.5,), likelihoods=(likelihood,), finish="scored")
    reader = replay(tmp_path, ("p", (), Response(text="x")), (None, ("A",), scored))
    assert ask(reader, score("p", "A"), generate("p")) == [scored, Response(text="x")]


def test_a_request_that_today_is_not_made_is_skipped(tmp_path: Path) -> None:
    reader = replay(tmp_path, ("p", (), Response(text="x")), ("q", (), Response(text="y")))
    assert ask(reader, generate("q")) == [Response(text="y")]


def test_a_prefill_is_a_part_of_the_prompt(tmp_path: Path) -> None:
    reader = replay(tmp_path, ("p", (), Response(text="x")))
    with pytest.raises(DataError, match="the prompt of sample 'a' of triage-egi@m has changed from 'p' to 'p\\\\nA:'"):
        ask(reader, generate("p", prefill="A:"))


def test_texts_that_no_file_can_have_are_those_of_the_file(tmp_path: Path) -> None:
    reader = replay(
        tmp_path,
        ("p \N{REPLACEMENT CHARACTER}", ("\N{REPLACEMENT CHARACTER}",), Response(finish="scored")),
        sample_id="\N{REPLACEMENT CHARACTER}",
    )
    origin = Origin(CELL, sample("\ud800"), Trial())
    assert ask(reader, score("p \ud800", "\ud800"), of=origin) == [Response(finish="scored")]


def test_the_same_cell_can_be_read_again(tmp_path: Path) -> None:
    reader = replay(tmp_path, ("p", (), Response(text="x")))
    assert ask(reader, generate("p")) == [Response(text="x")]
    assert ask(reader, generate("p")) == [Response(text="x")]
    reader.close()
    assert reader.step() == {}
    assert reader.speed == Speed()


def refused(reader: ReadingResponder, problem: str, *requests: Request, of: Origin | None = None) -> None:
    with pytest.raises(DataError, match=f"^{re.escape(f'--puma-rescore r: {problem}')}$"):
        ask(reader, *requests, of=of)


def test_a_sample_that_the_run_does_not_have_is_refused(tmp_path: Path) -> None:
    reader = replay(tmp_path, ("p", (), Response(text="x")))
    problem = (
        f"sample 'b' of {CELL} is not in the run, which has 1 answer of this cell from the file data/issues.csv; "
        f"repeat the options of that run, such as --puma-data or --puma-stop-early, or {AGAIN}"
    )
    refused(reader, problem, generate("p"), of=Origin(CELL, sample("b"), Trial()))
    refused(reader, problem.replace("'b'", "'a', trial 2"), generate("p"), of=Origin(CELL, sample("a"), Trial(1)))


def test_a_request_more_than_in_the_run_is_refused(tmp_path: Path) -> None:
    reader = replay(tmp_path, ("p", (), Response(text="x")))
    problem = f"sample 'a' of {CELL} makes more requests than in the run (1 there); {AGAIN}"
    refused(reader, problem, generate("p"), generate("p"))


@pytest.mark.parametrize(
    ("old", "new", "shown"),
    [
        ("Which team?", "What team?", "'Which team?' to 'What team?'"),
        ("x" * 100 + "old" + "y" * 100, "x" * 100 + "new", f"'...{'x' * 12}old{'y' * 29}' to '...{'x' * 12}new'"),
    ],
)
def test_a_changed_prompt_is_shown_from_shortly_before_the_change(
    tmp_path: Path, old: str, new: str, shown: str
) -> None:
    reader = replay(tmp_path, (old, (), Response(text="x")))
    refused(reader, f"the prompt of sample 'a' of {CELL} has changed from {shown}; {AGAIN}", generate(new))


def test_other_continuations_are_refused(tmp_path: Path) -> None:
    reader = replay(tmp_path, ("p", (" A", " B"), Response(logprobs=(-1.0, -2.0), finish="scored")))
    problem = f"sample 'a' of {CELL} is asked for {{}}, in the run for the probabilities of 'A', 'B'; {AGAIN}"
    refused(reader, problem.format("the probabilities of 'B', 'A'"), score("p", " B", " A"))
    refused(reader, problem.format("a text"), generate("p"))


def test_all_samples_without_a_response_are_counted_once(tmp_path: Path) -> None:
    reader = replay(tmp_path, ("p", (), Response(text="x")))
    origins = [Origin(CELL, sample(name), Trial()) for name in ("a", "b", "b", "c")]
    reader.begin(CELL, {})
    with pytest.raises(DataError, match=rf"sample 'b' of .*{AGAIN} \(1 more have no answer either\)$"):
        reader.submit_all([generate("p")] * 4, origins)


def test_a_cell_that_the_run_does_not_have_is_refused(tmp_path: Path) -> None:
    reader = replay(tmp_path, ("p", (), Response(text="x")))
    origin = Origin("triage-rcoif@m", sample("a"), Trial())
    refused(reader, f"the run has no cell triage-rcoif@m; {AGAIN}", generate("p"), of=origin)


def test_the_engine_and_the_way_of_decoding_are_those_of_the_run(tmp_path: Path) -> None:
    reader = replay(tmp_path, ("p", (), Response(text="x")))
    reader.begin(CELL, {"seed": 1, "generation": {"temperature": 0.0}})
    provenance = reader.provenance()
    assert provenance.signature == {
        "seed": 1,
        "generation": SIGNATURE["generation"],
        "engine": SIGNATURE["engine"],
    }
    assert provenance.unmeasured == {"clock": "is that of the run r: nothing is timed when its answers are read"}
    assert (provenance.notes, provenance.warnings) == ((), ())
