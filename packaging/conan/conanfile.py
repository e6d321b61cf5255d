# SPDX-License-Identifier: Apache-2.0
"""The library for Conan 2, from the sources that this file lies in: conan create packaging/conan --build=missing.
With -o holdfast/*:tool=True also the command-line tool."""
import pathlib
import re
import shutil

from conan import ConanFile
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout

SOURCES = ("CMakeLists.txt", "CMakePresets.json", "LICENSE", "COPYRIGHT", "README.md", "CHANGELOG.md", "SECURITY.md",
           "include", "src", "cmake", "docs", "examples", "ops", "completions", "tests/sim/model")


class Holdfast(ConanFile):
    name = "holdfast"
    description = "Distributed locks on Redis and Valkey, wire-compatible with Redisson"
    license = "Apache-2.0"
    topics = ("lock", "redis", "valkey", "redisson")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False], "fPIC": [True, False], "tool": [True, False]}
    default_options = {"shared": False, "fPIC": True, "tool": False, "boost/*:header_only": True}

    @property
    def top(self):
        return pathlib.Path(self.recipe_folder).parents[1]

    def set_version(self):
        header = (self.top / "include" / "holdfast" / "version.hpp").read_text()
        self.version = re.search(r'VERSION_STRING "([^"]+)"', header)[1]

    def export_sources(self):
        for name in SOURCES:
            source, target = self.top / name, pathlib.Path(self.export_sources_folder) / name
            if source.is_dir():
                shutil.copytree(source, target, dirs_exist_ok=True)
            else:
                shutil.copy2(source, target)

    def requirements(self):
        # Its headers are in <holdfast/async.hpp>, and in nothing else of the public ones.
        self.requires("boost/[>=1.91 <2]", transitive_headers=True, libs=False)
        self.requires("openssl/[>=3 <4]")
        if self.options.tool:
            self.requires("cli11/[>=2 <3]")
            self.requires("fmt/[>=9]")

    def layout(self):
        cmake_layout(self)

    def generate(self):
        CMakeDeps(self).generate()
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables.update({
            "HOLDFAST_TESTS": False,
            "HOLDFAST_EXAMPLES": False,
            "HOLDFAST_TOOL": bool(self.options.tool),
            "HOLDFAST_UNITY": True,
            "HOLDFAST_BOOST_INCLUDE": self.dependencies["boost"].cpp_info.includedirs[0],
        })
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()

    def package_info(self):
        # The project's own files for CMake and pkg-config are better than any that would be generated.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = ["lib/cmake/holdfast"]
        self.cpp_info.libs = ["holdfast"]
