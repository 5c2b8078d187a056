"""The phrases of the generator, by product and project, kept as YAML in `phrases/`.

A product's file contains troubles by the priority of their effect, a project's file contains works by story points:

    product: Tidemark                      project: Lanternfish
    parts: [berth map, ...]                parts: [dispatch board, ...]
    issues:                                items:
      Critical:                              3:
        - titles: [...]                        - titles: [...]
          effects: [...]                         whats: [...]
          detail: ...                            detail: ...
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).parent / "phrases"


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """A problem of a product; `titles` and `effects` are wordings of it, `around` is the workaround."""

    titles: tuple[str, ...]
    effects: tuple[str, ...]
    detail: str
    scope: str
    around: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class House:
    """A maker of software, its parts, its users; `asides` fit any text about it."""

    name: str
    parts: tuple[str, ...]
    people: tuple[str, ...]
    asides: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Product(House):
    """A fictitious product, and its troubles by priority.

    `loud`, `calm` and the longer `stories` fit any trouble; `feints` are true for one priority and sound like another.
    """

    versions: tuple[str, ...]
    loud: tuple[str, ...]
    calm: tuple[str, ...]
    stories: tuple[str, ...]
    feints: Mapping[str, tuple[str, ...]]
    logs: tuple[str, ...]
    troubles: Mapping[str, tuple[Trouble, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """A task; `titles` and `whats` are wordings of it, `detail` shows its size."""

    titles: tuple[str, ...]
    whats: tuple[str, ...]
    detail: str
    done: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Project(House):
    """A fictitious project, and its works by story points."""

    works: Mapping[str, tuple[Work, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Phrases:
    """All phrases; `common` are those that fit every text, by kind."""

    products: tuple[Product, ...]
    projects: tuple[Project, ...]
    common: Mapping[str, Any]


def load_phrases(folder: Path = FOLDER) -> Phrases:
    """Load `folder/common.yaml`, and all files of `folder/issues` and `folder/backlog` in the order of their names."""
    return Phrases(
        products=tuple(_product(_read(path)) for path in sorted(folder.glob("issues/*.yaml"))),
        projects=tuple(_project(_read(path)) for path in sorted(folder.glob("backlog/*.yaml"))),
        common=_read(folder / "common.yaml"),
    )


def _read(path: Path) -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return content


def _product(entry: Mapping[str, Any]) -> Product:
    lists = ("parts", "people", "versions", "asides", "loud", "calm", "stories", "logs")
    troubles = {label: tuple(Trouble(**_frozen(each)) for each in group) for label, group in entry["issues"].items()}
    feints = _frozen(entry["feints"])
    return Product(
        name=entry["product"], troubles=troubles, feints=feints, **{name: tuple(entry[name]) for name in lists}
    )


def _project(entry: Mapping[str, Any]) -> Project:
    lists = ("parts", "people", "asides")
    works = {str(points): tuple(Work(**_frozen(each)) for each in group) for points, group in entry["items"].items()}
    return Project(name=entry["project"], works=works, **{name: tuple(entry[name]) for name in lists})


def _frozen(record: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in record.items()}
