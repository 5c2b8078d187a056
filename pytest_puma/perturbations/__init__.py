"""Perturbations: named changes of a sample's texts that should change no answer. A changed answer was a guess.

A name may end in the share of the text that is changed: `typos_5pct`, `typos_20pct`. The changed text depends only on
the seed, the scenario, the sample, the name and the field.
"""

from pytest_puma.perturbations.catalogue import ALL, is_built_in, parse_perturbation
from pytest_puma.perturbations.perturbation import Change, Group, Perturbation, perturb

__all__ = ["ALL", "Change", "Group", "Perturbation", "is_built_in", "parse_perturbation", "perturb"]
