// SPDX-License-Identifier: Apache-2.0
// FairLock of a user who lacks a right: what the one who asks is told, and that it leaves no place in the queue.
#include "access.hpp"
#include "support/held_lock.hpp"

namespace holdfast::test::fair_access_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

const std::string kName = "app:orders", kNext = "99999999-2222-4333-8444-555555555555:8";
const std::string kQueue = "redisson_lock_queue:{app:orders}", kDeadlines = "redisson_lock_timeout:{app:orders}";

class FairAccess : public Access {
 protected:
  /// All that a fair lock needs, and what takes something away.
  void grant_without(const std::vector<std::string>& less) {
    grant({"on", ">s3cret", "~app:*", "~redisson_lock_queue:{app:*}", "~redisson_lock_timeout:{app:*}", "allchannels",
           "+@all"},
          less);
  }
  /// As Redisson does it.
  void queue_somebody() {
    raw.command("RPUSH", kQueue, kNext);
    raw.command("ZADD", kDeadlines, 4'000'000'000'000, kNext);
  }
  std::vector<std::string> queue() {
    std::vector<std::string> owners;
    for (const Reply& owner : raw.command("LRANGE", kQueue, 0, -1).elements) owners.push_back(owner.text);
    return owners;
  }
  /// Nobody waits but who was there before.
  bool only_somebody_waits() {
    return eventually([&] { return queue() == std::vector{kNext} && raw.command("ZCARD", kDeadlines).integer == 1; });
  }
};

/// Which part of a right to listen is missing, and what the server says then.
struct Silence {
  const char* name;
  std::vector<std::string> less;
  const char* said;
};
void PrintTo(const Silence& silence, std::ostream* out) { *out << silence.name; }

class FairUnheard : public FairAccess, public testing::WithParamInterface<Silence> {
 protected:
  testing::Matcher<std::optional<Error>> IsTold() const {
    return IsError(Errc::denied, kName, node(), AllOf(HasSubstr("NOPERM"), HasSubstr(GetParam().said)));
  }
};

TEST_P(FairUnheard, WhoMayNotListenIsToldSoAndHasNoPlaceInTheQueue) {
  grant_without(GetParam().less);
  Client client(as_app());
  const FairLock lock = client.fair_lock(kName);
  EXPECT_TRUE(lock.acquire({.wait = 20s})) << "what is free is granted";
  put_held_lock(raw, kName);
  queue_somebody();
  for (int times = 0; times < 2; ++times) {  // the second time it is known
    EXPECT_THAT(error_of([&] { return lock.acquire(); }), IsTold());
    EXPECT_TRUE(only_somebody_waits()) << testing::PrintToString(queue());
    EXPECT_THAT(error_of([&] { return lock.try_acquire({.wait = 20s}); }), IsTold());
    EXPECT_TRUE(only_somebody_waits()) << testing::PrintToString(queue());
  }
  EXPECT_THAT(raw.hgetall(kName), HeldBy(kSomebodyElse));
  raw.command("DEL", kName);
  EXPECT_THAT(error_of([&] { return lock.acquire(); }), IsTold()) << "free, and somebody else is next";
  EXPECT_TRUE(only_somebody_waits());
  EXPECT_FALSE(raw.exists(kName));
  EXPECT_EQ(client.counters().connections, 1U);
}

INSTANTIATE_TEST_SUITE_P(Without, FairUnheard,
                         testing::Values(Silence{"TheChannel", {"resetchannels"}, "SUBSCRIBE"},
                                         Silence{"TheCommand", {"-subscribe"}, "subscribe"}),
                         [](const auto& tested) { return tested.param.name; });

class FairUnwritten : public FairAccess, public testing::WithParamInterface<const char*> {};

TEST_P(FairUnwritten, WhoMayNotBeQueuedIsToldSoAndLeavesNothing) {
  grant_without({std::string("-") + GetParam()});
  Client client(as_app());
  const FairLock lock = client.fair_lock(kName);
  EXPECT_TRUE(lock.acquire({.wait = 20s})) << "what is free is granted";
  put_held_lock(raw, kName);
  const auto told = IsError(Errc::denied, kName, node(),
                            testing::AnyOf(HasSubstr("run this command"), HasSubstr("permissions to run the")));
  EXPECT_THAT(error_of([&] { return lock.acquire(); }), told) << "at once: it would be refused again";
  EXPECT_THAT(error_of([&] { return lock.try_acquire({.wait = 20s}); }), told);
  EXPECT_FALSE(lock.try_lock()) << "who does not wait is not queued";
  client.close();
  EXPECT_EQ(raw.command("DBSIZE").integer, 1) << testing::PrintToString(queue());
  EXPECT_THAT(raw.hgetall(kName), HeldBy(kSomebodyElse));
}

INSTANTIATE_TEST_SUITE_P(Without, FairUnwritten, testing::Values("zadd", "rpush"),
                         [](const auto& tested) { return std::string(tested.param); });

}  // namespace
}  // namespace holdfast::test::fair_access_test
