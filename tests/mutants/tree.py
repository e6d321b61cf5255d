# SPDX-License-Identifier: Apache-2.0
"""A copy of the tree in which bugs are planted, and what belongs to it."""
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def sources():
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT,
                            stdout=subprocess.PIPE, check=True).stdout.decode().split("\0")
    return sorted(path for path in listed if path and (ROOT / path).is_file())


def digest(paths):
    """Of all that can change what a test says."""
    whole = hashlib.sha256()
    for path in paths:
        if path.startswith(("docs/", "bench/", "tests/mutants/")):
            continue
        whole.update(path.encode() + b"\0" + (ROOT / path).read_bytes() + b"\0")
    return whole.hexdigest()


def command(*args, cwd, limit):
    done = subprocess.run(args, cwd=cwd, timeout=limit, text=True, errors="replace", stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False)
    return done.returncode, done.stdout


class Copy:
    """With `changed`, some of its files (path: text) are not those of the tree."""

    def __init__(self, place, paths, changed=None):
        self.tree = place / "tree"
        self.paths = paths
        self.changed = changed or {}

    def restore(self):
        """What differs is written anew, with a new time: builds must see that a bug is gone."""
        wanted = set(self.paths)
        for path in self.paths:
            here, there = ROOT / path, self.tree / path
            text = self.changed[path].encode() if path in self.changed else here.read_bytes()
            if there.is_file() and there.read_bytes() == text:
                continue
            there.parent.mkdir(parents=True, exist_ok=True)
            there.write_bytes(text)
            shutil.copymode(here, there)
        for folder, folders, files in os.walk(self.tree):
            if Path(folder) == self.tree:
                folders[:] = [each for each in folders if each != "build"]
            for there in (Path(folder) / file for file in files):
                if str(there.relative_to(self.tree)) not in wanted:
                    there.unlink()

    def prepare(self, *definitions):
        self.restore()
        deps = self.tree / "build" / "deps"
        if not deps.exists():
            deps.parent.mkdir(parents=True, exist_ok=True)
            deps.symlink_to(ROOT / "build" / "deps")
        code, said = command("cmake", "--preset", "release", "-DHOLDFAST_TESTS=ON", "-DHOLDFAST_EXAMPLES=OFF",
                             *definitions, cwd=self.tree, limit=900)
        if code != 0:
            sys.exit(said)

    def build(self, targets, limit):
        """Whether it can be built, and what was said."""
        code, said = command("cmake", "--build", "--preset", "release", "-j", str(os.cpu_count() or 2), "--target",
                             *targets, cwd=self.tree, limit=limit)
        return code == 0, said

    def program(self, suite):
        return self.tree / "build" / "tests" / f"{suite}_tests"
