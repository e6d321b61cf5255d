// SPDX-License-Identifier: Apache-2.0
// Many read, one writes: readers share the lock, a writer has it alone, and goes on as a reader without a gap.
#include <cstdlib>
#include <iostream>
#include <shared_mutex>

#include <holdfast/holdfast.hpp>

using namespace std::chrono_literals;

int main(int argc, char** argv) {
  const char* url = argc > 1 ? argv[1] : std::getenv("HOLDFAST_URL");
  try {
    holdfast::Client client{url ? url : "redis://127.0.0.1:6379"};
    holdfast::Client elsewhere{url ? url : "redis://127.0.0.1:6379"};
    holdfast::ReadWriteLock prices = client.read_write_lock("example:prices");
    holdfast::ReadWriteLock same = elsewhere.read_write_lock("example:prices");

    {
      const std::shared_lock first{prices};                     // one round trip
      const holdfast::Hold second = prices.reader().acquire();  // none: this client reads already
      std::cout << "read by " << prices.writer().info().holders.size() << " client\n";
      const holdfast::MaybeHold reader = same.reader().try_acquire();
      const holdfast::MaybeHold writer = same.writer().try_acquire();
      std::cout << "elsewhere: may " << (reader ? "" : "not ") << "read, may " << (writer ? "" : "not ") << "write\n";
    }

    holdfast::Hold hold = prices.writer().acquire({.wait = 10s});
    const holdfast::MaybeHold while_written = same.reader().try_acquire();
    std::cout << "written; elsewhere: may " << (while_written ? "" : "not ") << "read\n";
    prices.downgrade(hold);  // what was written is read on; no other writer comes in between
    const holdfast::MaybeHold while_read = same.reader().try_acquire();
    std::cout << "read on; elsewhere: may " << (while_read ? "" : "not ") << "read\n";
    std::cout << to_string(hold.release()) << '\n';
  } catch (const holdfast::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
