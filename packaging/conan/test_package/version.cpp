// SPDX-License-Identifier: Apache-2.0
// Links with the library, and needs no server.
#include <cstdio>

#include <holdfast/holdfast.hpp>
#include <holdfast/version.hpp>

int main() {
  const holdfast::Config config = holdfast::Config::from_url("redis://127.0.0.1:6379");
  std::printf("Holdfast %s, for %s\n", HOLDFAST_VERSION_STRING, config.node().c_str());
}
