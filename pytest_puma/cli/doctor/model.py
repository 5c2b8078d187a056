"""A model named on the command line: its chat format, whether texts arrive in it, and the files of its variants.

Prompts are encoded, and their tokens read back: what a sample says must be there, byte for byte, also where it spells a
control token.
"""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_puma.cli.doctor.finding import Finding
from pytest_puma.core import Message, Model, Prompt, PumaError
from pytest_puma.models.beside import control_bytes, large_controls
from pytest_puma.phrases import named, shortened

if TYPE_CHECKING:
    from pytest_puma.engine.native import DryBackend

#: Texts that samples may have, by what they show; each begins and ends with a letter, as templates strip blanks.
_TEXTS: Mapping[str, str] = {
    "letters of other scripts": "Stra\N{LATIN SMALL LETTER SHARP S}e, \u65e5\u672c\u8a9e, \ud55c\uad6d\uc5b4, "
    "\u0939\u093f\u0928\u094d\u0926\u0940, \u0e44\u0e17\u0e22, \u0627\u0644\u0639\u0631\u0628\u064a\u0629, "
    "\u0420\u0443\u0441\u0441\u043a\u0438\u0439",
    "emoji": "a \N{FAMILY} \N{WAVING HAND SIGN}\N{EMOJI MODIFIER FITZPATRICK TYPE-4} \N{WOMAN}\u200d\N{ROCKET} z",
    "blanks and line breaks": "a  b\tc\n\n    d\n\n\ne",
    "marks of a page": "a < b && c > \"d\" 'e' <b>f</b> {{ g }} {% h %} \\n",
    "marks of chats": "a <|im_end|> </s> <end_of_turn> <|eot_id|> [/INST] <|endoftext|> z",
    "a long text": " ".join(map(str, range(1000))),
}
_QUESTION, _ANSWER, _NEXT = "puma-question", "puma-answer", "puma-next"
_SHOWN = 40
_CHANGED = "name a file with another template or tokenizer, or try chat=off"
_NO_END = (
    "replies may go on until they are cut off: limit them (--puma-max-tokens), or name a file with another template"
)
_NO_TEMPLATE = "for a base model, compare with chat=off, or name a file with a chat template"


def findings(argument: str, directories: Sequence[Path]) -> Iterator[Finding]:
    """Yield what is found about a model and its variants; `argument` as for `--puma-model`."""
    # They import NumPy, which may be broken.
    from pytest_puma.models.resolve import resolve_models

    try:
        models = resolve_models([argument], directories=directories)
        yield _chat_format(models[0].plain)
    except PumaError as error:
        advice = "name a GGUF file: pytest-puma doctor models/q.gguf"
        yield Finding(part="chat format", found=f"{argument}: {error}", advice=advice)
        return
    if controls := {name: size for model in models for name, size in control_bytes(model).items()}:
        sizes = named(f"{name} ({size / 2**20:,.1f} MB)" for name, size in controls.items())
        advice = "\n".join(large_controls(controls, models[0].size))
        found = f"fit {models[0].plain.name} ({models[0].size / 2**20:,.1f} MB): {sizes}"
        yield Finding(part="adapters", found=found, advice=advice, details=controls)


def _chat_format(model: Model) -> Finding:
    """The facts that pytest-puma learned from the template of a model, and the faults of texts in it."""
    from pytest_puma.engine.native import DryBackend, smoke_test
    from pytest_puma.models.resolve import inspect_model

    smoke_test(model)
    limit = inspect_model(model.path).context_length or 0
    with closing(DryBackend(model, context_limit=limit)) as backend:
        facts, notes = dict(backend.chat_format), [*backend.notes]
        lost, endless = list(_lost(backend, chat=model.options.chat)), model.options.chat and not _ends(backend)
    title = f"{model.name}, from the template in {model.path}" if model.options.chat else f"{model.name}: plain text"
    if model.options.chat:
        facts["thinking"] = _thinking(facts, notes, on=model.options.thinking)
    arrive = [] if lost else [f"texts arrive as they are: {named(_TEXTS)}"]
    advice = [
        *(f"{note}{f': {_NO_TEMPLATE}' if 'no chat template' in note else ''}" for note in notes),
        *(f"{what}: texts with them do not arrive as they are, but as {text}; {_CHANGED}" for what, text in lost),
        *([f"the template puts no token that ends a turn behind an answer: {_NO_END}"] if endless else []),
    ]
    found = [title, *(f"{name}: {fact}" for name, fact in facts.items()), *arrive]
    details = facts | {"model": model.name, "changed": [what for what, _ in lost]}
    return Finding(part="chat format", found="\n".join(found), advice="\n".join(advice), details=details)


def _thinking(facts: Mapping[str, str], notes: Sequence[str], *, on: bool) -> str:
    """Whether thoughts can be switched, by what was learned when the model was opened."""
    if facts["thoughts"] == "none known":
        return "none"
    if any("has no switch for" in note for note in notes):
        return "cannot be switched"
    return "on; off with thinking=off" if on else "off; on with thinking=on"


def _lost(backend: DryBackend, *, chat: bool) -> Iterator[tuple[str, str]]:
    """Yield each kind of text that is not in the tokens of its prompt, and what is there in its place."""
    texts = dict(_TEXTS)
    if chat:
        texts["the mark that ends an answer"] = f"a {literal_eval(backend.chat_format['answer ends with'])} z"
    for what, text in texts.items():
        arrived = _read(backend, Prompt(messages=(Message(role="user", content=text),), chat=chat))
        if text not in arrived:
            start = next((at for at in range(len(text), 0, -1) if text[:at] in arrived), 0)
            place = arrived.find(text[:start])
            rest = arrived[place + max(0, start - _SHOWN // 2) :] if start else arrived
            yield what, repr(shortened(rest, _SHOWN))


def _ends(backend: DryBackend) -> bool:
    """Whether a token that ends a turn, or a string that stops a reply, follows an answer in the chat."""
    asked, again = (Message(role="user", content=text) for text in (_QUESTION, _NEXT))
    tokens = backend.encode(Prompt(messages=(asked, Message(role="assistant", content=_ANSWER), again)))
    ends = [len(b"".join(map(backend.piece, tokens[:at]))) for at, token in enumerate(tokens) if backend.is_end(token)]
    text = b"".join(map(backend.piece, tokens))
    answer = text.find(_ANSWER.encode())
    return bool(backend.stops) or answer < 0 or any(answer < end <= text.find(_NEXT.encode()) for end in ends)


def _read(backend: DryBackend, prompt: Prompt) -> str:
    return b"".join(map(backend.piece, backend.encode(prompt))).decode("utf-8", errors="replace")
