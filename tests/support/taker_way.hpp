// SPDX-License-Identifier: Apache-2.0
// How the rounds of `hold_for` differ: what it says behind the limit on waiting, KEY=VALUE each.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>

#include <holdfast/options.hpp>

#include "taker_command.hpp"

namespace holdfast::test {

struct TakerWay {
  using Milliseconds = std::chrono::milliseconds;

  /// `first`: of the command's arguments.
  TakerWay(const TakerCommand& command, std::size_t first) {
    for (std::size_t i = first; i < command.count(); ++i) {
      const std::string& word = command.argument(i);
      const std::size_t equals = std::min(word.find('='), word.size());
      const std::string key = word.substr(0, equals);
      const std::string value = word.substr(std::min(equals + 1, word.size()));
      if (key == "checks" && (value == "yes" || value == "no")) {
        checks = value == "yes";
      } else if (key == "lease_ms") {
        lease = fixed(Milliseconds(std::stoll(value)));
      } else if (key == "long_ms") {
        longest = Milliseconds(std::stoll(value));
      } else if (key == "long_every") {
        long_every = std::stoi(value);
      } else if (key == "abandon_every") {
        abandon_every = std::stoi(value);
      } else if (key == "campaigns" && (value == "yes" || value == "no")) {
        campaigns = value == "yes";
      } else if (key == "sets" && (value == "yes" || value == "no")) {
        sets = value == "yes";
      } else if (key == "permits") {
        permits = std::stoll(value);
      } else {
        throw std::invalid_argument("no such way: " + word);
      }
    }
  }

  bool checks = true;  ///< It asks for `valid_for()` before it writes.
  Lease lease = renewed();
  Milliseconds longest{0};  ///< Of so many holds one lasts up to so long.
  int long_every = 0;
  int abandon_every = 0;   ///< Of so many waits one is cancelled within 20 ms, or a leader asked to step down.
  bool campaigns = false;  ///< As one candidate, for term after term.
  long long permits = 0;  ///< Of the semaphore, which is made if it is not there; 0: it is none. Of a latch, the steps.
  bool sets = false;      ///< It sets the latch of each round.
};

/// Requests a stop after a while, unless it goes before.
class TakerAbandon {
 public:
  TakerAbandon(std::stop_source& stop, std::chrono::milliseconds after)
      : thread_([&stop, after](const std::stop_token& over) {
          std::mutex mutex;
          std::condition_variable_any changed;
          std::unique_lock guard(mutex);
          changed.wait_for(guard, over, after, [] { return false; });
          if (!over.stop_requested()) stop.request_stop();
        }) {}

 private:
  std::jthread thread_;
};

}  // namespace holdfast::test
