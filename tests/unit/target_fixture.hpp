// SPDX-License-Identifier: Apache-2.0
// One lock of an idle client, and waiters that note what they are told.
#pragma once

#include <chrono>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "idle_client.hpp"
#include "kinds/kinds.hpp"
#include "lock/hold/hold_events.hpp"

namespace holdfast::engine {

inline void PrintTo(Waiter::Signal signal, std::ostream* out) {
  *out << (signal == Waiter::Signal::turn      ? "turn"
           : signal == Waiter::Signal::wake    ? "wake"
           : signal == Waiter::Signal::message ? "message"
           : signal == Waiter::Signal::busy    ? "busy"
                                               : "closed");
}

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using Signal = Waiter::Signal;

class FakeWaiter final : public Waiter {
 public:
  explicit FakeWaiter(bool shares = false) : Waiter(shares) {}
  void post(Signal signal) noexcept override { signals_.push_back(signal); }
  void drop() override {}
  /// What has come since the last look.
  std::vector<Signal> signals() { return std::exchange(signals_, {}); }

 private:
  std::vector<Signal> signals_;
};

class TargetTest : public testing::Test {
 protected:
  // A thread's hold keeps its target, which keeps the hold: closing the client parts them. Waiters must leave before
  // they go.
  ~TargetTest() override {
    targets_->let_go();
    if (!target_) return;
    target_->threads().forget_all();
    target_->drop_waiters();
  }

  /// Granted `age` ago, for 10 s.
  std::shared_ptr<Tenancy> hold(Duration age = 0s, const LeaseTerms& terms = {.length = 10s, .renewed = true}) {
    const base::TimePoint granted_at = base::Clock::now() - age;
    return target_->make_tenancy(client_.runtime, wire::Owner{"client:1"}, wire::Ask{}, granted_at, terms, {});
  }

  /// Whoever waits at the head, or has just come, takes what fits this lease.
  std::shared_ptr<Claim> join(Target::Joining::From from, LeaseTerms terms = {.length = 10s}) {
    return target_->join({wire::Ask{}, terms, {}, from});
  }

  IdleClient client_;
  const std::shared_ptr<redis::Subscriptions> subscriptions_ = client_.runtime->router().shard_of({}).subscriptions();
  const boost::intrusive_ptr<Targets> targets_ = client_.targets;
  std::shared_ptr<KeyTarget> target_ = targets_->target({"orders"}, kinds::kLock);
  const std::string channel_ = target_->names().channel;
  const wire::Owner waiter_{"client:2"};
  FakeWaiter first_, second_, third_;
};

}  // namespace holdfast::engine
