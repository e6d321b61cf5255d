# SPDX-License-Identifier: Apache-2.0
"""The scenarios, by letter. Each has run(bench), which measures and leaves its rounds in the bench."""

from scenarios import a, b, c, d, e, f, g, h

ALL = {"a": a, "b": b, "c": c, "d": d, "e": e, "f": f, "g": g, "h": h}
