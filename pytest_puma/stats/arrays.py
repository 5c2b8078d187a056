"""Types of arrays."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Values: TypeAlias = NDArray[np.float64]
Mask: TypeAlias = NDArray[np.bool_]
Indices: TypeAlias = NDArray[np.intp]
#: How often each row occurs in each resample: resamples x rows.
Counts: TypeAlias = NDArray[np.integer]
Weights: TypeAlias = Values
