"""Simulations that validate the statistics, and a timing of the assessment; run by hand."""
