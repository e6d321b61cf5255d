// SPDX-License-Identifier: Apache-2.0
// What a program that this process starts inherits of a client: nothing.
#include <cstdio>
#include <sstream>

#include "faults.hpp"
#include "support/stranger.hpp"

namespace holdfast::test::descriptors_test {
namespace {

/// What the descriptors of a child lead to; pipes are those of the question itself.
std::string inherited() {
  const std::unique_ptr<FILE, int (*)(FILE*)> list(popen("ls -l /proc/self/fd", "r"), pclose);
  std::string lines, out;
  char buffer[4096];
  while (std::fgets(buffer, sizeof buffer, list.get()) != nullptr) lines += buffer;
  std::istringstream in(lines);
  for (std::string line; std::getline(in, line);) {
    const std::size_t arrow = line.find("-> ");
    if (arrow == std::string::npos || line.find("/proc/", arrow) != std::string::npos) continue;
    if (line.find("pipe:", arrow) == std::string::npos) out += line.substr(arrow + 3) + "\n";
  }
  return out;
}

TEST(Descriptors, OfAClientAreNotInherited) {
  const std::string before = inherited();
  using Listen = ServerOptions::Listen;
  for (const Listen listen : {Listen::unix_socket, Listen::tcp, Listen::tls}) {
    const RedisServer server({.listen = listen});
    Client client(quick_config(server.url()));
    const Hold hold = client.lock("orders").acquire();
    EXPECT_EQ(inherited(), before);
  }
}

TEST(Descriptors, OfAClientThatIsStillConnectingAreNotInherited) {
  const std::string before = inherited();
  const BlackHole hole;
  const Client client(quick_config("redis://127.0.0.1:" + std::to_string(hole.port())));
  std::this_thread::sleep_for(50ms);  // it makes its socket; if it has not yet, there is nothing to be found
  EXPECT_EQ(inherited(), before);
}

}  // namespace
}  // namespace holdfast::test::descriptors_test
