"""Baselines: accepted measures and answers of cells, stored in the repository of the project."""
