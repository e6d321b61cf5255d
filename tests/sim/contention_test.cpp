// An hour of two clients that want one lock, in a second: whole clients, one thread, the same from the same seed.
#include <array>
#include <sys/wait.h>
#include <unistd.h>

#include <holdfast/async.hpp>

#include "sim/network.hpp"
#include "support/spawn.hpp"

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;

/// What a run says of itself; a plain value, so that a child can send it.
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

  Actor(World& world, With with, std::uint64_t& grants, Account& account, int& inside)
      : world_(world), with_(with), grants_(grants), account_(account), inside_(inside) {}

  void work() {
    if (with_ == With::nothing) return enter(Hold());
    lock_.async_acquire([this](const Failure& failure, Hold hold) {
      if (!failure) return enter(std::move(hold));
      ++account_.failures;
      world_.after(1s, [this] { work(); });
    });
  }
  std::uint64_t connections() const { return client_.counters().connections; }

 private:
  static Config settings() {
    Config settings;
    settings.host = "a-server-that-there-is-not";
    settings.client_name.clear();  // it would tell the number of the process, which is another one in each run
    return settings;
  }

  void enter(Hold hold) {
    hold_ = std::move(hold);
    if (++inside_ > 1) ++account_.overlaps;
    ++grants_;
    entered_ = world_.now();
    world_.after(world_.between(100ms, 3s), [this] { leave(); });
  }
  void leave() {
    --inside_;
    account_.held_seconds += static_cast<std::uint64_t>((world_.now() - entered_) / 1s);
    const base::Duration pause = world_.between(0ms, 500ms);
    if (with_ == With::nothing) return static_cast<void>(world_.after(pause, [this] { work(); }));
    if (hold_.state() == HoldState::lost) ++account_.lost;
    hold_.async_release([this, pause](ReleaseOutcome) { world_.after(pause, [this] { work(); }); });
  }

  World& world_;
  const With with_;
  std::uint64_t& grants_;
  Account& account_;
  int& inside_;
  Client client_ = client_on(world_.context(), settings());
  Lock lock_ = client_.lock("orders");
  Hold hold_;
  base::TimePoint entered_;
};

Account simulate(std::uint64_t seed, Actor::With with) {
  World world(seed);
  ModelServer server(world);
  Network network(world, server);
  Account account;
  int inside = 0;
  {
    Actor one(world, with, account.grants[0], account, inside);
    Actor two(world, with, account.grants[1], account, inside);
    one.work();
    two.work();
    // Every ten minutes all connections break, and the server is away for five seconds.
    for (int i = 0; i < 6; ++i) {
      world.run(10min - 5s);
      network.cut();
      network.set_reachable(false);
      world.run(5s);
      network.set_reachable(true);
    }
    account.connections = {one.connections(), two.connections()};
    account.digest = network.digest();
    account.bytes = network.bytes();
    account.commands = server.commands();
  }
  return account;
}

/// In a child, so that each run begins with the same state of the process, the counters in it included.
Account in_child(std::uint64_t seed, Actor::With with = Actor::With::lock) {
  auto [from, to] = make_pipe();
  const pid_t child = fork();
  if (child == 0) {
    const Account account = simulate(seed, with);
    _exit(write(to.get(), &account, sizeof account) == sizeof account ? 0 : 1);
  }
  to.reset();
  Account account;
  EXPECT_EQ(read(from.get(), &account, sizeof account), static_cast<ssize_t>(sizeof account));
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  return account;
}

TEST(Contention, AnHourOfItPassesInASecond) {
  const auto start = std::chrono::steady_clock::now();
  const Account account = in_child(1);
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
  const Account first = in_child(7);
  EXPECT_EQ(first, in_child(7));
  EXPECT_GT(first.bytes, 100'000U);
  EXPECT_NE(first.digest, in_child(8).digest);
}

/// The control: whoever works without the lock is seen to overlap.
TEST(Contention, WithoutALockTheyOverlap) { EXPECT_GT(in_child(1, Actor::With::nothing).overlaps, 100U); }

}  // namespace
}  // namespace holdfast::test
