# SPDX-License-Identifier: Apache-2.0
"""Tests of tools/interface."""
import unittest

from script import script

interface = script("interface")

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
