"""What follows from the answers: verdicts, gates across cells, contrasts, robustness, early stops, naive baselines."""
