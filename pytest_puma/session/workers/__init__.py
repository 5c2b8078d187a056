"""pytest-xdist: ids, scheduling, devices and crashes of workers."""
