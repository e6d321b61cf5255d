"""Tests of tools/interface."""
import importlib.machinery
import importlib.util
import pathlib
import unittest

PATH = str(pathlib.Path(__file__).resolve().parent / "interface")
loader = importlib.machinery.SourceFileLoader("interface", PATH)
interface = importlib.util.module_from_spec(importlib.util.spec_from_loader("interface", loader))
loader.exec_module(interface)

HEADER = """// What it is.
#pragma once

#include <string>

/// A thing.
class Thing {
 public:
  int size() const;  ///< In all.
  const char* url = "redis://h";

 private:
  int hidden_ = 0;
};

struct Other {
  bool open = false;
};
"""


class Declared(unittest.TestCase):
    def test_is_what_users_see(self):
        self.assertEqual(interface.declared(HEADER), [
            "class Thing {", " public:", "  int size() const;", '  const char* url = "redis://h";', "};",
            "struct Other {", "  bool open = false;", "};"])

    def test_changes_with_a_signature_and_not_with_a_comment(self):
        before = interface.declared(HEADER)
        self.assertEqual(interface.declared(HEADER.replace("In all.", "Of all.")), before)
        self.assertEqual(interface.declared(HEADER.replace("int hidden_", "long hidden_")), before)
        self.assertNotEqual(interface.declared(HEADER.replace("size() const", "size()")), before)
        self.assertNotEqual(interface.declared(HEADER.replace("open = false", "open = true")), before)


if __name__ == "__main__":
    unittest.main()
