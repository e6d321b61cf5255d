// SPDX-License-Identifier: Apache-2.0
// Writers that stand still past their lease, between their look at the lock and their write: what a store takes from
// them without a checker, and with one. A million such writes (docs/fencing.md):
//   HOLDFAST_FROZEN_WRITES=1000000 build/tests/sim_tests --gtest_filter='FrozenWriters.*'
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <optional>

#include <gtest/gtest.h>

#include <holdfast/async.hpp>
#include <holdfast/fence.hpp>

#include "sim/model/model_server.hpp"
#include "sim/network.hpp"
#include "sim/process.hpp"

namespace holdfast::test::sim::fencing_test {
namespace {

using namespace std::chrono_literals;

constexpr auto kLease = 200ms;

enum class Checker { none, fence };

/// Knows who should write, as nobody else does: a token lower than one that has written before is an old holder's.
class Store {
 public:
  explicit Store(Checker checker) : checker_(checker) {}

  void write(std::int64_t token, bool frozen) {
    if (frozen) ++frozen_;
    if (checker_ == Checker::fence && !fence_.admit(token)) {
      ++refused_;
      return;
    }
    if (token < latest_) ++stale_;
    latest_ = std::max(latest_, token);
    ++taken_;
  }
  std::uint64_t frozen() const { return frozen_; }
  std::uint64_t taken() const { return taken_; }
  std::uint64_t stale() const { return stale_; }
  std::uint64_t refused() const { return refused_; }

 private:
  const Checker checker_;
  Fence fence_;
  std::int64_t latest_ = 0;
  std::uint64_t frozen_ = 0, taken_ = 0, stale_ = 0, refused_ = 0;
};

/// Takes the lock, sees that it is valid, and writes; at every other time its process stands still in between.
class Writer {
 public:
  Writer(World& world, int number, Store& store) : world_(world), process_(world, number), store_(store) {
    process_.inside([this] { member_.emplace(process_); });
  }
  ~Writer() {
    process_.inside([this] {
      hold_ = {};
      member_.reset();
    });
  }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  void start() {
    process_.inside([this] { work(); });
  }

 private:
  struct Member {
    explicit Member(Process& process) : client(client_on(process.context(), settings())) {}
    static Config settings() {
      Config settings;
      settings.server = NodeAddress{Place().host};
      settings.label = "writer";  // instead of the program's name
      return settings;
    }
    Client client;
    FencedLock lock = client.fenced_lock("orders", {.lease = fixed(kLease)});
  };

  void work() {
    member_->lock.async_acquire([this](const Failure& failure, Hold hold) {
      if (failure) return process_.after(100ms, [this] { work(); });
      hold_ = std::move(hold);
      if (hold_.valid_for() == 0ms) return leave();
      const bool freezes = world_.random() % 2 == 0;
      if (freezes) {
        world_.after({}, [this] { process_.pause(); });
        world_.after(world_.between(kLease + 50ms, 3 * kLease), [this] { process_.resume(); });
      }
      process_.after(1ms, [this, freezes, token = hold_.token().value()] {
        store_.write(token, freezes);
        leave();
      });
    });
  }
  void leave() {
    hold_.async_release([this](ReleaseOutcome) { process_.after(1ms, [this] { work(); }); });
  }

  World& world_;
  Process process_;
  Store& store_;
  std::optional<Member> member_;
  Hold hold_;
};

std::uint64_t wanted() {
  const char* const text = std::getenv("HOLDFAST_FROZEN_WRITES");
  return text == nullptr ? 1000 : std::strtoull(text, nullptr, 10);
}

void simulate(Store& store, const char* which) {
  World world(1);
  ModelServer server(world);
  Network network(world);
  network.add(server);
  {
    std::deque<Writer> writers;
    for (int i = 1; i <= 3; ++i) writers.emplace_back(world, i, store).start();
    world.run_until(24h * 365 * 10, [&] { return store.frozen() >= wanted(); });
  }
  std::printf(
      "%s: %llu writes by holders that were frozen past their lease; of all writes %llu taken, %llu of them "
      "stale, %llu refused\n",
      which, static_cast<unsigned long long>(store.frozen()), static_cast<unsigned long long>(store.taken()),
      static_cast<unsigned long long>(store.stale()), static_cast<unsigned long long>(store.refused()));
}

TEST(FrozenWriters, OverwriteTheirSuccessorsWithoutAChecker) {
  Store store(Checker::none);
  simulate(store, "without a checker");
  EXPECT_GE(store.frozen(), wanted());
  EXPECT_GT(store.stale(), wanted() / 3) << "the control";
}

TEST(FrozenWriters, AreRefusedByAFence) {
  Store store(Checker::fence);
  simulate(store, "with a checker");
  EXPECT_GE(store.frozen(), wanted());
  EXPECT_EQ(store.stale(), 0U);
  EXPECT_GT(store.refused(), wanted() / 3) << "what would have been stale";
  EXPECT_GT(store.taken(), wanted() / 3) << "the others write";
}

}  // namespace
}  // namespace holdfast::test::sim::fencing_test
