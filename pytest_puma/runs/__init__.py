"""Runs that already happened: their folder, their record, their index, names and comparison."""
