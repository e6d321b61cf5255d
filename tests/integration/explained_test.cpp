// SPDX-License-Identifier: Apache-2.0
// A limit on waiting that was reached in vain says who has the lock, within the limit, and for nothing where nobody
// reads it.
#include <array>
#include <unistd.h>

#include "access.hpp"
#include "support/proxy.hpp"
#include "support/tried.hpp"

namespace holdfast::test::explained_test {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

std::string who(const std::string& label) {
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  return "held by " + std::string(host.data()) + ", process " + std::to_string(getpid()) + ", label " + label;
}

class Explained : public Access {
 protected:
  Config labelled() const {
    Config its = config();
    its.label = "nightly";
    return its;
  }

  Client holder{labelled()};
  Client waiter{config()};
};

TEST_F(Explained, AcquireNamesTheHolderAndHowLongItWasSeenToHold) {
  const Hold hold = holder.lock("orders").acquire({.lease = renewed(1min)});
  const Timed timed = timed_error_of([&] { return waiter.lock("orders").acquire({.wait = 2500ms}); });
  EXPECT_THAT(timed.error, IsError(Errc::timed_out, "orders", waiter.node(),
                                   MatchesRegex(who("nightly") + ", for at least [12] s")));
  EXPECT_GE(timed.took, 2500ms);
  EXPECT_EQ(raw.calls("client|list"), 1);
}

TEST_F(Explained, AThreadThatHoldsItItselfIsToldSo) {
  const Lock lock = waiter.lock("orders");
  const Hold hold = lock.acquire({.lease = renewed(1min)});
  EXPECT_THAT(error_of([&] { return lock.acquire({.wait = 1500ms}); }),
              IsError(Errc::timed_out, "orders", waiter.node(), HasSubstr("held by this process")));
}

TEST_F(Explained, TheStandardsLockDoesSoToo) {
  const Hold hold = holder.simple_lock("orders").acquire();
  SimpleLock lock = waiter.simple_lock("orders", {.wait = 2s});
  EXPECT_THAT(error_of([&] {
                lock.lock();
                return true;
              }),
              IsError(Errc::timed_out, "orders", waiter.node(), HasSubstr(who("nightly"))));
}

TEST_F(Explained, SeveralLocksNameTheHolderOfTheOneThatIsTaken) {
  const Hold hold = holder.lock("b").acquire();
  EXPECT_THAT(error_of([&] { return waiter.multi_lock({"a", "b", "c"}).acquire({.wait = 2s}); }),
              IsError(Errc::timed_out, "a, b, c", waiter.node(), HasSubstr("; " + who("nightly"))));
}

TEST_F(Explained, NothingIsAskedWhereNobodyReadsTheText) {
  const Hold hold = holder.lock("orders").acquire();
  Lock lock = waiter.lock("orders");
  std::error_code error;
  EXPECT_EQ(tried(lock, {.wait = 1100ms}, error), std::nullopt);
  EXPECT_EQ(lock.try_acquire({.wait = 1100ms}), std::nullopt);
  EXPECT_FALSE(lock.try_lock_for(1100ms));
  EXPECT_TRUE(error_of([&] { return lock.acquire({.wait = 300ms}); })) << "many may wait as shortly as that";
  EXPECT_EQ(raw.calls("client|list"), 0);
}

TEST_F(Explained, ManyWaitersOfOneClientCauseOneList) {
  const Hold hold = holder.lock("orders").acquire();
  std::vector<std::future<std::optional<Error>>> waiting;
  for (int i = 0; i < 20; ++i) {
    waiting.push_back(in_thread([&] { return error_of([&] { return waiter.lock("orders").acquire({.wait = 2s}); }); }));
  }
  for (auto& each : waiting) {
    EXPECT_THAT(each.get(), IsError(Errc::timed_out, "orders", waiter.node(), HasSubstr(who("nightly"))));
  }
  EXPECT_LE(raw.calls("client|list"), 10) << "one, unless this machine stands still in between";
}

TEST_F(Explained, OfSeveralServersOneThatKnowsIsEnough) {
  RedisServer second({.listen = ServerOptions::Listen::tcp});
  RedisServer third({.listen = ServerOptions::Listen::tcp});
  Client on_second(config(second.url()));
  Client on_third(config(third.url()));
  Client holds_second([&] {
    Config its = labelled();
    std::get<NodeAddress>(its.server).port = second.port();
    return its;
  }());
  const Hold first_hold = holder.lock("orders").acquire();
  const Hold second_hold = holds_second.lock("orders").acquire();
  RedLock lock(std::vector<Lock>{waiter.lock("orders"), on_second.lock("orders"), on_third.lock("orders")});
  const std::optional<Error> error = error_of([&] { return lock.acquire({.wait = 2s}); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), Errc::timed_out);
  EXPECT_THAT(error->what(), HasSubstr(who("nightly")));
}

TEST_F(Explained, AServerThatIsSilentByThenDoesNotHoldUpTheEnd) {
  const Hold hold = holder.lock("orders").acquire({.lease = renewed(1min)});
  auto waiting =
      in_thread([&] { return timed_error_of([&] { return waiter.lock("orders").acquire({.wait = 2500ms}); }); });
  ASSERT_TRUE(listeners(raw, "orders"));
  server.freeze();
  const Timed timed = waiting.get();
  server.thaw();
  ASSERT_TRUE(timed.error);
  EXPECT_EQ(timed.error->code(), Errc::timed_out);
  EXPECT_THAT(timed.error->what(), Not(HasSubstr("held by ")));
  EXPECT_LT(timed.took, 10s);
}

TEST_F(Explained, WithoutPermissionThereIsNoNameAndNoTrouble) {
  const Hold hold = holder.lock("app:orders").acquire({.lease = renewed(1min)});
  for (const char* right : {"-client|list", "-info", "-hgetall"}) {
    grant(kRights, {right});
    Client client(as_app());
    const std::optional<Error> error = error_of([&] { return client.lock("app:orders").acquire({.wait = 2s}); });
    ASSERT_TRUE(error) << right;
    EXPECT_EQ(error->code(), Errc::timed_out) << right;
    EXPECT_THAT(error->what(), Not(HasSubstr("NOPERM"))) << right;
    EXPECT_THAT(error->what(), Not(HasSubstr("nightly"))) << right;
    EXPECT_EQ(client.counters().connections, 1U) << right;
  }
}

TEST_F(Explained, ADeadHolderIsToldAsWhatItMayBe) {
  Config its = labelled();
  its.on_close = OnClose::leave_to_expire;
  its.lease = 60s;
  {
    Client dead(its);
    const Hold hold = dead.lock("orders").acquire();
    dead.close();
  }
  EXPECT_THAT(
      error_of([&] { return waiter.lock("orders").acquire({.wait = 2s}); }),
      IsError(Errc::timed_out, "orders", waiter.node(),
              ContainsRegex("without a connection \\(a ticket, --at-least, cut off, or dead\\); unless .* ends in "
                            "[0-9]+ s$")));
}

}  // namespace
}  // namespace holdfast::test::explained_test
