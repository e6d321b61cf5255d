// SPDX-License-Identifier: Apache-2.0
// Redisson and Holdfast on one lock behind Sentinels, while the primary is failed over three times.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "interop.hpp"
#include "judges/history.hpp"
#include "judges/measures.hpp"
#include "support/deployment.hpp"
#include "support/strike.hpp"
#include "support/taker_rounds.hpp"

namespace holdfast::test::failover_test {
namespace {

/// Two processes of each side with two threads each, which count up one number under one lock.
class Failovers : public Interop {
 protected:
  static constexpr milliseconds kLeaseHere{3000};

  Failovers() {
    set_url(deployment.url());
    set("lease_ms", kLeaseHere);
    set("safety_poll_ms", 2s);
  }

  /// Three failovers by force. Expects that no call hangs; what becomes of the lock is said in figures, since Redisson
  /// may keep it for good: an acquire that it sends again after a failover counts twice.
  History three_failovers() {
    const Side sides[] = {Side::peer, Side::peer, Side::holdfast, Side::holdfast};
    const std::vector<Taker*> takers = start({sides[0], sides[1], sides[2], sides[3]});
    for (std::size_t i = 0; i < takers.size(); ++i) {
      for (int thread = 1; thread <= 2; ++thread) begin(*takers[i], sides[i], i, thread);
    }
    EXPECT_TRUE(both_sides_get_in()) << "before the first failover";
    int both = 0;
    for (int i = 0; i < 3; ++i) {
      strike(deployment, Fault::forced);
      both += both_sides_get_in() ? 1 : 0;
    }
    for (std::size_t i = 0; i < rounds_.size(); ++i) {
      EXPECT_EQ(takers[i / 2]->ask({"cancel", rounds_[i].tag()}), "yes");
    }
    for (const Pending& each : rounds_) EXPECT_TRUE(each.get(60s).ok);
    Raw now(deployment.primary());
    const bool freed = eventually([&] { return !now.exists("counter"); }, 2 * kLeaseHere);
    History history = History::read(folder_.path().string());
    tell(history);
    figure("both sides got in after", std::to_string(both) + " of 3");
    figure("in the end the lock is", freed ? "free" : "still taken");
    return history;
  }

  static std::vector<HeldOnce> ours(const History& history) {
    std::vector<HeldOnce> found;
    std::ranges::copy_if(history.holds, std::back_inserter(found), is_ours);
    return found;
  }

  Deployment deployment;

 private:
  static bool is_ours(const HeldOnce& hold) { return hold.client.starts_with("holdfast"); }

  void begin(Taker& taker, Side side, std::size_t process, int thread) {
    const std::string client = (side == Side::peer ? "peer" : "holdfast") + std::to_string(process);
    const std::string record = folder_.file(client + "." + std::to_string(thread) + ".record");
    rounds_.push_back(
        taker.start({"hold_for", std::to_string(thread), "counter", file_, "36000000", record, "1", "10000"}));
  }

  /// From now on.
  bool both_sides_get_in() {
    const Microseconds from = shared_clock();
    return eventually(
        [&] {
          const History history = History::read(folder_.path().string());
          const auto later = [&](const HeldOnce& hold) { return hold.granted > from; };
          const auto count = std::ranges::count_if(history.holds, later);
          const auto of_holdfast = std::ranges::count_if(ours(history), later);
          std::this_thread::sleep_for(100ms);
          return of_holdfast > 0 && count > of_holdfast;
        },
        15s);
  }

  void tell(const History& history) {
    const std::vector<HeldOnce> of_holdfast = ours(history);
    figure_shares(static_cast<long long>(history.holds.size() - of_holdfast.size()),
                  static_cast<long long>(of_holdfast.size()));
    const long long lost = lost_updates(history.holds, NumberFile(file_).read());
    figure("lost updates", std::to_string(lost) + " of " + std::to_string(history.holds.size()));
    figure("overlapping holds", std::to_string(overlaps(history.holds).size()));
    const std::size_t all = forgotten(history.holds).size(), held_by_us = forgotten(of_holdfast).size();
    figure("forgotten holds, the peer's and Holdfast's",
           std::to_string(all - held_by_us) + " and " + std::to_string(held_by_us));
    figure("calls that failed", std::to_string(history.failures.size()));
  }

  TempDir folder_;
  const std::string file_ = folder_.file("number");
  std::vector<Pending> rounds_;
};
HOLDFAST_INTEROP(Failovers, once({"redisson-3.24.3", "redisson-3", "redisson-4"}));

TEST_P(Failovers, ThreeInARowHangNobody) { three_failovers(); }

TEST_P(Failovers, ThreeInARowHangNobodyAndHoldfastAsksForAllAcks) {
  set("acks", "all");
  EXPECT_EQ(forgotten(ours(three_failovers())).size(), 0U);
}

}  // namespace
}  // namespace holdfast::test::failover_test
