"""Analysis of answers: verdicts, cross-cell gates, contrasts, robustness, early stopping, naive baselines."""
