"""Whether the statistics are right, and how long they take: by simulation and by the clock, run by hand."""
