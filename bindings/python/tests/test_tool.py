# SPDX-License-Identifier: Apache-2.0
"""`python -m holdfast` is the tool, if the package has it."""
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import holdfast

PACKAGE = Path(holdfast.__file__).parent
has_tool = pytest.mark.skipif(not (PACKAGE / "holdfast-tool").exists(), reason="this package has no tool")


def module(*arguments, **options):
    return subprocess.run([sys.executable, "-B", "-m", "holdfast", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, timeout=60, check=False, **options)


@has_tool
def test_it_says_its_version():
    assert module("--version").stdout == f"holdfast {holdfast.__version__}\n"


@has_tool
def test_it_runs_a_command_under_a_lock_and_ends_as_that_does(server):
    ran = module("run", "job", "--url", server.url, "--", "sh", "-c", "echo $HOLDFAST_NAME; exit 7")
    assert (ran.returncode, ran.stderr) == (7, "")
    assert server.keys() == []


@has_tool
def test_it_is_the_same_process(server):
    """So that a signal reaches it, and no Python stays behind."""
    started = subprocess.Popen([sys.executable, "-B", "-m", "holdfast", "run", "job", "--url", server.url, "--", "sh", "-c",
                                "echo $PPID"], stdout=subprocess.PIPE, text=True)
    assert started.communicate(timeout=60)[0] == f"{started.pid}\n"


def test_a_package_without_it_says_what_is_missing(tmp_path):
    shutil.copytree(PACKAGE, tmp_path / "holdfast", ignore=shutil.ignore_patterns("holdfast-tool", "__pycache__"))
    ran = module("--version", cwd=tmp_path, env={"PYTHONPATH": str(tmp_path)})
    assert ran.returncode == 70
    assert ran.stderr == f"holdfast: this package has no tool that could be run: {tmp_path}/holdfast/holdfast-tool: No such file or directory\n"
