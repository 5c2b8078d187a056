"""The options of the command line and the keys of the ini file: their declaration, and their raw values.

Each lasting option `--puma-NAME` has an ini key `puma_NAME`. `values` makes records of their values.
"""

from __future__ import annotations

import re
from argparse import ArgumentTypeError
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import pytest

from pytest_puma.errors import SettingsError

#: The beginning of our options, and ini keys that are meant as ours.
_OPTION = "--puma"
#: Minimum similarity of a misspelt name: all names begin alike.
_SIMILARITY = 0.8
_OURS = re.compile(r"puma([-_.].*)?", re.IGNORECASE)


def _samples(text: str) -> int | str:
    try:
        return text if text == "all" else int(text)
    except ValueError as error:
        msg = f"found {text!r}; expected a whole number, or 'all'"
        raise ArgumentTypeError(msg) from error


def _one(metavar: str, text: str, kind: Callable[[str], Any] = str) -> dict[str, Any]:
    """Declare an option with one value."""
    return {"metavar": metavar, "help": text, "type": kind}


def _several(metavar: str, text: str) -> dict[str, Any]:
    """Declare an option that may be repeated."""
    return {"metavar": metavar, "help": text, "action": "append"}


def _flag(text: str) -> dict[str, Any]:
    """Declare an option without a value."""
    return {"help": text, "action": "store_true", "default": None}


OPTIONS: dict[str, dict[str, Any]] = {
    "--puma-model": _several(
        "[ALIAS=]MODEL[,KEY=VALUE...]",
        "a GGUF file, its name in a model folder, hf:owner/repo:pattern, or recorded:NAME=answers.jsonl (a "
        "file of answers); repeatable (default: puma-tiny)",
    ),
    "--puma-judge": _several(
        "[ALIAS=]MODEL[,KEY=VALUE...]",
        "a second model, named as for --puma-model, that metrics ask about each reply; repeatable: the majority counts",
    ),
    "--puma-data": _several("SCENARIO=PATH", "run a scenario on your own CSV, JSONL or Parquet file; repeatable"),
    "--puma-scenario": _several("NAMES", "only these scenarios (comma-separated)"),
    "--puma-strategy": _several(
        "NAMES", "strategies instead of those of the tests (comma-separated); 'all' for all twelve"
    ),
    "--puma-perturb": _several(
        "NAMES", "also run each cell under these perturbations (comma-separated), such as typos_5pct; 'all' or 'none'"
    ),
    "--puma-samples": _one("N", "samples of each scenario, or 'all' (default 50)", _samples),
    "--puma-repeats": _one("N", "ask each sample N times, at a temperature above 0 (default 1)", int),
    "--puma-retries": _one("N", "ask a trial up to N times more if its reply has no valid answer (default 0)", int),
    "--puma-prompt-suffix": _one("TEXT", "append this text to the user's message in each prompt, such as ' /no_think'"),
    "--puma-subject": _several(
        "PATTERNS", "only samples of these groups (comma-separated), as law,med*; for scenarios with group columns"
    ),
    "--puma-seed": _one("N", "seed of every random choice (default 42)", int),
    "--puma-threads": _one("N", "threads of each process (default: its share of the cores)", int),
    "--puma-temperature": _one("T", "sampling temperature (default: that of the strategy)", float),
    "--puma-max-tokens": _one("N", "maximum number of tokens of a reply (default: that of the strategy)", int),
    "--puma-strict": _flag(
        "run each sample alone: slower, but its answer depends on no other sample and no number of threads"
    ),
    "--puma-determinism": _one("K", "re-run K samples of each cell alone, and report how many answers change", int),
    "--puma-energy": _flag("measure the joules of the answers by the counters of this machine, if they are readable"),
    "--puma-plan": _flag("run nothing and load no weights; show the predicted cost of the run"),
    "--puma-gate": _several("GATE", "'f1_macro >= 0.45' or 'triage_jira: f1_macro >= baseline - 0.02'; repeatable"),
    "--puma-update-baseline": _flag("store the results of this run as the baseline of its cells; other baselines stay"),
    "--puma-stop-early": _flag("stop each cell at one of a few interim analyses, as soon as its gates are decided"),
    "--puma-flips": _flag("show the answers that are better or worse than in the baseline"),
    "--puma-compare": _several(
        "AXIS",
        "show paired tests of cells against the first 'strategy' or 'model', their 'baseline', the 'last' run, "
        "or 'run:RUN' (its number, name, commit or branch)",
    ),
    "--puma-shard": _one("I/N", "compute part I of N of the run, for pytest-puma store merge, and judge no gates"),
    "--puma-cluster": _one("ADDRESS", "compute on a Dask cluster: the address of its scheduler, or local:N processes"),
    "--puma-only-flips": _flag("run only the samples with flips in the last run, and judge no gates"),
    "--puma-rescore": _one(
        "RUN",
        "load no model: measure and judge the answers of an earlier run again ('last', its number, name, "
        "folder, commit or branch)",
    ),
    "--puma-store": _one(
        "MODE", "which kept answers are read: mix (all, default), fresh (none), or off (no answers are kept either)"
    ),
    "--puma-offline": _flag("load no model: take all answers from the response store"),
    "--puma-run-code": {
        **_one("MODE", "run programs that a model wrote, in a sandbox; =unconfined: without one"),
        "nargs": "?",
        "const": "sandbox",
    },
    "--puma-report": _several(
        "FORMAT:PATH",
        "write a report, such as html:PATH, md:PATH or json:PATH (an unknown format lists all); repeatable",
    ),
    "--puma-prune-baseline": _flag("remove the baselines of cells that no test runs any more"),
}

