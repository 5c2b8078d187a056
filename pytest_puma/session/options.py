"""The options of the command line and the keys of the ini file, as pytest declares them.

Each lasting option `--puma-NAME` has an ini key `puma_NAME`. What they say is read in `settings`.
"""

from __future__ import annotations

from argparse import ArgumentTypeError
from typing import Any, Literal

import pytest


def _samples(text: str) -> int | str:
    try:
        return text if text == "all" else int(text)
    except ValueError as error:
        msg = f"found {text!r}; expected a whole number, or 'all'"
        raise ArgumentTypeError(msg) from error


OPTIONS: dict[str, dict[str, Any]] = {
    "--puma-model": {
        "action": "append",
        "metavar": "[ALIAS=]MODEL[,KEY=VALUE...]",
        "help": "a GGUF file, its name in a model folder, or hf:owner/repo:pattern; repeatable (default: puma-tiny)",
    },
    "--puma-data": {
        "action": "append",
        "metavar": "SCENARIO=PATH",
        "help": "run a scenario on your own CSV, JSONL or Parquet file; repeatable",
    },
    "--puma-scenario": {"action": "append", "metavar": "NAMES", "help": "only these scenarios (comma-separated)"},
    "--puma-strategy": {
        "action": "append",
        "metavar": "NAMES",
        "help": "these strategies instead of the tests' own (comma-separated); 'all' for the twelve",
    },
    "--puma-perturb": {
        "action": "append",
        "metavar": "NAMES",
        "help": "run each cell under these perturbations too (comma-separated), as typos_5pct; 'all', or 'none'",
    },
    "--puma-samples": {"type": _samples, "metavar": "N", "help": "samples of each scenario, or 'all' (default 50)"},
    "--puma-seed": {"type": int, "metavar": "N", "help": "seed of every random choice (default 42)"},
    "--puma-threads": {
        "type": int,
        "metavar": "N",
        "help": "threads of each process (default: its share of the cores)",
    },
    "--puma-temperature": {"type": float, "metavar": "T", "help": "sampling temperature (default: the strategy's)"},
    "--puma-max-tokens": {"type": int, "metavar": "N", "help": "most tokens of an answer (default: the strategy's)"},
    "--puma-strict": {
        "action": "store_true",
        "default": None,
        "help": "each answer alone: slower, but no other sample and no number of threads can change it",
    },
    "--puma-determinism": {
        "type": int,
        "metavar": "K",
        "help": "ask K samples of each cell once more, each alone, and report how many answers change",
    },
    "--puma-plan": {
        "action": "store_true",
        "default": None,
        "help": "load no weights and run nothing, but tell what the run would take",
    },
    "--puma-gate": {
        "action": "append",
        "metavar": "GATE",
        "help": "'f1_macro >= 0.45' or 'triage_jira: f1_macro >= baseline - 0.02'; repeatable",
    },
    "--puma-update-baseline": {
        "action": "store_true",
        "default": None,
        "help": "what this run measures becomes the baseline of its cells; those of others stay",
    },
    "--puma-stop-early": {
        "action": "store_true",
        "default": None,
        "help": "end each cell at one of a few interim analyses, as soon as its gates are decided",
    },
    "--puma-flips": {
        "action": "store_true",
        "default": None,
        "help": "tell which answers are better or worse than in the baseline",
    },
    "--puma-compare": {
        "action": "append",
        "metavar": "AXIS",
        "help": "a table of paired tests: of cells against the first 'strategy' or 'model', or their 'baseline'",
    },
    "--puma-only-flips": {
        "action": "store_true",
        "default": None,
        "help": "ask only the samples whose answers had turned in the last run, and judge no gates",
    },
    "--puma-report": {
        "action": "append",
        "metavar": "FORMAT:PATH",
        "help": "json:PATH, csv:PATH, md:PATH, or junit-props for the file of --junitxml; repeatable",
    },
    "--puma-prune-baseline": {
        "action": "store_true",
        "default": None,
        "help": "drop the baselines of cells that are no longer among the tests",
    },
}

INI: dict[str, tuple[Any, str]] = {
    "puma_models": ("linelist", "models to run when no --puma-model is given (default: the bundled puma-tiny)"),
    "puma_model_dirs": ("paths", "folders in which a model's bare name is looked up"),
    "puma_data": ("linelist", "SCENARIO=PATH lines: your own data"),
    "puma_perturb": ("linelist", "perturbations to run each cell under, too"),
    "puma_samples": (int | Literal["all"], "samples of each scenario, or 'all'"),
    "puma_seed": ("int", "seed of every random choice"),
    "puma_threads": ("int", "threads of each process"),
    "puma_temperature": ("float", "sampling temperature"),
    "puma_max_tokens": ("int", "most tokens of an answer"),
    "puma_strict": ("bool", "each answer alone, as --puma-strict"),
    "puma_gates": ("linelist", "gates of the whole project"),
    "puma_compare": ("linelist", "axes of the table of paired tests, as --puma-compare"),
    "puma_stop_early": ("bool", "end cells as soon as their gates are decided, as --puma-stop-early"),
    "puma_naive_baselines": ("bool", "whether to show what trivial programs score (default: true)"),
    "puma_baselines": ("string", "folder of the baselines (default: benchmarks/baselines)"),
    "puma_inconclusive": ("string", "where samples are too few to compare: warn, fail, or point: the value decides"),
    "puma_missing_baseline": ("string", "where a gate finds no baseline: warn or fail"),
}


def add_options(parser: pytest.Parser) -> None:
    """Declare them all."""
    group = parser.getgroup("puma", "benchmarks and gates for local language models")
    for name, attributes in OPTIONS.items():
        group.addoption(name, **attributes)
    for name, (kind, text) in INI.items():
        parser.addini(name, text, type=kind, default=None)


def is_asked(config: pytest.Config) -> bool:
    """Whether the command line has an option of ours."""
    return any(getattr(config.option, _attribute(name)) is not None for name in OPTIONS)


def _attribute(option: str) -> str:
    return option.removeprefix("--").replace("-", "_")
