"""Statistics: pure functions of arrays, independent of predictions and gates."""

from pytest_puma.core import LEVEL
from pytest_puma.stats.intervals import (
    Interval,
    change_interval,
    difference_interval,
    effective_wilson,
    expanded_percentile_interval,
    mean_interval,
    percentile_interval,
    rare_bounds,
    wilson,
)
from pytest_puma.stats.power import detectable, samples_to_decide
from pytest_puma.stats.resampling import (
    RESAMPLES,
    Resamples,
    Units,
    components,
    group_sums,
    resampling_weights,
    share_units,
)
from pytest_puma.stats.significance import (
    change_p,
    cliffs_delta,
    holm,
    mcnemar,
    min_p_value,
    rank_biserial,
    sign_flips,
    signed_rank,
)

__all__ = [
    "LEVEL",
    "RESAMPLES",
    "Interval",
    "Resamples",
    "Units",
    "change_interval",
    "change_p",
    "cliffs_delta",
    "components",
    "detectable",
    "difference_interval",
    "effective_wilson",
    "expanded_percentile_interval",
    "group_sums",
    "holm",
    "mcnemar",
    "mean_interval",
    "min_p_value",
    "percentile_interval",
    "rank_biserial",
    "rare_bounds",
    "resampling_weights",
    "samples_to_decide",
    "share_units",
    "sign_flips",
    "signed_rank",
    "wilson",
]
