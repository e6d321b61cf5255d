// SPDX-License-Identifier: Apache-2.0
// A client on a process of its own in simulated time, with one lock, for tests that look at one thing.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <holdfast/async.hpp>

#include "sim/network.hpp"
#include "sim/process.hpp"

namespace holdfast::test::sim {

class Guest {
 public:
  Guest(World& world, int number, Config config, std::string lock) : process_(world, number) {
    config.label = "guest";  // instead of the program's name
    process_.inside([&] { member_.emplace(process_, config, lock); });
  }
  ~Guest() {
    process_.inside([this] {
      hold_ = {};
      member_.reset();
    });
  }
  Guest(const Guest&) = delete;
  Guest& operator=(const Guest&) = delete;

  void acquire() {
    process_.inside([this] {
      member_->lock.async_acquire([this](const Failure& failure, Hold hold) {
        failed_ = static_cast<bool>(failure);
        hold_ = std::move(hold);
        ++answers_;
      });
    });
  }
  void release() {
    process_.inside([this] { hold_.async_release([this](ReleaseOutcome outcome) { released_ = outcome; }); });
  }
  bool failed() const { return failed_; }
  int answers() const { return answers_; }
  bool held() {
    bool held = false;
    process_.inside([&] { held = answers_ > 0 && hold_.state() == HoldState::held; });
    return held;
  }
  bool lost() {
    bool lost = false;
    process_.inside([&] { lost = answers_ > 0 && hold_.state() == HoldState::lost; });
    return lost;
  }
  std::optional<ReleaseOutcome> released() const { return released_; }
  const Process& process() const { return process_; }
  const Client& client() const { return member_->client; }

 private:
  struct Member {
    Member(Process& process, const Config& config, const std::string& name)
        : client(client_on(process.context(), config)), lock(client.lock(name)) {}
    Client client;
    Lock lock;
  };

  Process process_;
  std::optional<Member> member_;
  Hold hold_;
  bool failed_ = false;
  int answers_ = 0;
  std::optional<ReleaseOutcome> released_;
};

}  // namespace holdfast::test::sim
