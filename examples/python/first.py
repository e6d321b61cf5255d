# SPDX-License-Identifier: Apache-2.0
"""The first lock: python3 first.py redis://127.0.0.1:6379"""

import os
import sys

import holdfast

url = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("HOLDFAST_URL", "redis://127.0.0.1:6379")
with holdfast.connect(url) as client, client.lock("orders:42") as hold:
    for step in range(1, 4):
        hold.raise_if_lost()  # stops here if it may be somebody else's by now
        print(f"step {step} of 3, ours for at least {hold.valid_for:.1f} s")
