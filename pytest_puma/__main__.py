"""`python -m pytest_puma`: the command `pytest-puma`."""

import sys

from pytest_puma.cli import main

if __name__ == "__main__":
    sys.exit(main())
