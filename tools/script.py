# SPDX-License-Identifier: Apache-2.0
"""For the tests of the tools that have no ending and so cannot be imported by their names."""
import importlib.machinery
import importlib.util
import pathlib


def script(name):
    """tools/NAME as a module."""
    loader = importlib.machinery.SourceFileLoader(name, str(pathlib.Path(__file__).resolve().parent / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module
