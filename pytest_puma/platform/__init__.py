"""What the operating system offers: files, locks, processes, signals, JSON text. Knows nothing of models."""
