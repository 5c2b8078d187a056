"""Real changed runs for the simulation of gates: puma-tiny under other prompts, other texts, other weights.

Each run asks all rows of a scenario in option scoring, once; its answers are kept as JSON in a cache folder, so that
they are computed only the first time. A run has a kind: `wording` (the prompt says the same in other words), `prompt`
(it says something else, or less), `text` (a perturbation of the samples), `weights` (noise, or a coarser
quantisation), or `temperature` (all logits times a factor).
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

import numpy as np
from gguf import GGMLQuantizationType, GGUFReader
from gguf.quants import dequantize, quantize
from numpy.typing import NDArray

from pytest_puma.core import Model, Prediction
from pytest_puma.core.bundled import bundled_folder
from pytest_puma.engine.engine import Engine
from pytest_puma.engine.native import NativeBackend
from pytest_puma.perturbations import parse_perturbation
from pytest_puma.run.cell import Cell
from pytest_puma.run.evaluate import evaluate
from pytest_puma.scenarios import BUILTIN
from pytest_puma.strategies import parse_strategy

#: All issues, and all pairs that share no issue.
ROWS = {"triage_jira": 200, "prioritization_jira": 100}
MODEL = bundled_folder("models") / "puma-tiny.gguf"

Values: TypeAlias = NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """A run that differs in one thing: `prompts` by file name, the `perturbation`, or the `weights` of each tensor."""

    name: str
    kind: str
    prompts: Mapping[str, str] = field(default_factory=dict)
    perturbation: str | None = None
    weights: Callable[[str, Values], Values] | None = None


BASE = Changed(name="as it is", kind="base")


def changes(scenario: str) -> list[Changed]:
    """All changed runs of a scenario that differ in one thing; of pairs, which take longer, a few wordings."""
    found = [*_prompts(scenario), *_texts(), *_weights(), *_temperatures()]
    return found if scenario == "triage_jira" else found[:12:2]


def answers(scenario: str, changed: Changed, cache: Path) -> list[Prediction]:
    """The predictions of a run, from the cache or computed now."""
    kept = cache / scenario / f"{changed.kind}-{changed.name.replace(' ', '_')}.json"
    if not kept.exists():
        found = [_kept(each) for each in _computed(scenario, changed, cache / "work")]
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps(found), encoding="utf-8")
    return [Prediction(**row | {"units": (row["sample_id"],)}) for row in json.loads(kept.read_text(encoding="utf-8"))]


def _kept(prediction: Prediction) -> dict[str, object]:
    return {name: getattr(prediction, name) for name in ("sample_id", "gold", "answer", "probabilities", "finish")}


def _computed(scenario: str, changed: Changed, work: Path) -> Sequence[Prediction]:
    shutil.rmtree(work, ignore_errors=True)
    prompts = work / "prompts" / scenario
    shutil.copytree(bundled_folder("prompts") / scenario, prompts)
    for name, text in changed.prompts.items():
        (prompts / name).write_text(text, encoding="utf-8")
    path = MODEL if changed.weights is None else _rewritten(changed.weights, work / "changed.gguf")
    model = Model(name="puma-tiny", path=path)
    cell = Cell(
        scenario=BUILTIN[scenario](),
        strategy=parse_strategy("option_scoring"),
        model=model,
        perturbation=None if changed.perturbation is None else parse_perturbation(changed.perturbation),
        samples=ROWS[scenario],
    )
    engine = Engine(NativeBackend(model, threads=1))
    try:
        return evaluate(cell, engine, project=work).predictions
    finally:
        engine.close()


# -- prompts -----------------------------------------------------------------------------------------

_SYSTEM, _QUESTION, _ONLY = "_system.jinja", "_question.jinja", "_only_answer.jinja"
_PARTIAL = {"triage_jira": "_issue.jinja", "prioritization_jira": "_pair.jinja"}
_EITHER = {"triage_jira": '{{ labels | join(", ") }}', "prioritization_jira": '{{ labels | join(" or ") }}'}
#: Whole templates, made of the same parts.
_ORDERS = {
    "issue first": "{% block user %}{% include PARTIAL %}\n\n{% include QUESTION %}\n{% include ONLY %}{% endblock %}",
    "question twice": (
        "{% block user %}{% include QUESTION %}\n{% include ONLY %}\n\n{% include PARTIAL %}\n\n"
        "{% include QUESTION %}{% endblock %}"
    ),
    "without a question": "{% block user %}{% include ONLY %}\n\n{% include PARTIAL %}{% endblock %}",
    "meanings": (
        "{% block user %}{% include QUESTION %}\n{% include '_meanings.jinja' %}\n{% include ONLY %}\n\n"
        "{% include PARTIAL %}{% endblock %}"
    ),
    "in one message": (
        "{% block user %}{% include '_system.jinja' %}\n{% include QUESTION %}\n{% include ONLY %}\n\n"
        "{% include PARTIAL %}{% endblock %}"
    ),
}
_SPOILERS = {
    "always the first": "If you are not sure, choose {{ labels[0] }}.",
    "always the last": "If you are not sure, choose {{ labels[-1] }}.",
    "ignore the title": "Judge by the description alone; titles are often wrong.",
    "an example": "An example: a crash on start that loses data is {{ labels[0] }}, a typo is {{ labels[-1] }}.",
}


def _prompts(scenario: str) -> Iterator[Changed]:
    for (file, name), text in _wordings(_EITHER[scenario]).items():
        yield Changed(name=name, kind="wording", prompts={file: f"{text}\n" if text else ""})
    for name, source in _ORDERS.items():
        template = source.replace("PARTIAL", f"'{_PARTIAL[scenario]}'")
        template = template.replace("QUESTION", f"'{_QUESTION}'").replace("ONLY", f"'{_ONLY}'")
        yield Changed(name=name, kind="wording", prompts={"zero_shot.jinja": template})
    only = (bundled_folder("prompts") / scenario / _ONLY).read_text(encoding="utf-8")
    for name, sentence in _SPOILERS.items():
        yield Changed(name=name, kind="prompt", prompts={_ONLY: f"{only}{sentence}\n"})
    partial = (bundled_folder("prompts") / scenario / _PARTIAL[scenario]).read_text(encoding="utf-8")
    for name, edited in _partials(partial).items():
        kind = "wording" if name.startswith("tag") else "prompt"
        yield Changed(name=name, kind=kind, prompts={_PARTIAL[scenario]: edited})


def _wordings(labels: str) -> dict[tuple[str, str], str]:
    """The parts of the prompt, said in other words."""
    return {
        (_QUESTION, "question 1"): f"Which one is it: {labels}?",
        (_QUESTION, "question 2"): f"Please decide with care: {labels}.",
        (_QUESTION, "question 3"): f"You have to choose one of these: {labels}. Which one fits best?",
        (_ONLY, "only 1"): "Answer with one of these and nothing else.",
        (_ONLY, "only 2"): "Do not explain anything. Write the answer alone.",
        (_ONLY, "only 3"): "",
        (_SYSTEM, "system 1"): "You are a helpful assistant.",
        (_SYSTEM, "system 2"): "You work in the support team of a software company and sort incoming issues.",
        (_SYSTEM, "system 3"): "",
    }


def _partials(text: str) -> dict[str, str]:
    """The text of an issue, or of two, cut short and laid out in other ways."""

    def described(tail: str) -> str:
        found = text
        for name in ("description", "description_a", "description_b"):
            found = found.replace(f"{{{{ {name} }}}}", f"{{{{ {name}{tail} }}}}")
        return found

    titles = text
    for name in ("title", "title_a", "title_b"):
        titles = titles.replace(f"{{{{ {name} }}}}", "untitled")
    cuts = {f"description up to {length}": described(f"[:{length}]") for length in (30, 60, 90, 120, 160, 220)}
    return cuts | {
        "without the title": titles,
        "description backwards": described(".split() | reverse | join(' ')"),
        "description in capitals": described(" | upper"),
        "tag ticket": text.replace("issue", "ticket"),
        "tag names": text.replace("Title:", "Summary:").replace("Description:", "Details:"),
        "tag none": text.replace("Title: ", "").replace("Description: ", ""),
    }


# -- texts and weights -------------------------------------------------------------------------------

_PERTURBATIONS = (
    "typos_2pct",
    "typos_5pct",
    "typos_10pct",
    "typos_20pct",
    "case_upper",
    "case_lower",
    "random_case",
    "truncate_10pct",
    "truncate_25pct",
    "truncate_50pct",
    "truncate_middle_25pct",
    "truncate_middle_50pct",
    "tech_noise",
    "register_shift_informal",
    "editor_5pct",
    "editor_10pct",
    "permute_3pct",
    "permute_10pct",
)
_NOISE = (0.05, 0.2, 0.3, 0.4, 0.5, 0.6)
_KINDS = ("Q4_0", "Q5_0")
_FACTORS = (0.5, 0.7, 1.4, 2.0)


def _texts() -> Iterator[Changed]:
    for name in _PERTURBATIONS:
        yield Changed(name=name, kind="text", perturbation=name)


def _weights() -> Iterator[Changed]:
    for number, sigma in enumerate(_NOISE):
        for seed in (1, 2):
            yield Changed(name=f"noise {sigma} {seed}", kind="weights", weights=_noise(sigma, 10 * number + seed))
    for name in _KINDS:
        yield Changed(name=name, kind="weights", weights=_coarser(GGMLQuantizationType[name]))


def _temperatures() -> Iterator[Changed]:
    """The last norm scales the logits."""
    for factor in _FACTORS:

        def scaled(name: str, values: Values, factor: float = factor) -> Values:
            return values * np.float32(factor) if name == "output_norm.weight" else values

        yield Changed(name=f"logits times {factor}", kind="temperature", weights=scaled)


def _noise(sigma: float, seed: int) -> Callable[[str, Values], Values]:
    def noisy(name: str, values: Values) -> Values:
        random = np.random.default_rng([seed, *name.encode()])
        noise = random.normal(0, sigma * float(values.std()), values.shape).astype(np.float32)
        return values + noise if values.ndim > 1 else values

    return noisy


def _coarser(kind: GGMLQuantizationType) -> Callable[[str, Values], Values]:
    return lambda _, values: dequantize(quantize(values, kind), kind) if values.ndim > 1 else values


def _rewritten(change: Callable[[str, Values], Values], path: Path) -> Path:
    """A copy of the bundled file with changed tensors in their old places and types."""
    shutil.copyfile(MODEL, path)
    with path.open("r+b") as file:
        for tensor in GGUFReader(MODEL).tensors:
            values = dequantize(tensor.data, tensor.tensor_type).astype(np.float32)
            stored = quantize(change(tensor.name, values), tensor.tensor_type)
            file.seek(tensor.data_offset)
            file.write(stored.tobytes())
    return path
