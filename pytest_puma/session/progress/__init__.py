"""The line of progress, of one process or of several workers."""
