"""Statistics: pure functions of arrays, independent of predictions and gates."""
