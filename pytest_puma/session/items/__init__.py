"""Items of pytest: collection, evaluation of a cell, failures, forecast."""
