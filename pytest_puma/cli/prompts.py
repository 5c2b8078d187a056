"""`pytest-puma prompts`: bundled templates become files of the project, where they can be changed.

pytest-puma prompts triage_jira --strategy zero_shot,few_shot_3
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from pytest_puma.cli.console import add_command, show
from pytest_puma.cli.project import ini_here, write_new
from pytest_puma.core import SettingsError
from pytest_puma.phrases import there_are

_FOLDER = Path("prompts")


def declare(commands: Any) -> None:
    """Declare the command."""
    text = "Copy the templates of a built-in scenario into prompts/, where the project can change them."
    parser = add_command(commands, "prompts", _prompts, "bundled templates as files to change", description=text)
    parser.add_argument("scenario", metavar="SCENARIO", help="such as triage_jira")
    parser.add_argument("--strategy", metavar="A,B", help="the strategies whose templates are copied (default: all)")


def _prompts(options: argparse.Namespace) -> None:
    # It imports all scenarios.
    from pytest_puma.planning.registry import Registry
    from pytest_puma.strategies.templates import bundled_sources

    ini_here(Path.cwd(), "prompts")
    registry = Registry()
    if options.scenario not in registry.scenarios:
        names = [name for name in registry.scenarios if bundled_sources(_folder_of(registry, name), ["zero_shot"])]
        msg = f"{options.scenario!r} is no built-in scenario; {there_are(options.scenario, names)}"
        raise SettingsError(msg)
    folder = _folder_of(registry, options.scenario)
    strategies = registry.strategy_names((options.strategy or "all").split(","))
    files: dict[Path, str] = {}
    for strategy in map(registry.strategy, strategies):
        sources = bundled_sources(folder, strategy.templates)
        if not sources and options.strategy:
            wanted = _FOLDER / folder / f"{strategy.templates[-1]}.jinja"
            msg = f"{options.scenario}: the package has no template for {strategy.name}; write {wanted}"
            raise SettingsError(msg)
        files |= {_FOLDER / path: source for path, source in sources.items()}
    if not files:
        msg = (
            f"{options.scenario}: its methods word its prompts, so that it has no templates; a file "
            f"{_FOLDER / folder / 'zero_shot.jinja'} would take their place, see docs/reference/composed.md"
        )
        raise SettingsError(msg)
    there = [path for path in files if path.exists()]
    write_new({path: source for path, source in files.items() if path not in there}, "remove it")
    written = [path for path in files if path not in there]
    show(*(f"wrote {path}" for path in written), *(f"{path} exists and stays as it is" for path in there))
    show(
        "Templates here take the place of those in the package. As long as their text is the same, so are the answers",
        "and the baselines. After a change:",
        f"  pytest -k {options.scenario} --puma-compare last    # the same samples with the old and the new prompt",
        "It names the template as changed. The gate no_regression compares with the stored baseline in the same way.",
    )


def _folder_of(registry: Any, scenario: str) -> str:
    """The folder of the templates of a scenario."""
    kind = registry.scenarios[scenario]
    return str(kind.template_folder or scenario)
