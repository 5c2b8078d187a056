"""Benchmarks and CI gates for local LLMs, as plain pytest.

`Scenario` is the contract of a task of your own, `FileScenario` the one to inherit when its rows lie
in a file; `hookimpl`-free projects need nothing else. Importing this package loads no numerical library.
"""

from pytest_puma.core import Answer, Conversation, Outcome, Scenario, ask, ask_all
from pytest_puma.scenarios.file import FileScenario

__version__ = "0.1.0"

__all__ = ["Answer", "Conversation", "FileScenario", "Outcome", "Scenario", "ask", "ask_all"]
