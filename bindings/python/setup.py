# SPDX-License-Identifier: Apache-2.0
"""Only says what the wheel is for: any Python 3, on machines like the one that its library was built on."""

from setuptools import Distribution, setup
from wheel.bdist_wheel import bdist_wheel


class WithLibrary(Distribution):
    def has_ext_modules(self):
        return True


class Wheel(bdist_wheel):
    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


setup(cmdclass={"bdist_wheel": Wheel}, distclass=WithLibrary)