#: Options whose ini key has the same name.
_LASTING = (
    *("judge", "data", "perturb", "samples", "repeats", "retries"),
    *("seed", "threads", "temperature", "strict", "store", "compare", "energy"),
)
INI_KEYS = {
    "--puma-model": "puma_models",
    "--puma-subject": "puma_subjects",
    "--puma-gate": "puma_gates",
    "--puma-max-tokens": "puma_max_tokens",
    "--puma-prompt-suffix": "puma_prompt_suffix",
    "--puma-stop-early": "puma_stop_early",
    **{f"--puma-{name}": f"puma_{name}" for name in _LASTING},
}
#: The types of ini keys, by the actions and types of options.
_INI_TYPES: dict[Any, Any] = {
    "append": "linelist",
    "store_true": "bool",
    str: "string",
    int: "int",
    float: "float",
    _samples: int | Literal["all"],
}
INI: dict[str, tuple[Any, str]] = {
    **{
        key: (_INI_TYPES[OPTIONS[name].get("action") or OPTIONS[name]["type"]], f"as {name}, for every run")
        for name, key in INI_KEYS.items()
    },
    "puma_model_dirs": ("paths", "folders in which to search for a model by name"),
    "puma_store_path": ("string", "file of the response store (default: .puma/responses.sqlite)"),
    "puma_store_mb": ("int", "size of the response store beyond which old answers are removed (default: 1024)"),
    "puma_naive_baselines": ("bool", "whether to show the scores of naive baselines (default: true)"),
    "puma_keep_prompts": ("bool", "whether files have the prompts and the rows of the samples (default: true)"),
    "puma_keep_runs": ("int", "number of runs whose predictions stay in .puma (default: 50)"),
    "puma_grid_g_per_kwh": ("float", "grams of CO2 for a kilowatt-hour; measures of energy then show theirs"),
    "puma_report_mb": ("float", "maximum megabytes of an HTML report; texts are left out to keep it (default: 10)"),
    "puma_step_seconds": ("float", "seconds after which a step on a cluster counts as lost (default: 600)"),
    "puma_report_texts": ("string", "whether HTML reports show prompts and replies: all (default) or none"),
    "puma_baselines": ("string", "folder of the baselines (default: benchmarks/baselines)"),
    "puma_inconclusive": ("string", "effect of an inconclusive comparison: warn, fail, or point (the value decides)"),
    "puma_judge_agreement": ("string", "gates on a judge without labels of people: remarked (default) or required"),
    "puma_missing_baseline": ("string", "effect of a missing baseline: warn or fail"),
}


