"""Time to write, open, filter and search the HTML report of a large run; run by hand, on an idle machine."""
