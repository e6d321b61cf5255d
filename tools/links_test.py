# SPDX-License-Identifier: Apache-2.0
"""Of tools/links: what leads somewhere, and which decisions have their place."""
import pathlib
import subprocess
import tempfile
import unittest

LINKS = pathlib.Path(__file__).resolve().parent / "links"


def found(**files):
    """What it says of a tree of these; in their names __ is a slash, and they end in .md if they have no other ending."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            path = pathlib.Path(folder, name.replace("__", "/"))
            path = path if "src" in path.parts else path.with_suffix(".md")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return subprocess.run([str(LINKS), folder], capture_output=True, text=True).stdout.splitlines()


class Links(unittest.TestCase):
    def test_lead_to_files_headings_and_anchors(self):
        self.assertEqual(found(a="[b](b.md) [c](b.md#a-heading) [d](b.md#d1) [e](#here)\n## Here\n",
                               b='## <a id="d1"></a>A heading\n'), [])

    def test_that_lead_nowhere_are_named(self):
        self.assertEqual(found(a="\n[b](b.md) [c](#there)\n"),
                         ["a.md:2: b.md does not exist", "a.md:2: #there: there is no such heading"])


class Decisions(unittest.TestCase):
    WHY = '## <a id="d1"></a><a id="d2"></a>1, 2. Two\n\n```\n<a id="d3"></a>\n```\n'

    def test_that_have_a_place_are_right(self):
        self.assertEqual(found(docs__why__a=self.WHY, a="Decisions 1 and 2", src__a="// so decision\n// 2 has it"), [])

    def test_that_have_none_are_named_wherever_they_are_mentioned(self):
        self.assertEqual(found(docs__why__a=self.WHY, b="Decision 1, decisions 2 and 3", src__c="\n# decision\n# 4\n"),
                         ["b.md:1: decision 3 has no place in docs/why", "src/c:2: decision 4 has no place in docs/why"])

    def test_that_have_two_places_are_named(self):
        self.assertEqual(found(docs__why__a=self.WHY, docs__why__b='<a id="d2"></a>Again'),
                         ["docs/why: there are 2 places d2"])


if __name__ == "__main__":
    unittest.main()
