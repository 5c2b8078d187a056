"""Persistent results: the response store, the run folder and its `run.json`, and readers of answers that exist."""
