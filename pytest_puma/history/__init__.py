"""The runs that already happened: an index of them, their names, their comparison, and the trend of a metric."""
