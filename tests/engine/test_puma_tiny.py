"""The bundled model in our engine: the tokens and logits of the framework that trained it, batched or not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest
from gguf import GGUFReader
from numpy.typing import NDArray
from tokenizers import Tokenizer

from pytest_puma.core import Generate, Message, Model, Prompt, Sample, Scenario, Step
from pytest_puma.datasets.sampling import draw, example_rows
from pytest_puma.engine.engine import Engine
from pytest_puma.engine.native import NativeBackend
from pytest_puma.platform.bundled import bundled_folder
from pytest_puma.scenarios import BUILTIN, PrioritizationJiraScenario
from pytest_puma.strategies import ALL, Task, parse_strategy
from pytest_puma.strategies.templates import find_template
from tests.engine.ask import one_at_a_time
from tests.engine.cache import RecordedBackend
from tools.training import SELECTION
from tools.training.cases import LABELS
from tools.training.tokens import CONTROL_TOKENS, byte_level_bpe

Array: TypeAlias = NDArray[Any]
PATH = bundled_folder("models") / "puma-tiny.gguf"
LOGITS = Path(__file__).with_name("puma_tiny_logits.npz")
#: Every row of data/: all issues, all of them in pairs, all backlog items.
SAMPLES = {"triage_jira": 200, "prioritization_jira": 100, "estimation_tawos": 500}
#: The first of the 150 texts with logits of the framework: short and long ones.
TEXTS = 60
#: Maximum effect of rounding to eight bits on a logit or on the gap between two. Rounding the weights changes a logit
#: (of up to 38) by up to 0.14, llama.cpp's rounding of the activations by up to 0.16, both together by up to 0.24.
ROUNDING = 0.3
#: A batch changes the logits of the two best tokens by up to 0.053: if they are within twice that, either may win.
#: None changes here; another processor sums in another order.
MAX_FLIPS, NEAR_TIE = 1, 0.11
STRANGE = (
    "",
    " ",
    "\n\n\n",
    " \t x \t\n y  \n",
    "don't WE'LL I'd they'Re",
    "1234567890 v2.10.3 0x1F 3,5 €99 ½ x² ①",
    "naïve café Ångström Ελληνικά русский 中文字符 日本語テスト 한국어 עברית العربية हिन्दी ไทย",
    "e\u0301 a\u0308 \u200b\u200d\ufeff \u00a0\u2003\u3000",
    "👩‍💻👍🏽🏳️‍🌈 🇩🇪 ❤️‍🔥 \U000130c2",
    "def f(x):\n\treturn {'a': [1, 2]}  # ok\r\n\r\n",
    "....!!!???---===___~~~```###***///\\\\",
    "<issue> </issue> <|im_start|x <| im_end |> <|endoftext|",
    "a" * 300 + " " * 50 + "\u00e9" * 40,
)


@pytest.fixture(scope="module")
def model() -> Model:
    return Model(name="puma-tiny", path=PATH)


@pytest.fixture(scope="module")
def backend(model: Model) -> Iterator[NativeBackend]:
    opened = NativeBackend(model, threads=1)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    """The framework's tokenizer with the vocabulary of the file."""
    fields = GGUFReader(PATH).fields
    tokens = fields["tokenizer.ggml.tokens"].contents()
    merges = [(left, right) for left, right in (each.split(" ") for each in fields["tokenizer.ggml.merges"].contents())]
    framework = byte_level_bpe({token: number for number, token in enumerate(tokens)}, merges)
    framework.add_special_tokens(list(CONTROL_TOKENS))
    return framework


def tasks(name: str, strategy: str) -> list[Task]:
    """The tasks of a cell on all rows, in random order, as the product makes them."""
    scenario = BUILTIN[name]()
    return tasks_about(draw(scenario, SAMPLES[name], 42), scenario, strategy)


def tasks_about(samples: Sequence[Sample], scenario: Scenario, strategy: str) -> list[Task]:
    """The tasks of some of a scenario's samples."""
    shots = parse_strategy(strategy).shots
    examples = example_rows(scenario, shots, 42, {sample.id for sample in samples}) if shots else ()
    template = find_template(scenario.name, parse_strategy(strategy).templates, project=None)
    return [Task(scenario=scenario, sample=sample, wording=template, examples=examples) for sample in samples]


# -- agreement with the framework ----------------------------------------------------------------


@pytest.fixture(scope="module")
def reference() -> dict[str, Array]:
    with np.load(LOGITS) as file:
        every = dict(file)
    lengths, rows = every.pop("lengths")[:TEXTS], every.pop("rows")[:TEXTS]
    tokens, count = every.pop("tokens")[: lengths.sum()], rows.sum()
    return {name: each[:count] for name, each in every.items()} | {"lengths": lengths, "rows": rows, "tokens": tokens}


