"""Base classes for benchmarks that were written for other systems. No other room imports them."""
