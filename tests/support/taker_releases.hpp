// What a taker's clients report: what becomes of releases whose caller did not wait (Config::pipelined_release), and
// connections.
#pragma once

#include <deque>
#include <fstream>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include <holdfast/observer.hpp>

#include "taker_rounds.hpp"
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

  /// Before the release begins. `told` is called once, by the client's notifier.
  void expect(const std::string& name, Told told) {
    const std::lock_guard guard(mutex_);
    expected_[name].push_back(std::move(told));
  }

  void on_released(const ReleasedEvent& event) override {
    if (const Told told = next(event.name)) told(event.outcome);
  }

  void on_connection(const ConnectionEvent& event) override {
    if (!events_.is_open()) return;
    const char* const what = event.connected ? "connected" : "disconnected";
    events_ << join_fields({what, std::to_string(shared_clock()), event.node, event.cause}) + '\n' << std::flush;
  }

 private:
  /// None if a client that was closed gave back what it still held.
  Told next(const std::string& name) {
    const std::lock_guard guard(mutex_);
    std::deque<Told>& queue = expected_[name];
    if (queue.empty()) return {};
    Told told = std::move(queue.front());
    queue.pop_front();
    return told;
  }

  std::mutex mutex_;
  std::map<std::string, std::deque<Told>> expected_;
  std::ofstream events_;  // written by the notifier
};

}  // namespace holdfast::test
