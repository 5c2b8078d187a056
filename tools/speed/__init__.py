"""The speed bench: how fast the engine is beside what a user would pick instead, and beside the physical limit."""
