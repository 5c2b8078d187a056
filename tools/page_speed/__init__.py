"""How fast the HTML report of a large run is written, opened, filtered and searched; by hand, on an idle machine."""
