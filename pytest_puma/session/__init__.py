"""All that knows pytest: from its hooks to items, workers, reports and the end of a run. `plugin.py` forwards to it."""
