# SPDX-License-Identifier: Apache-2.0
"""Of tools/release: what must be true before, and what is written about what was made."""
import pathlib
import tarfile
import tempfile
import unittest

from script import script

release = script("release")

HEADER = """#define HOLDFAST_VERSION_MAJOR 0
#define HOLDFAST_VERSION_MINOR 2
#define HOLDFAST_VERSION_PATCH 0
#define HOLDFAST_VERSION_STRING "0.2.0"
"""
CHANGES = "# Changes\n\n## 0.2.0, 2026-12-01\n\n- Added: one.\n\n### Security\n\n- two.\n\n## 0.1.0, unreleased\n\n- old.\n"


class Before(unittest.TestCase):
    def test_all_is_well(self):
        self.assertEqual(release.version_in(HEADER), "0.2.0")
        self.assertEqual(list(release.wrong_with_versions("0.2.0", HEADER, '{"version": "0.2.0"}')), [])
        self.assertEqual(list(release.wrong_with_changes("0.2.0", CHANGES)), [])

    def test_versions_that_differ(self):
        other = HEADER.replace("MINOR 2", "MINOR 3")
        self.assertEqual(list(release.wrong_with_versions("0.2.0", other, '{"version": "0.1.0"}')),
                         ["version.hpp has the string 0.2.0 and the numbers 0.3.0", "vcpkg.json has version 0.1.0, version.hpp 0.2.0"])

    def test_changes_without_a_day_or_a_section(self):
        self.assertEqual(list(release.wrong_with_changes("0.1.0", CHANGES)),
                         ["CHANGELOG.md calls 0.1.0 'unreleased': put the day there"])
        self.assertEqual(list(release.wrong_with_changes("0.2", CHANGES)), ["CHANGELOG.md has no section 0.2"])

    def test_the_section_ends_with_the_next_version(self):
        self.assertEqual(release.section(CHANGES, "0.2.0"), ("2026-12-01", "- Added: one.\n\n### Security\n\n- two."))


class Made(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def file(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def test_what_differs_is_named(self):
        first = [self.file("1/a.deb", "same"), self.file("1/b.deb", "one"), self.file("1/c.deb", "")]
        second = [self.file("2/a.deb", "same"), self.file("2/b.deb", "other"), self.file("2/d.deb", "")]
        self.assertEqual(release.differing(first, second), ["b.deb", "c.deb", "d.deb"])

    def test_a_folder_is_packed_the_same_whenever_that_is(self):
        self.file("x/sub/a", "text")
        first = release.packed(self.folder / "x", self.folder / "p.tar.gz", 1_700_000_000).read_bytes()
        (self.folder / "x/sub/a").touch()
        self.assertEqual(release.packed(self.folder / "x", self.folder / "p.tar.gz", 1_700_000_000).read_bytes(), first)
        with tarfile.open(self.folder / "p.tar.gz") as tar:
            self.assertEqual([(it.name, it.uname, it.mtime) for it in tar],
                             [("p/sub", "root", 1_700_000_000), ("p/sub/a", "root", 1_700_000_000)])

    def test_the_bill_of_materials_names_each_part_with_its_licence(self):
        bill = release.sbom("0.2.0", "abc", 1_700_000_000, {"boost": "1.91", "CLI11": "2.1", "fmt": "9", "openssl": "3"})
        self.assertEqual(bill["metadata"]["timestamp"], "2023-11-14T22:13:20Z")
        self.assertEqual([(it["name"], it["version"], it["licenses"][0]["license"]["id"]) for it in bill["components"]],
                         [("boost", "1.91", "BSL-1.0"), ("CLI11", "2.1", "BSD-3-Clause"), ("fmt", "9", "MIT"),
                          ("openssl", "3", "Apache-2.0")])
        self.assertEqual(bill["dependencies"][0]["dependsOn"], [it["bom-ref"] for it in bill["components"]])

    def test_the_provenance_names_all_that_was_made(self):
        digests = release.sums([self.file("b", "2"), self.file("a", "1")])
        said = release.provenance(digests, "abc", "Debian 12, amd64")
        self.assertEqual([it["name"] for it in said["subject"]], ["a", "b"])
        self.assertEqual(said["subject"][0]["digest"]["sha256"],
                         "6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b")
        self.assertEqual(said["predicate"]["buildDefinition"]["resolvedDependencies"][0]["digest"], {"gitCommit": "abc"})


if __name__ == "__main__":
    unittest.main()
