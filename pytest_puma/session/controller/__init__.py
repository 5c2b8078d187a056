"""The process that judges the run, stores it and writes the reports."""
