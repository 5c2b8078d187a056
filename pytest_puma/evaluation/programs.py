"""The programs of metrics, run in rounds: the first ones of all conversations together, then their next ones."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from types import GeneratorType
from typing import Any

from pytest_puma.core import MetricError, NotRunError, Program, Ran, Sample, Sandbox
from pytest_puma.core.programming_language import LANGUAGES, PYTHON
from pytest_puma.phrases import shown

#: A line that imports a library, in Java, Perl and Rust.
_IMPORT = re.compile(r"^(?:import|use) [^;\n]+;$", re.MULTILINE)


def run_programs(
    conversations: Sequence[GeneratorType[Any, Any, Any]], sandbox: Sandbox
) -> dict[GeneratorType[Any, Any, Any], list[tuple[Program, Ran]]]:
    """Run the programs that conversations yield until each ends; return those of each with what happened.

    Several metrics need the same program, and several trials may write it: it is run once.
    """
    ran: dict[Program, Ran] = {}
    asked: dict[GeneratorType[Any, Any, Any], list[tuple[Program, Ran]]] = {it: [] for it in conversations}
    open_ = {conversation: _next(conversation, None) for conversation in conversations}
    while waiting := {conversation: program for conversation, program in open_.items() if program is not None}:
        programs = [program for program in dict.fromkeys(waiting.values()) if program not in ran]
        ran.update(zip(programs, sandbox.run(programs), strict=True))
        for conversation, program in waiting.items():
            asked[conversation].append((program, ran[program]))
        open_ = {conversation: _next(conversation, ran[program]) for conversation, program in waiting.items()}
    return asked


def signature_of(
    ran: Mapping[GeneratorType[Any, Any, Any], Sequence[tuple[Program, Ran]]], sandbox: Sandbox
) -> dict[str, Any]:
    """Return the signature of a sandbox, with the versions of the compilers that programs needed."""
    languages = {program.language for asked in ran.values() for program, _ in asked} - {PYTHON}
    return {**sandbox.signature, **({"languages": dict(sandbox.versions(languages))} if languages else {})}


def check_languages(cell: str, samples: Iterable[Sample], sandbox: Sandbox) -> None:
    """Raise a `NotRunError` if the sandbox cannot run a program of a sample's language: one that does nothing.

    It imports what those of the samples import: compilers are on the PATH without the libraries of a benchmark.
    """
    imports: dict[str, dict[str, None]] = {}
    for sample in samples:
        if language := sample.context.get("programming_language"):
            text = "\n".join(value for value in sample.context.values() if isinstance(value, str))
            imports.setdefault(language, {}).update(dict.fromkeys(_IMPORT.findall(text)))
    programs = [
        Program(text="\n".join((*lines, LANGUAGES[language].empty)), language=language)
        for language, lines in imports.items()
    ]
    try:
        failed = [ran for ran in sandbox.run(programs) if not ran.passed] if programs else []
    except NotRunError as error:
        msg = f"{cell}: {error}"
        raise NotRunError(msg) from error
    if failed:
        output = shown(failed[0].output)
        msg = f"{cell}: the sandbox cannot run an empty program with the imports of its samples: {output}"
        raise NotRunError(msg)


def _next(conversation: GeneratorType[Any, Any, Any], ran: Ran | None) -> Program | None:
    """The next program of a conversation; None at its end."""
    try:
        program = conversation.send(ran)
    except StopIteration:
        return None
    if not isinstance(program, Program):
        msg = f"the function {conversation.__name__} yields {shown(program)}; expected a Program(text=...)"
        raise MetricError(msg)
    return program
