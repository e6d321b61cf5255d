// SPDX-License-Identifier: Apache-2.0
// What a taker's clients report: what becomes of releases whose caller did not wait (Config::pipelined_release), and
// connections.
#pragma once

#include <algorithm>
#include <deque>
#include <fstream>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include <holdfast/observer.hpp>

#include "shared_clock.hpp"
#include "taker_text.hpp"

namespace holdfast::test {

/// Tells each outcome to whoever gave the lock back: the releases of one name end in the order in which they began.
/// Thread-safe.
class TakerReleases : public Observer {
 public:
  using Told = std::function<void(const std::string& outcome)>;

  /// With a file, that has a line for each connection that is made or ends.
  explicit TakerReleases(const std::string& events) {
    if (!events.empty()) events_.open(events, std::ios::app);
  }

  /// Before the release begins. `told` is called once, by the client's notifier. The owner is empty if it is not known.
  void expect(const std::string& name, const std::string& owner, Told told) {
    const std::lock_guard guard(mutex_);
    expected_[name].push_back({owner, std::move(told)});
  }

  void on_released(const ReleasedEvent& event) override {
    if (const Told told = next(event)) told(to_string(event.outcome));
  }

  void on_connection(const ConnectionEvent& event) override {
    if (!events_.is_open()) return;
    const char* const what = event.connected ? "connected" : "disconnected";
    events_ << join_fields({what, std::to_string(shared_clock()), event.node, event.cause}) + '\n' << std::flush;
  }

 private:
  struct Expected {
    std::string owner;
    Told told;
  };

  /// None if a client that was closed gave back what it still held.
  Told next(const ReleasedEvent& event) {
    const std::lock_guard guard(mutex_);
    std::deque<Expected>& queue = expected_[event.name];
    const auto first = std::ranges::find_if(
        queue, [&](const Expected& each) { return each.owner.empty() || each.owner == event.owner; });
    if (first == queue.end()) return {};
    Told told = std::move(first->told);
    queue.erase(first);
    return told;
  }

  std::mutex mutex_;
  std::map<std::string, std::deque<Expected>> expected_;
  std::ofstream events_;  // written by the notifier
};

}  // namespace holdfast::test
