"""`python -m agent` is the command `hearth`."""

import sys

from agent.cli import main

if __name__ == "__main__":
    sys.exit(main())
