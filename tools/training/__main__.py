"""`python -m tools.training STEP`: one step of the recipe, or all of them."""

from __future__ import annotations

import argparse
from pathlib import Path

from tools.training import figures, recipe

_STEPS = {
    "generate": recipe.generate,
    "tokenizer": recipe.tokenizer,
    "train": recipe.training,
    "export": recipe.export,
    "evaluate": figures.evaluate,
}


def main() -> None:
    """Parse the command line and run the steps."""
    parser = argparse.ArgumentParser(prog="python -m tools.training", description=recipe.__doc__)
    parser.add_argument("step", choices=[*_STEPS, "all"])
    parser.add_argument("--folder", type=Path, default=Path("build/training"), help="for the files (%(default)s)")
    parser.add_argument("--smoke", action="store_true", help="a useless model in under a minute")
    arguments = parser.parse_args()
    chosen = recipe.SMOKE if arguments.smoke else recipe.FULL
    for name in _STEPS if arguments.step == "all" else [arguments.step]:
        print(f"== {name}")
        _STEPS[name](arguments.folder, chosen)


if __name__ == "__main__":
    main()
