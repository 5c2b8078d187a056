"""Persistent results: the run folder, the record of a run as JSON, and the throughput of each model."""
