import os

# Tests start Python thousands of times. Without its cache, pytest compiles the plugin each time, for a second or two;
# and a run with other settings than the tests cannot be forked from a process with its imports done, see `tests.warm`.
for name in ("PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED"):
    os.environ.pop(name, None)
