"""Interrupts of a run."""
