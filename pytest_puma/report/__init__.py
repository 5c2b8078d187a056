"""What people and machines get to read of a run. One file a format; each receives outcomes and nothing else."""
