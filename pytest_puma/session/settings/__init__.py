"""Options, ini keys and hooks of a run as `Settings`."""
