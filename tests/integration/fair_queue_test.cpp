// SPDX-License-Identifier: Apache-2.0
// A fair lock's queue: what is told of it, and who is next and does nothing.
#include <csignal>
#include <fstream>

#include "fair.hpp"
#include "support/paths.hpp"
#include "support/standstill.hpp"
#include "support/temp_dir.hpp"

namespace holdfast::test::fair_queue_test {
namespace {

using testing::IsEmpty;

TEST_F(Fair, SaysWhoWaitsInOrderAndWhoTheyAre) {
  Config named = patient();
  named.label = "second";
  Client client(patient()), other(named);
  const FairLock lock = client.fair_lock("orders");
  EXPECT_EQ(lock.info().queued, 0U);
  Hold hold = lock.acquire();
  auto waiting = start_in_order({&client, &other});
  queue_by_hand(kRedissons, -5s);
  const LockInfo info = lock.info();
  EXPECT_EQ(info.owner, hold.owner());
  EXPECT_EQ(info.queued, 3U);
  ASSERT_EQ(info.queue.size(), 3U);
  EXPECT_THAT(info.queue[0].owner, testing::StartsWith(client.id()));
  EXPECT_THAT(info.queue[0].keeps_place, testing::Optional(testing::Gt(60s))) << "a turn behind the end of the lease";
  ASSERT_TRUE(info.queue[1].holder);
  EXPECT_EQ(info.queue[1].holder->connection, Holder::Connection::open);
  EXPECT_EQ(info.queue[1].holder->label, "second");
  EXPECT_EQ(info.queue[2].owner, kRedissons);
  EXPECT_THAT(info.queue[2].keeps_place, testing::Optional(testing::Lt(0s)));
  EXPECT_EQ(info.listeners, std::nullopt) << "each waiter listens for itself";
  EXPECT_EQ(lock.info(InfoDetail::owner).queued, std::nullopt);
  EXPECT_EQ(client.lock("orders").info().queued, std::nullopt);
  hold.release();
  for (auto& each : waiting) static_cast<void>(each.get());
  queue_by_hand(kRedissons, 60s);
  const LockInfo free = lock.info();
  EXPECT_EQ(free.owner, "");
  ASSERT_EQ(free.queue.size(), 1U) << "free, and somebody is next";
  for (int i = 0; i < 120; ++i) queue_by_hand(kRedissons + std::to_string(i), 60s);
  EXPECT_EQ(lock.info().queued, 121U);
  EXPECT_EQ(lock.info().queue.size(), 100U);
}

// ---- whose clock is wrong ----

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // nothing may be loaded before a sanitizer
/// A process whose wall clock is off by so much.
class Astray {
 public:
  explicit Astray(milliseconds by) {
    const std::int64_t offset = by.count();
    std::ofstream(file_, std::ios::binary).write(reinterpret_cast<const char*>(&offset), sizeof offset);
  }
  /// What runs this program there.
  std::vector<std::string> command(const std::string& program) const {
    return {"LD_PRELOAD=" + build_path("tests/libholdfast_moved_clock.so"), "HOLDFAST_CLOCK_FILE=" + file_, program};
  }
  std::chrono::seconds seen_by_a_program() const {
    std::vector<std::string> bash = command("bash");
    bash.insert(bash.end(), {"-c", "echo $EPOCHSECONDS"});
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::seconds(std::stoll(run_checked("/usr/bin/env", bash))) -
           std::chrono::duration_cast<std::chrono::seconds>(now);
  }

