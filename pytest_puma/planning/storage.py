"""Settings of stored answers: those of the response store, and the predictions of runs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from pytest_puma.core import SettingsError
from pytest_puma.errors import check_limits
from pytest_puma.platform.project_folder import responses_of

#: Answers read from the store: `mix` all that are kept, `fresh` none; `off`: there is no store.
StoreMode: TypeAlias = Literal["mix", "fresh", "off"]
MODES: tuple[StoreMode, ...] = get_args(StoreMode)
#: The file, in the folder of the project.
RESPONSES = responses_of(Path())
#: Megabytes of the file beyond which the answers that were used longest ago are removed.
MEGABYTES = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Storage:
    """The mode, the file and the size of the response store, and the number of runs whose predictions stay.

    `offline`: all answers come from the store, and no model is loaded. `prompts`: whether files have the prompts and
    the rows of the samples.
    """

    mode: StoreMode = "mix"
    path: Path = RESPONSES
    megabytes: int = MEGABYTES
    offline: bool = False
    prompts: bool = True
    runs: int = 50

    def __post_init__(self) -> None:
        """Refuse sizes without space, and an offline run that may not read."""
        check_limits({"ini key puma_keep_runs": (self.runs, 1, math.inf)})
        if self.megabytes < 1:
            msg = f"puma_store_mb is {self.megabytes}; expected a whole number of megabytes, at least 1"
            raise SettingsError(msg)
        if self.offline and self.mode != "mix":
            msg = f"--puma-offline and --puma-store={self.mode}: offline, all answers come from the store; expected one"
            raise SettingsError(msg)
