"""Kinds of tasks, one module each: which answers are valid, how wrong an answer is, and which metrics apply."""
