"""Services of the operating system: files, locks, processes, signals, JSON text. Knows nothing of models."""
