// SPDX-License-Identifier: Apache-2.0
// Shares one lock with a program in Java, and another with a program in Python: docs/interop.md has those two.
#include <cstdlib>
#include <iostream>

#include <holdfast/holdfast.hpp>

int main() {
  const char* url = std::getenv("HOLDFAST_URL");
  try {
    holdfast::Client client{url ? url : "redis://127.0.0.1:6379"};
    holdfast::Hold order = client.lock("orders:42").acquire();          // Java: redisson.getLock("orders:42")
    holdfast::Hold report = client.simple_lock("reports:7").acquire();  // Python: server.lock("reports:7", ...)
    std::cout << "C++ has both; Enter gives them back" << std::endl;
    std::cin.get();
  } catch (const holdfast::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
