"""The pytest side: options, collection, items, workers, and the report of a run. `plugin.py` forwards to it."""