def add_options(parser: pytest.Parser) -> None:
    """Declare all options and ini keys."""
    group = parser.getgroup("puma", "benchmarks and gates for local language models")
    for name, attributes in OPTIONS.items():
        group.addoption(name, **attributes)
    for name, (kind, text) in INI.items():
        parser.addini(name, text, type=kind, default=None)


def check_ini_keys(config: pytest.Config) -> None:
    """Refuse an unknown ini key of ours, for which pytest only has a warning: a misspelt gate would be none.

    A key that another plugin declares is known. A table of TOML that is none of pytest's, as `tool.pytest.ini_option`,
    is an unknown key, too.
    """
    # Nothing public lists the keys.
    unknown = {key: config._inicfg[key] for key in sorted(config._get_unknown_ini_keys())}  # noqa: SLF001
    for key, entry in unknown.items():
        where = "-o" if entry.origin == "override" else config.inipath
        inside = [name for name in entry.value if _OURS.fullmatch(name)] if isinstance(entry.value, dict) else []
        if inside:
            fault = f"the table {key!r} is none of pytest's, so that {inside[0]} in it has no effect"
            msg = f"puma: {where}: {fault}; expected [tool.pytest]"
            raise pytest.UsageError(msg)
        if _OURS.fullmatch(key):
            from pytest_puma.phrases import there_are

            known = there_are(key.lower(), INI, similarity=_SIMILARITY)
            msg = f"puma: {where}: the ini key {key!r} is unknown; {known}"
            raise pytest.UsageError(msg)


def check_options(parser: pytest.Parser, args: Sequence[str]) -> None:
    """Refuse an unknown option of ours with the nearest one, which argparse does not name.

    An option that another plugin or a `conftest.py` declares is known.
    """
    names = {name for argument in args if (name := argument.partition("=")[0]).startswith(_OPTION)}
    if names <= OPTIONS.keys():
        return
    _, rest = parser.parse_known_and_unknown_args(args)
    unknown = [name for argument in rest if (name := argument.partition("=")[0]).startswith(_OPTION)]
    if unknown:
        from pytest_puma.phrases import there_are

        msg = f"puma: {unknown[0]}: no such option; {there_are(unknown[0], OPTIONS, similarity=_SIMILARITY)}"
        raise pytest.UsageError(msg)


@dataclass(frozen=True, slots=True)
class OptionSource:
    """One of the two sources of options: the command line, or the ini file."""

    config: pytest.Config
    is_ini: bool = False

    def name(self, option: str) -> str:
        """Return the option, or its ini key, for errors."""
        return f"ini key {INI_KEYS[option]}" if self.is_ini and option in INI_KEYS else option

    def value(self, option: str) -> Any:
        """Return the value of an option; None if it is unset."""
        if not self.is_ini:
            return getattr(self.config.option, option.removeprefix("--").replace("-", "_"))
        return self.config.getini(INI_KEYS[option]) if option in INI_KEYS else None

    def names(self, option: str) -> tuple[str, ...]:
        """Return the names in the value of an option, as `names`."""
        return names(self.name(option), self.value(option))


def stated(config: pytest.Config, option: str) -> tuple[str, Any]:
    """Return the name and the value of an option in the source that wins, as in `OptionSource`."""
    command, ini = OptionSource(config), OptionSource(config, is_ini=True)
    source = ini if command.value(option) is None else command
    return source.name(option), source.value(option)


def has_options(config: pytest.Config) -> bool:
    """Whether the command line has an option of pytest-puma."""
    return any(OptionSource(config).value(name) is not None for name in OPTIONS)


def names(option: str, arguments: Iterable[str] | None) -> tuple[str, ...]:
    """Split `a,b` and repeated options into names; an empty name is an error."""
    parts = tuple(dict.fromkeys(name.strip() for argument in arguments or () for name in argument.split(",")))
    if "" in parts:
        msg = f"{option} {', '.join(arguments or ())!r}: found an empty name; expected names separated by commas"
        raise SettingsError(msg)
    return parts
