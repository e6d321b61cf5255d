"""Of tools/knots: what a component is, and what is a knot of them."""
import importlib.machinery
import importlib.util
import pathlib
import unittest

FOLDER = pathlib.Path(__file__).resolve().parent
LOADER = importlib.machinery.SourceFileLoader("knots", str(FOLDER / "knots"))
knots = importlib.util.module_from_spec(importlib.util.spec_from_loader("knots", LOADER))
LOADER.exec_module(knots)


def includes(edges):
    """Of `a>b` for each include."""
    return [(*edge.split(">"), "file:1") for edge in edges.split()]


class Includes(unittest.TestCase):
    def read(self, sources):
        return list(knots.includes_of(sources))

    def test_a_header_and_its_source_are_one_component(self):
        self.assertEqual(self.read({"src/a/x.hpp": "", "src/a/x.cpp": '#include "a/x.hpp"\n'}), [])

    def test_each_is_found_with_its_line_whatever_its_brackets(self):
        self.assertEqual(self.read({"include/holdfast/x.hpp": "", "src/a/y.hpp": "",
                                    "src/a/z.cpp": '// z\n#include <holdfast/x.hpp>\n # include "a/y.hpp"\n'}),
                         [("a/z", "holdfast/x", "src/a/z.cpp:2"), ("a/z", "a/y", "src/a/z.cpp:3")])

    def test_what_is_not_ours_does_not_count(self):
        self.assertEqual(self.read({"src/a/z.cpp": '#include <vector>\n// #include "a/y.hpp"\n', "src/a/y.hpp": ""}), [])


class Knots(unittest.TestCase):
    def knots(self, edges):
        return knots.knots_of(includes(edges))

    def test_one_direction_is_none(self):
        self.assertEqual(self.knots("a>b a>c b>c c>d"), [])

    def test_two_that_include_each_other(self):
        self.assertEqual(self.knots("a>b b>a b>c"), [["a", "b"]])

    def test_all_that_several_circles_have_in_common_are_one(self):
        self.assertEqual(self.knots("a>b b>a b>c c>d d>b e>a d>f"), [["a", "b", "c", "d"]])

    def test_the_largest_comes_first(self):
        self.assertEqual(self.knots("a>b b>a c>d d>e e>c"), [["c", "d", "e"], ["a", "b"]])


class Offences(unittest.TestCase):
    def offences(self, edges):
        return list(knots.offences(includes(edges)))

    def test_two_are_none_and_three_are_one(self):
        self.assertEqual(self.offences("a>b b>a"), [])
        self.assertEqual(self.offences("a>b b>c c>a"),
                         ["file:1: 3 components include each other in a circle: a, b, c"])


if __name__ == "__main__":
    unittest.main()
