// SPDX-License-Identifier: Apache-2.0
// An hour of two clients that want one lock, in a second: whole clients, one thread, the same from the same seed.
#include <array>

#include <holdfast/async.hpp>

#include "sim/model/model_server.hpp"
#include "sim/network.hpp"
#include "sim/process.hpp"

namespace holdfast::test::sim::contention_test {
namespace {

using namespace std::chrono_literals;

/// What a run says of itself.
struct Account {
  std::uint64_t digest = 0;
  std::uint64_t bytes = 0;
  std::uint64_t commands = 0;
  std::array<std::uint64_t, 2> grants{};
  std::array<std::uint64_t, 2> connections{};
  std::uint64_t overlaps = 0;
  std::uint64_t held_seconds = 0;
  std::uint64_t lost = 0;
  std::uint64_t failures = 0;

  friend bool operator==(const Account&, const Account&) = default;
};

/// Takes the lock, keeps it for a while, gives it back, over and over.
class Actor {
 public:
  enum class With { lock, nothing };

  Actor(World& world, int number, With with, std::uint64_t& grants, Account& account, int& inside)
      : world_(world), process_(world, number), with_(with), grants_(grants), account_(account), inside_(inside) {
    process_.inside([this] { member_.emplace(process_); });
  }
  ~Actor() {
    process_.inside([this] {
      hold_ = {};
      member_.reset();
    });
  }
  Actor(const Actor&) = delete;
  Actor& operator=(const Actor&) = delete;
  void start() {
    process_.inside([this] { work(); });
  }
  const Process& process() const { return process_; }

  void work() {
    if (with_ == With::nothing) return enter(Hold());
    member_->lock.async_acquire([this](const Failure& failure, Hold hold) {
      if (!failure) return enter(std::move(hold));
      ++account_.failures;
      process_.after(1s, [this] { work(); });
    });
  }
  std::uint64_t connections() const { return member_->client.counters().connections; }

 private:
  static Config settings() {
    Config settings;
    settings.server = NodeAddress{Place().host};
    settings.label = "actor";  // instead of the program's name
    return settings;
  }

  void enter(Hold hold) {
    hold_ = std::move(hold);
    if (++inside_ > 1) ++account_.overlaps;
    ++grants_;
    entered_ = world_.now();
    process_.after(world_.between(100ms, 3s), [this] { leave(); });
  }
  void leave() {
    --inside_;
    account_.held_seconds += static_cast<std::uint64_t>((world_.now() - entered_) / 1s);
    const base::Duration pause = world_.between(0ms, 500ms);
    if (with_ == With::nothing) return process_.after(pause, [this] { work(); });
    if (hold_.state() == HoldState::lost) ++account_.lost;
    hold_.async_release([this, pause](ReleaseOutcome) { process_.after(pause, [this] { work(); }); });
  }

  struct Member {
    explicit Member(Process& process) : client(client_on(process.context(), settings())) {}
    Client client;
    Lock lock = client.lock("orders");
  };

  World& world_;
  Process process_;
  const With with_;
  std::uint64_t& grants_;
  Account& account_;
  int& inside_;
  std::optional<Member> member_;
  Hold hold_;
  base::TimePoint entered_;
};

Account simulate(std::uint64_t seed, Actor::With with = Actor::With::lock) {
  World world(seed);
  ModelServer server(world);
  Network network(world);
  network.add(server);
  Account account;
  int inside = 0;
  {
    Actor one(world, 1, with, account.grants[0], account, inside);
    Actor two(world, 2, with, account.grants[1], account, inside);
    one.start();
    two.start();
    // Every ten minutes all connections break, and the server is away for five seconds.
    for (int i = 0; i < 6; ++i) {
      world.run(10min - 5s);
      server.die();
      world.run(5s);
      server.restart(ModelServer::Restored::kept);
    }
    account.connections = {one.connections(), two.connections()};
    account.digest = network.digest();
    account.bytes = network.bytes();
    account.commands = server.commands();
  }
  return account;
}

TEST(Contention, AnHourOfItPassesInASecond) {
  const auto start = std::chrono::steady_clock::now();
  const Account account = simulate(1);
  const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - start);
  EXPECT_LT(took, 1min) << "a third of a second, but under a sanitizer on a busy machine it takes a while";
  RecordProperty("milliseconds", static_cast<int>(took.count()));
  EXPECT_EQ(account.overlaps, 0U);
  EXPECT_EQ(account.lost, 0U) << "the lease is longer than the server is away";
  EXPECT_EQ(account.failures, 0U);
  EXPECT_GT(account.held_seconds, 1800U) << "it is held most of the time";
  for (const std::uint64_t grants : account.grants) EXPECT_GT(grants, 500U) << "and by either of them";
  for (const std::uint64_t connections : account.connections) EXPECT_EQ(connections, 6U) << "cut six times";
}

TEST(Contention, TheSameSeedGivesTheSameBytesAtTheSameTimes) {
  const Account first = simulate(7);
  EXPECT_EQ(first, simulate(7));
  EXPECT_GT(first.bytes, 100'000U);
  EXPECT_NE(first.digest, simulate(8).digest);
}

/// The control: whoever works without the lock is seen to overlap.
TEST(Contention, WithoutALockTheyOverlap) { EXPECT_GT(simulate(1, Actor::With::nothing).overlaps, 100U); }

}  // namespace
}  // namespace holdfast::test::sim::contention_test
