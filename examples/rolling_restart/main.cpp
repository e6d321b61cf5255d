// SPDX-License-Identifier: Apache-2.0
// A service whose instances each own many shards, and its rolling restart: rolling_restart URL is an instance.
// rolling_restart --try [URL] replaces one instance by another, several times, and says how soon the next one is
// active.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <optional>
#include <signal.h>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <holdfast/holdfast.hpp>

#include "support/process.hpp"

namespace rolling_restart {
namespace {

using namespace std::chrono_literals;

constexpr int kShards = 100;
constexpr int kRestarts = 5;
constexpr auto kSlack = 1000ms;  // that a busy machine may add

std::string shard(int number) { return "example:shard:" + std::to_string(number); }

/// Takes all shards, serves them until SIGTERM, and gives them all back at once. Prints a line each: `active` with the
/// first shard, `serving` with the last one, and at the end how many releases nobody has confirmed.
void serve(const std::string& url) {
  sigset_t ending;
  sigemptyset(&ending);
  sigaddset(&ending, SIGINT);
  sigaddset(&ending, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &ending, nullptr);  // before the client starts its threads

  const holdfast::Client client(url);
  std::vector<holdfast::Hold> shards;
  for (int i = 0; i < kShards; ++i) {
    shards.push_back(client.lock(shard(i)).acquire());
    if (i == 0) std::cout << "active" << std::endl;
  }
  std::cout << "serving" << std::endl;
  int signal = 0;
  sigwait(&ending, &signal);
  // ... take no new work, and let what is under way finish ...
  std::cout << client.release_all(1s) << std::endl;
}

bool try_out(const std::string& url) {
  support::end_waits_on_interrupt();
  const auto now = [] { return std::chrono::steady_clock::now(); };
  const holdfast::Client client(url);
  const holdfast::Lock first_shard = client.lock(shard(0));
  std::vector<std::chrono::duration<double, std::milli>> took;
  bool well = true;
  std::optional<support::Process> instance(support::start_worker({url}));
  for (int i = 0; i < kRestarts; ++i) {
    while (instance->read_line() != "serving") {
    }
    support::Process next = support::start_worker({url});
    while (first_shard.info().listeners.value_or(1) == 0) std::this_thread::sleep_for(5ms);  // until it waits
    const auto struck = now();
    instance->send(SIGTERM);
    well = next.read_line() == "active" && well;
    took.emplace_back(now() - struck);
    well = instance->read_line() == "0" && instance->wait() && well;
    instance.emplace(std::move(next));
  }
  instance->send(SIGTERM);
  well = instance->wait() && well && !first_shard.is_locked();

  std::ranges::sort(took);
  const auto median = took[took.size() / 2];
  const auto say = [](bool held, const char* text) { std::cout << (held ? "held    " : "FAILED  ") << text << '\n'; };
  say(well, "each instance gave all its shards back, and ended with status 0");
  say(median <= kSlack, "the next one is active soon after the SIGTERM");
  std::printf("        after %.1f ms (median of %d restarts; %.1f to %.1f)\n", median.count(), kRestarts,
              took.front().count(), took.back().count());
  return well && median <= kSlack;
}

}  // namespace
}  // namespace rolling_restart

int main(int argc, char** argv) {
  try {
    if (argc > 1 && argc <= 3 && std::string(argv[1]) == "--try") {
      const char* url = argc > 2 ? argv[2] : std::getenv("HOLDFAST_URL");
      return rolling_restart::try_out(url ? url : "redis://127.0.0.1:6379") ? 0 : 1;
    }
    if (argc == 2) {
      rolling_restart::serve(argv[1]);
      return 0;
    }
    std::fprintf(stderr, "usage: rolling_restart URL\n       rolling_restart --try [URL]\n");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rolling_restart: %s\n", error.what());
  }
  return 2;
}