@pytest.fixture(scope="module")
def rows(backend: NativeBackend, reference: dict[str, Array]) -> Array:
    """Our logits at the places of the reference."""
    tokens, places = iter(reference["tokens"].tolist()), iter(reference["places"].tolist())
    logits = []
    for length, count in zip(reference["lengths"].tolist(), reference["rows"].tolist(), strict=True):
        text = list(islice(tokens, length))
        backend.open(4096)
        start = 0
        for place in islice(places, count):
            step = Step(0, start, text[start : place + 1], place - start)
            logits.append(np.array(backend.decode([step])[0]))
            start = place + 1
    return np.array(logits)


def test_the_best_token_is_the_frameworks_wherever_rounding_cannot_change_it(
    rows: Array, reference: dict[str, Array]
) -> None:
    decided = reference["logits"][:, 0] - reference["logits"][:, 1] > ROUNDING
    assert decided.sum() >= 300
    assert rows.argmax(1)[decided].tolist() == reference["best"][decided, 0].tolist()


def test_logits_differ_by_no_more_than_rounding_to_eight_bits(rows: Array, reference: dict[str, Array]) -> None:
    ours = np.take_along_axis(rows, reference["best"].astype(np.int64), 1)
    assert np.abs(ours - reference["logits"]).max() < ROUNDING
    assert np.abs(ours - reference["rounded"]).max() < ROUNDING


# -- the tokenizer -------------------------------------------------------------------------------


@pytest.mark.parametrize("text", STRANGE, ids=range(len(STRANGE)))
def test_strange_text_has_the_tokens_of_the_framework(text: str, backend: NativeBackend, tokenizer: Tokenizer) -> None:
    ours = backend.encode(Prompt(messages=(Message(role="user", content=f"x{text}x"),)))
    whole = f"<|im_start|>user\nx{text}x<|im_end|>\n<|im_start|>assistant\n"
    assert ours == tokenizer.encode(whole, add_special_tokens=False).ids


@pytest.mark.parametrize("scenario", SAMPLES)
@pytest.mark.parametrize("strategy", ALL)
def test_prompts_have_the_tokens_of_the_framework_and_fit(
    scenario: str, strategy: str, backend: NativeBackend, tokenizer: Tokenizer
) -> None:
    for task in tasks(scenario, strategy)[::3]:
        prompt = task.prompt()
        ours = backend.encode(prompt)
        turns = "".join(f"<|im_start|>{each.role}\n{each.content}<|im_end|>\n" for each in prompt.messages)
        assert ours == tokenizer.encode(f"{turns}<|im_start|>assistant\n", add_special_tokens=False).ids
        assert len(ours) + 256 < backend.context_limit


@pytest.mark.parametrize("label", LABELS)
def test_a_label_is_one_token(label: str, tokenizer: Tokenizer) -> None:
    assert tokenizer.encode(label).tokens == [label]


# -- answers -------------------------------------------------------------------------------------


@pytest.mark.parametrize("strategy", ["rcoif", "contextual_anchoring"])
def test_the_answer_about_a_pair_names_an_issue_even_if_the_prompt_lists_priorities(
    strategy: str, backend: NativeBackend
) -> None:
    scenario = PrioritizationJiraScenario(SELECTION / "issues.csv")
    # With this seed there is a pair to which an earlier model answered "Major".
    pairs = tasks_about(draw(scenario, 120, 2), scenario, strategy)
    responses = Engine(backend).run([Generate(prompt=task.prompt(), max_tokens=4) for task in pairs])
    assert {each.text for each in responses} == {"A", "B"}


# -- contracts of the engine, on trained weights -------------------------------------------------


@pytest.mark.parametrize("scenario", SAMPLES)
def test_batched_answers_are_those_of_one_at_a_time(scenario: str, model: Model) -> None:
    requests = [Generate(prompt=task.prompt(), max_tokens=16) for task in tasks(scenario, "zero_shot")[:25]]
    together, alone = RecordedBackend(model, threads=1), RecordedBackend(model, threads=1)
    batched = Engine(together).run(requests)
    singles = one_at_a_time(alone, requests)
    flips = {
        f"{one.text!r} batched, {other.text!r} alone": gap(request, alone)
        for request, one, other in zip(requests, batched, singles, strict=True)
        if one.text != other.text
    }
    assert len(flips) <= MAX_FLIPS, flips
    assert all(between < NEAR_TIE for between in flips.values()), flips


def gap(request: Generate, backend: RecordedBackend) -> float:
    """The smallest gap between the two best tokens on the way to an answer."""
    tokens = tuple(backend.encode(request.prompt))
    rows = [row for context, row in backend.rows_after.items() if context[: len(tokens)] == tokens]
    return min(float(np.diff(np.sort(row)[-2:])[0]) for row in rows)