 private:
  TempDir folder_;
  const std::string file_ = folder_.file("clock");
};

TEST_F(Fair, AWaiterWhoseClockIsWrongKeepsItsPlaceAndTakesNobodys) {
  const Astray fast(1h), slow(-1h);
  ASSERT_GT(fast.seen_by_a_program(), 59min);
  ASSERT_LT(slow.seen_by_a_program(), -59min);
  Client client(patient());
  Hold first = client.fair_lock("orders").acquire();
  auto waiting = start_in_order({&client});
  std::deque<Taker> takers;
  std::vector<Pending> behind;
  for (const Astray* clock : {&fast, &slow}) {
    Taker& taker = takers.emplace_back("/usr/bin/env", clock->command(build_path("tests/support/holdfast_taker")));
    taker.connect(server.url() + "?fair_turn=1m", {"kind=fair", "lease_ms=60000"});
    Party party(taker, 1);
    behind.push_back(party.start_lock("orders"));
    party.start_unlock("orders");
    ASSERT_TRUE(waits(1 + takers.size()));
  }
  const std::vector<std::string> arrived = queue();
  EXPECT_THAT(arrived.front(), testing::StartsWith(client.id()));
  for (const std::string& owner : arrived) {
    EXPECT_THAT(deadline(owner) - server_time(), testing::AllOf(testing::Gt(60'000), testing::Lt(300'000))) << owner;
  }
  auto last = start_in_order({&client});
  EXPECT_EQ(first.release(), ReleaseOutcome::released);
  const std::string next = waiting.front().get().owner();
  EXPECT_EQ(next, arrived.front());
  EXPECT_LT(behind.front().get().ended, behind.back().get().ended);
  EXPECT_TRUE(ready(last.front()));
}
#endif

// ---- who is next and does nothing ----

TEST_F(Fair, AReleaseGivesWhoeverIsNextATurnFromThenOn) {
  const std::string next = "99999999-2222-8333-8444-555555555555:7";
  Client client(patient());
  Hold first = client.fair_lock("orders").acquire();
  queue_by_hand(next, 300s);
  first.release();
  EXPECT_THAT(deadline(next) - server_time(), testing::AllOf(testing::Gt(30'000), testing::Le(60'000)));
}

/// A process waits, and behind it this client; when the process does nothing any more, the lock is released.
class FairHead : public Fair {
 protected:
  static constexpr milliseconds kTurn{1000};

  FairHead() {
    Config settings = config();
    settings.lease = 30s;
    client_ = std::make_unique<Client>(settings);
    hold_ = holder_.fair_lock("orders").acquire();
    taker_.connect(server.url(), {"kind=fair", "lease_ms=30000"});
    party_.start_lock("orders");
    EXPECT_TRUE(waits(1));
    behind_ = start_in_order({client_.get()});
    EXPECT_TRUE(eventually([&] { return raw.command("PUBSUB", "CHANNELS").elements.size() == 2; }));
  }
  struct Seen {
    milliseconds took{};
    std::uint64_t commands = 0;  // of the one behind
  };
  Seen release() {
    const auto began = steady_clock::now();
    const auto before = client_->counters().commands;
    hold_.release();
    EXPECT_TRUE(ready(behind_.front()));
    return {since(began), client_->counters().commands - before};
  }

  Client holder_{config()};
  Hold hold_;
  Taker taker_{Taker::Place::own_process};
  Party party_{taker_, 1};
  std::unique_ptr<Client> client_;
  std::deque<std::future<Hold>> behind_;
};

TEST_F(FairHead, ThatWasKilledCostsTheOthersOneTurnAndNoBusyWaiting) {
  const Standstill still;
  taker_.signal(SIGKILL);
  ASSERT_TRUE(eventually([&] { return raw.command("PUBSUB", "CHANNELS").elements.size() == 1; }));
  const Seen seen = release();
  EXPECT_GE(seen.took, kTurn - 50ms);
  EXPECT_LE(seen.took, kTurn + 500ms + still.total());
  EXPECT_LE(seen.commands, 5U);
  EXPECT_THAT(queue(), IsEmpty());
}

TEST_F(FairHead, ThatWasKilledLeavesAQueueThatEnds) {
  constexpr long long kDay = 86'400'000;
  taker_.signal(SIGKILL);
  for (const std::string& key : {kQueue, kDeadlines}) {
    EXPECT_GT(raw.pttl(key), kDay) << key;
    EXPECT_LT(raw.pttl(key), kDay + 120'000) << key;
  }
  raw.command("PEXPIRE", kQueue, 3'000'000);
  raw.command("PEXPIRE", kDeadlines, 3'000'000);
  EXPECT_TRUE(eventually([&] { return raw.pttl(kQueue) > kDay && raw.pttl(kDeadlines) > kDay; }))
      << "as long as somebody waits, it is put off";
  release();
}

TEST_F(FairHead, ThatIsFrozenCostsTheOthersOneTurnAndIsQueuedAgain) {
  const Standstill still;
  taker_.signal(SIGSTOP);
  ASSERT_TRUE(eventually([&] {
    std::string line;
    std::ifstream stat("/proc/" + std::to_string(taker_.pid()) + "/stat");
    std::getline(stat, line);
    return line.find(") T ") != std::string::npos;
  }));
  const Seen seen = release();
  EXPECT_GE(seen.took, kTurn - 50ms);
  EXPECT_LE(seen.took, kTurn + 400ms + still.total()) << "from the release, and not from when somebody notices";
  EXPECT_LE(seen.commands, 6U);
  taker_.signal(SIGCONT);
  EXPECT_TRUE(waits(1)) << "at the end";
}

}  // namespace
}  // namespace holdfast::test::fair_queue_test
