"""The program `fiedler`."""

from __future__ import annotations

import sys

from ._fiedler import program


def main() -> int:
    """Runs the program with the arguments of this process, and gives its exit code."""
    return program(["fiedler", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
