"""Golden answers and batches of this version of the engine: a change must raise `ENGINE_VERSION` or `BATCHING_VERSION`.

`python -m tests.engine.test_version` writes the answers of a new version to `golden_answers.json`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from pytest_puma.core import Backend, Message, Model, ModelOptions, Prompt, Request, Response, Score
from pytest_puma.engine.encoding import encode_all
from pytest_puma.engine.engine import Engine
from pytest_puma.engine.native import NativeBackend
from pytest_puma.engine.version import BATCHING_VERSION, ENGINE_VERSION
from pytest_puma.platform.bundled import bundled_folder
from tests.engine.ask import INSTRUCTIONS, generate, prompt, score
from tests.engine.hashed_logits import HashedLogits, RecordedBatches

GOLDEN = Path(__file__).with_name("golden_answers.json")
CHANGED = (
    "the engine gives other answers than its version {version}: undo the change, or raise ENGINE_VERSION in "
    "pytest_puma/engine/version.py and run `python -m tests.engine.test_version`"
)
OTHER_BATCHES = (
    "the engine computes the same requests in other batches than its version {version}: undo the change, or raise "
    "BATCHING_VERSION in pytest_puma/engine/version.py and run `python -m tests.engine.test_version`"
)
#: Maximum difference of a log-probability between processors: exponentials differ in the last bit, and the kernels of
#: llama.cpp round the activations to eight bits in other blocks.
LAST_BITS, KERNELS = 1e-5, 0.2
LABELS = ("Critical", "Major", "Minor", "Trivial")
TRIAGE = (
    "Decide the priority of an issue: Critical, Major, Minor or Trivial.\n"
    "Reply with exactly one of these labels and nothing else."
)


def requests() -> list[Request]:
    """Greedy, sampled in each way, cut by a stop string, with a prefill, without chat, scored in both ways."""
    system = [prompt(f"Issue {number}: the server crashes", system=INSTRUCTIONS) for number in range(9)]
    plain = Prompt(messages=(Message(role="user", content="Once upon"),), chat=False)
    return [
        generate(system[0], 12, logprobs=True),
        generate(system[1], 12, logprobs=True, temperature=1.0, seed=1),
        generate(system[2], 12, logprobs=True, temperature=0.7, seed=2, top_k=5),
        generate(system[3], 12, logprobs=True, temperature=1.5, seed=2**31, top_p=0.8),
        generate(system[4], 12, logprobs=True, temperature=1.2, seed=3, min_p=0.2),
        generate(prompt("A", prefill="B", stop=("e", "th")), 12, logprobs=True),
        generate(plain, 12, logprobs=True),
        score(system[5], "bug", "task", "task and bug"),
        Score(prompt=system[6], continuations=("a cat", "a", "no"), ends=False),
        Score(prompt=plain, continuations=(" a", " time")),
    ]


def decided_requests() -> list[Request]:
    """Requests whose answers by the bundled model are the same on each processor: no token is a near-tie."""
    questions = [
        prompt(f"{TRIAGE}\n\n<issue>\nTitle: {title}\n</issue>", system="You are an experienced maintainer.")
        for title in ("Typo in a tooltip", "The server crashes and all data are lost", "Button has the wrong color")
    ]
    return [
        *(generate(question, 6, logprobs=True) for question in questions),
        generate(questions[0], 6, logprobs=True, temperature=0.2, seed=5),
        generate(questions[1], 6, logprobs=True, grammar='root ::= "Major" | "Minor" | "Trivial"'),
        *(score(question, *LABELS) for question in questions),
    ]


def plain(responses: Sequence[Response]) -> list[dict[str, Any]]:
    """The parts of responses that the store keeps, as JSON."""
    return [
        {
            "text": response.text,
            "finish": response.finish,
            "logprobs": response.logprobs,
            "likelihoods": [[each.total, each.end, each.tokens, each.greedy] for each in response.likelihoods],
            "prompt_tokens": response.usage.prompt_tokens,
            "decoded_tokens": response.usage.decoded_tokens,
        }
        for response in responses
    ]


def tokens_of(backend: Backend, asked: Sequence[Request]) -> list[str]:
    """A digest of all tokens of each request."""
    of_each = [[request.tokens.tolist(), request.tails] for request in encode_all(backend, asked)]
    return [hashlib.sha256(json.dumps(tokens).encode()).hexdigest()[:16] for tokens in of_each]


def votes() -> list[Request]:
    """Five sampled replies to each of two prompts: more new tokens than prompt tokens, so that streams are faster."""
    return [
        generate(prompt(f"Issue {number}"), 200, temperature=1.0, seed=seed) for number in range(2) for seed in range(5)
    ]


def batches() -> list[str]:
    """A digest of the caches and batches of all requests in a shared cache, and of the votes in streams."""
    digests = []
    for asked in (requests(), votes()):
        backend = RecordedBatches()
        Engine(backend).run(asked)
        digests.append(hashlib.sha256(json.dumps(backend.record).encode()).hexdigest()[:16])
    return digests


def bundled() -> NativeBackend:
    path = bundled_folder("models") / "puma-tiny.gguf"
    return NativeBackend(Model(name="puma-tiny", path=path, options=ModelOptions(strict=True)), threads=1)


def hashed_answers() -> list[dict[str, Any]]:
    return plain(Engine(HashedLogits()).run(requests()))


def bundled_answers() -> tuple[list[str], list[dict[str, Any]]]:
    engine = Engine(bundled())
    try:
        return tokens_of(engine.backend, [*requests(), *decided_requests()]), plain(engine.run(decided_requests()))
    finally:
        engine.close()


def numbers(answers: Sequence[dict[str, Any]]) -> list[float]:
    """All log-probabilities, in their order."""
    return [
        float(number)
        for answer in answers
        for number in (*answer["logprobs"], *(part for each in answer["likelihoods"] for part in each[:2]))
        if number is not None
    ]


def rest(answers: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """All but the log-probabilities."""
    return [
        answer | {"logprobs": len(answer["logprobs"]), "likelihoods": [each[2:] for each in answer["likelihoods"]]}
        for answer in answers
    ]


def assert_equal(answers: Sequence[dict[str, Any]], golden: Sequence[dict[str, Any]], *, tolerance: float) -> None:
    message = CHANGED.format(version=ENGINE_VERSION)
    assert rest(answers) == rest(golden), message
    assert numbers(answers) == pytest.approx(numbers(golden), abs=tolerance), message


@pytest.fixture(scope="module")
def golden() -> Any:
    return json.loads(GOLDEN.read_text(encoding="utf-8"))


def test_the_golden_answers_are_those_of_this_version(golden: Any) -> None:
    versions = [golden["version"], golden["batching_version"]]
    assert versions == [ENGINE_VERSION, BATCHING_VERSION], "run `python -m tests.engine.test_version`"


def test_answers_to_given_logits(golden: Any) -> None:
    assert_equal(hashed_answers(), golden["hashed"], tolerance=LAST_BITS)


def test_batches(golden: Any) -> None:
    assert batches() == golden["batches"], OTHER_BATCHES.format(version=BATCHING_VERSION)


def test_answers_of_the_bundled_model(golden: Any) -> None:
    tokens, answers = bundled_answers()
    assert tokens == golden["tokens"], CHANGED.format(version=ENGINE_VERSION)
    assert_equal(answers, golden["bundled"], tolerance=KERNELS)


if __name__ == "__main__":
    TOKENS, BUNDLED = bundled_answers()
    CONTENT = {
        "version": ENGINE_VERSION,
        "batching_version": BATCHING_VERSION,
        "tokens": TOKENS,
        "batches": batches(),
        "hashed": hashed_answers(),
        "bundled": BUNDLED,
    }
    GOLDEN.write_text(json.dumps(CONTENT, indent=1) + "\n", encoding="utf-8")
