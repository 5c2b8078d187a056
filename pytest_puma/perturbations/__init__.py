"""Perturbations: named changes of a sample's texts that should change no answer. What a model then changes, it guessed.

A name ends in the share that is changed where there is one: `typos_5pct`, `typos_20pct`. What becomes of a text depends
on nothing but the seed, the scenario, the sample, the name and the field.
"""

from pytest_puma.perturbations.catalogue import ALL, is_built_in, parse_perturbation
from pytest_puma.perturbations.perturbation import Change, Group, Perturbation, perturb

__all__ = ["ALL", "Change", "Group", "Perturbation", "is_built_in", "parse_perturbation", "perturb"]
