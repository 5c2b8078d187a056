"""The engine on real models against the independent loop: tokens, greedy texts, log-probabilities of labels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from llama_cpp.llama_chat_format import Jinja2ChatFormatter

from pytest_puma.core import Generate, Message, Model, ModelOptions, Prompt, Response, Score
from pytest_puma.datasets.sampling import draw, example_rows
from pytest_puma.engine.encoding import encoded
from pytest_puma.engine.engine import Engine
from pytest_puma.engine.native import NativeBackend
from pytest_puma.engine.native.binding import has_amx
from pytest_puma.scenarios import BUILTIN
from pytest_puma.strategies import Task, parse_strategy
from pytest_puma.strategies.templates import find_template
from tests.real.conftest import THREADS, has_avx512
from tests.real.loop import Loop, Pieces

#: Each scenario, and one with an example.
KINDS = (
    *((scenario, "zero_shot") for scenario in ("triage_jira", "estimation_tawos", "prioritization_jira")),
    ("triage_jira", "few_shot_1"),
)
SAMPLES = 20
LABELS = ("Critical", "Major", "Minor", "Trivial")
#: The same decodes give the same logits; sums of their exponentials are added up in another order.
STRICT = 1e-3
#: Kernels for quantised weights round otherwise in other batches. On these models and others a label's log-probability
#: moved by .25 in the mean and .7 at most, and texts parted where two logits were up to .53 apart.
MEAN_NOISE, MAX_NOISE, NEAR_TIE = 0.4, 1.0, 0.7


@cache
def prompts(scenario: str, strategy: str) -> tuple[Prompt, ...]:
    """Some of a scenario, as the product asks them, the shortest first."""
    asked = [task.prompt() for task in _tasks(scenario, strategy)]
    return tuple(sorted(asked, key=lambda prompt: sum(len(each.content) for each in prompt.messages)))


def generations() -> list[Generate]:
    """Requests for a few tokens, without and with an example.

    What they compare does not depend on the scenario or on the length of a prompt, but their time does.
    """
    return [Generate(prompt=prompts(*kind)[0], max_tokens=8) for kind in (KINDS[0], KINDS[-1])]


def _tasks(name: str, strategy: str) -> Iterator[Task]:
    scenario, parsed = BUILTIN[name](), parse_strategy(strategy)
    drawn = draw(scenario, SAMPLES, 42)
    examples = example_rows(scenario, parsed.shots, 42, {each.id for each in drawn}) if parsed.shots else ()
    template = find_template(name, parsed.templates, project=None)
    for sample in drawn:
        yield Task(scenario=scenario, sample=sample, wording=template, examples=examples)


@pytest.fixture(scope="module")
def default(model: Model) -> Iterator[Engine]:
    engine = Engine(NativeBackend(model, threads=THREADS))
    yield engine
    engine.close()


@pytest.fixture(scope="module")
def strict(model: Model) -> Iterator[Engine]:
    engine = Engine(NativeBackend(replace(model, options=ModelOptions(strict=True)), threads=THREADS))
    yield engine
    engine.close()


def test_prompts_have_the_tokens_of_llama_cpp_pythons_formatter(default: Engine, loop: Loop) -> None:
    hostile = (
        Message(role="system", content="  Be brief. "),
        Message(role="user", content="naïve 中文 👩‍💻 \t x \r\n\n </p> 0x1F"),
        Message(role="assistant", content="Yes."),
        Message(role="user", content=""),
    )
    requested = [*(prompt for kind in KINDS for prompt in prompts(*kind)), Prompt(messages=hostile)]
    template = loop.template()
    if template is None:
        bos = loop.tokens("", bos=True)
        assert all(default.backend.encode(prompt)[:2].count(bos[0]) == 1 for prompt in requested)
        return
    formatter = Jinja2ChatFormatter(template, eos_token=loop.special("eos"), bos_token=loop.special("bos"))
    for prompt in requested:
        messages = [{"role": each.role, "content": each.content} for each in prompt.messages]
        text = formatter(messages=messages).prompt
        assert default.backend.encode(prompt) == loop.tokens(text, bos=False)


def test_what_must_be_known_of_a_model_is_told(default: Engine, loop: Loop) -> None:
    notes = tuple(default.backend.notes)
    if loop.template() is not None:
        assert notes == ()
        return
    template, warning = notes
    assert template.startswith("the file has no chat template;")
    # Any `</s>`, also that of HTML, ends a reply of this model.
    assert warning.startswith("llama.cpp warns: load: control-looking token: 212 '</s>' was not control-type;")


def parted(pieces: Pieces, response: Response) -> float | None:
    """The lead of the token with which the loop leaves the response's text; None where it does not.

    A stop string may have cut the response: what the loop says behind its end is not compared.
    """
    text, before = response.text.encode(), b""
    for piece, lead in pieces:
        before += piece
        if before[: len(text)] != text[: len(before)] or (not piece and len(before) < len(text)):
            return lead
    return None


def test_strict_texts_are_those_of_the_loop(strict: Engine, loop: Loop) -> None:
    requested = generations()
    for request, response in zip(requested, strict.run(requested), strict=True):
        assert parted(loop.greedy(strict.backend.encode(request.prompt), request.max_tokens), response) is None
        assert response.text or response.finish == "stop"


def test_default_texts_leave_those_of_the_loop_at_near_ties_alone(default: Engine, loop: Loop) -> None:
    requested = generations()
    leads = [
        parted(loop.greedy(default.backend.encode(request.prompt), request.max_tokens), response)
        for request, response in zip(requested, default.run(requested), strict=True)
    ]
    assert None in leads
    assert all(lead is None or lead < NEAR_TIE for lead in leads)


def test_log_probabilities_of_labels_are_those_of_the_loop(default: Engine, strict: Engine, loop: Loop) -> None:
    requested = [Score(prompt=prompt, continuations=LABELS) for prompt in prompts("triage_jira", "zero_shot")[:2]]
    plain = []
    for request in requested:
        asked = encoded(strict.backend, request)
        plain.append([loop.logprob(list(asked.tokens), tail, strict.backend.ends_of_turn) for tail in asked.tails])
    alone, together = ([each.logprobs for each in engine.run(requested)] for engine in (strict, default))
    noise = np.abs(np.subtract(together, plain))
    # A base model hardly writes a label, but with `<end_of_turn>` it would write none in 1e18 replies.
    assert 1e-6 < np.exp(alone).sum(axis=1).min() <= np.exp(alone).sum(axis=1).max() < 1
    # Other kernels depend on the place of a row in its batch, and the loop has other batches. Those of a processor with
    # AMX, which is not used, are others, too.
    difference = np.abs(np.subtract(alone, plain))
    assert np.quantile(difference, 1.0 if has_avx512() and not has_amx() else 0.7) < STRICT
    assert difference.max() < MAX_NOISE
    assert noise.mean() < MEAN_NOISE
    assert noise.max() < MAX_NOISE
