// SPDX-License-Identifier: Apache-2.0
// Takes a lock, works under it, and checks before each step that it still has it.
#include <cstdlib>
#include <iostream>

#include <holdfast/holdfast.hpp>

int main(int argc, char** argv) {
  const char* url = argc > 1 ? argv[1] : std::getenv("HOLDFAST_URL");
  try {
    holdfast::Client client{url ? url : "redis://127.0.0.1:6379"};
    holdfast::Lock orders = client.lock("orders:42");
    holdfast::Hold hold = orders.acquire();  // waits for its turn; from then on renewed
    for (int step = 1; step <= 3; ++step) {
      if (hold.is_lost()) return 1;  // stop: it may be somebody else's by now
      std::cout << "step " << step << ", ours for " << hold.valid_for().count() << " ms\n";
    }
    std::cout << to_string(hold.release()) << '\n';  // "released", or what else was found
  } catch (const holdfast::Error& error) {
    std::cerr << error.what() << '\n';  // which lock, which server, and why
    return 1;
  }
}
