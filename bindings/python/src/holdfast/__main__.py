# SPDX-License-Identifier: Apache-2.0
"""The command-line tool: ``python -m holdfast run ...`` is ``holdfast run ...``."""

from __future__ import annotations

import os
import sys
from pathlib import Path

_INTERNAL_ERROR = 70  # as the tool has it: 1 would mean that the lock is taken


def main() -> None:
    """Becomes the tool that the package brings; the process is the same. Without one, exit code 70 and what is missing."""
    tool = Path(__file__).with_name("holdfast-tool")
    try:
        os.execv(tool, ["holdfast", *sys.argv[1:]])
    except OSError as error:
        print(f"holdfast: this package has no tool that could be run: {tool}: {error.strerror}", file=sys.stderr)
        sys.exit(_INTERNAL_ERROR)


if __name__ == "__main__":
    main()
