"""Reports of a run for people and machines. One file per format; its input is a `Run` or an `Outcome` alone."""
