// SPDX-License-Identifier: Apache-2.0
// Several locks as one, and one lock on several independent servers: 06_several [URL [URL URL ...]].
#include <cstdlib>
#include <deque>
#include <iostream>
#include <string>
#include <vector>

#include <holdfast/holdfast.hpp>

using namespace std::chrono_literals;

int main(int argc, char** argv) {
  std::vector<std::string> urls(argv + 1, argv + argc);
  const char* url = std::getenv("HOLDFAST_URL");
  if (urls.empty()) urls.emplace_back(url ? url : "redis://127.0.0.1:6379");
  std::deque<holdfast::Client> clients;
  for (const std::string& each : urls) clients.emplace_back(each);

  // All or none, in one command: no order of locking can make a deadlock of it.
  holdfast::MultiLock transfer = clients.front().multi_lock({"example:account:1", "example:account:2"});
  if (holdfast::MaybeHold hold = transfer.try_acquire({.wait = 10s})) {
    std::cout << "both accounts are ours for " << hold->valid_for().count() << " ms at least\n";
  }

  // A majority of servers, so that any minority of them may fail. With one server it is that server's lock.
  std::vector<holdfast::Lock> members;
  for (holdfast::Client& client : clients) members.push_back(client.lock("example:leader"));
  holdfast::RedLock leader(members);
  try {
    const holdfast::Hold hold = leader.acquire({.wait = 10s});
    std::cout << "leader on " << members.size() << " server(s), for " << hold.valid_for().count() << " ms at least\n";
  } catch (const holdfast::Error& error) {
    std::cout << error.what() << '\n';  // `no_quorum`: names each server and what became of its vote
    return 1;
  }
}
