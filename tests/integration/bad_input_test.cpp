// SPDX-License-Identifier: Apache-2.0
// Mistakes of the caller: URLs, settings, leases and names that make no sense or are merely odd, and releases of what
// the caller does not have.
#include <cmath>

#include "base/text.hpp"
#include "faults.hpp"
#include "support/strange_unlock.hpp"
#include "support/tried.hpp"

namespace holdfast::test::bad_input_test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// What is wrong with a URL, and a part of what is said about it.
struct BadUrl {
  std::string url, said;
};
void PrintTo(const BadUrl& bad, std::ostream* out) { *out << bad.url; }

class MalformedUrl : public testing::TestWithParam<BadUrl> {};

TEST_P(MalformedUrl, IsRefusedWithItsReasonAndWithoutItsPassword) {
  const auto error = error_of([] { return Client(GetParam().url); });
  ASSERT_THAT(error, IsError(Errc::invalid_argument, "", "", HasSubstr(GetParam().said)));
  EXPECT_THAT(error->what(), Not(HasSubstr("s3cret")));
}

INSTANTIATE_TEST_SUITE_P(
    Urls, MalformedUrl,
    testing::Values(BadUrl{"", "the URL"}, BadUrl{"localhost", "redis://"}, BadUrl{"http://localhost", "redis://"},
                    BadUrl{"redis://user:s3cret@localhost:port", "port"},
                    BadUrl{"redis://:s3cret@localhost:70000", "port"}, BadUrl{"redis://:s3%zzcret@localhost", "%25"},
                    BadUrl{"redis://[::1", "]"}, BadUrl{"redis://:s3cret@localhost/zero", "zero"},
                    BadUrl{"redis://localhost?lease=10", "lease"}, BadUrl{"redis://localhost?lease=5ms", "lease"},
                    BadUrl{"redis://localhost?colour=red", "colour"},
                    BadUrl{"redis://localhost?password=s3cret", "password"}, BadUrl{"unix://", "socket"},
                    BadUrl{"local:here", "local:"}));

class BadInput : public Faults {
 protected:
  BadInput() : client(config()) {}

  Client client;
};

// --- Leases ---

TEST_F(BadInput, ALeaseOutOfRangeIsRefusedBeforeAnythingIsSent) {
  client.ping();
  Lock lock = client.lock("orders");
  const std::uint64_t commands = client.counters().commands;
  for (const milliseconds length :
       {0ms, -1ms, milliseconds::min(), 9ms, milliseconds(24h * 365 * 11), milliseconds::max()}) {
    const auto said =
        IsError(Errc::invalid_argument, "orders", client.node(), HasSubstr(std::to_string(length.count())));
    for (const Lease lease : {fixed(length), renewed(length)}) {
      EXPECT_THAT(error_of([&] { return lock.acquire({.lease = lease}); }), said);
      EXPECT_THAT(error_of([&] { return lock.try_acquire({.lease = lease}); }), said);
      EXPECT_THAT(error_of([&] { return client.lock("orders", {.lease = lease}); }), said);
      std::error_code error;
      EXPECT_EQ(tried(lock, {.lease = lease}, error), std::nullopt);
      EXPECT_EQ(error, Errc::invalid_argument);
    }
    EXPECT_THAT(
        error_of([&] { return Client(config("redis://localhost?lease=" + std::to_string(length.count()) + "ms")); }),
        testing::Optional(testing::Property(&Error::code, code(Errc::invalid_argument))));
  }
  for (const milliseconds cap : {0ms, -1ms, milliseconds::max()}) {
    EXPECT_THAT(error_of([&] { return lock.acquire({.max_hold = cap}); }),
                IsError(Errc::invalid_argument, "orders", client.node(), HasSubstr("max_hold")));
  }
  EXPECT_EQ(client.counters().commands, commands);
  EXPECT_FALSE(raw.exists("orders"));
}

TEST_F(BadInput, TheShortestAndTheLongestLeaseAreTaken) {
  Lock lock = client.lock("orders");
  {
    const Hold hold = lock.acquire({.lease = fixed(24h * 365 * 10)});
    EXPECT_GT(raw.pttl("orders"), std::chrono::duration_cast<milliseconds>(24h * 365 * 9).count());
    EXPECT_GT(hold.valid_for(), 24h * 365 * 9);
  }
  Hold brief = lock.acquire({.lease = fixed(10ms)});
  EXPECT_TRUE(eventually([&] { return brief.valid_for() == 0ms && !raw.exists("orders"); }));
  EXPECT_EQ(brief.release(), ReleaseOutcome::was_lost);
}

TEST_F(BadInput, AnyLimitOnWaitingIsUnderstood) {
  const Hold holder = client.lock("orders").acquire();
  Lock lock = Client(config()).lock("other");
  Lock same = client.lock("orders");
  EXPECT_EQ(same.try_acquire({.wait = milliseconds::min()}), std::nullopt);
  EXPECT_EQ(same.try_acquire({.wait = -1ms}), std::nullopt);
  EXPECT_FALSE(same.try_lock_for(std::chrono::nanoseconds(1)));
  // Far below zero, where milliseconds overflow, is one attempt as well, and so is what is no number.
  using std::chrono::hours, std::chrono::system_clock;
  using Seconds = std::chrono::duration<double>;
  auto none_waits = in_thread([&] {
    return same.try_lock_for(hours(-3'843'071'682'023)) || same.try_lock_for(hours::min()) || same.try_lock_for(-1ns) ||
           same.try_lock_for(std::chrono::nanoseconds::min()) || same.try_lock_for(Seconds(-1e300)) ||
           same.try_lock_for(Seconds(std::nan(""))) || same.try_lock_until(system_clock::time_point::min()) ||
           same.try_lock_until(steady_clock::time_point::min()) ||
           same.try_lock_until(std::chrono::time_point<system_clock, hours>::min()) ||
           same.try_lock_until(std::chrono::time_point<system_clock, Seconds>(Seconds(-1e300)));
  });
  EXPECT_TRUE(ready(none_waits));
  EXPECT_FALSE(ready(none_waits) && none_waits.get());
  Client second(config());
  Lock theirs = second.lock("orders");
  EXPECT_EQ(theirs.try_acquire({.wait = milliseconds::min()}), std::nullopt);
  std::stop_source stop;
  auto endless = in_thread([&] { return theirs.try_acquire({.wait = milliseconds::max(), .stop = stop.get_token()}); });
  EXPECT_TRUE(listeners(raw, "orders"));
  EXPECT_FALSE(ready(endless, 50ms));
  stop.request_stop();
  EXPECT_EQ(endless.get(), std::nullopt);
}

// --- Names ---

struct OddName {
  std::string label, name;
};
void PrintTo(const OddName& odd, std::ostream* out) { *out << odd.label; }

std::string label_of(const testing::TestParamInfo<OddName>& info) { return info.param.label; }

class OddNames : public BadInput, public testing::WithParamInterface<OddName> {};

TEST_P(OddNames, AreLockedHandedOverListedAndTold) {
  const std::string& name = GetParam().name;
  const bool braces = name.find('{') != std::string::npos;
  const std::string channel = "redisson_lock__channel:" + (braces ? name : "{" + name + "}");
  Client second(config());
  Hold hold = client.lock(name).acquire();
  EXPECT_EQ(hold.name(), name);
  EXPECT_THAT(raw.hgetall(name), HeldBy(hold.owner()));
  EXPECT_THAT(client.list(), ElementsAre(AllOf(Field(&LockInfo::name, name), Field(&LockInfo::owner, hold.owner()))));

  auto next = in_thread([&] { return second.lock(name).acquire(); });
  ASSERT_TRUE(eventually([&] { return raw.command("PUBSUB", "NUMSUB", channel).elements.at(1).integer == 1; }));
  EXPECT_EQ(hold.release(), ReleaseOutcome::released);
  ASSERT_TRUE(ready(next));
  EXPECT_GT(second.counters().wakes, 0U);
  EXPECT_TRUE(client.lock(name).force_release());

  raw.command("DEL", name);
  raw.command("SET", name, "not a lock");
  const auto error = error_of([&] { return client.lock(name).acquire(); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), Errc::wrong_type);
  EXPECT_EQ(error->key(), name);
  EXPECT_THAT(error->what(), HasSubstr("lock " + base::quote(name) + " on " + client.node()));
  EXPECT_EQ(std::string_view(error->what()).find('\n'), std::string_view::npos);
}

INSTANTIATE_TEST_SUITE_P(Names, OddNames,
                         testing::Values(OddName{"Spaces", " two  spaces "}, OddName{"Newlines", "a\r\nb\n"},
                                         OddName{"Nul", std::string("a\0b\0", 4)},
                                         OddName{"NonAscii",
                                                 "sm\xc3\xb8rrebr\xc3\xb8"
                                                 "d \xe2\x9c\x93"},
                                         OddName{"NotUtf8", "\xff\xfe\x80"}, OddName{"Braces", "{tag}rest"},
                                         OddName{"OpenBrace", "a{b"}, OddName{"EmptyBraces", "x{}y"},
                                         OddName{"ClosingFirst", "a}b{c}"}, OddName{"Glob", "a*?[b]\\"},
                                         OddName{"Quotes", "say \"hi\""}, OddName{"Protocol", "*1\r\n$4\r\nPING\r\n"},
                                         OddName{"Long", std::string(70'000, 'x')}),
                         label_of);

TEST_F(BadInput, AnEmptyNameIsRefused) {
  EXPECT_THAT(error_of([&] { return client.lock(""); }),
              IsError(Errc::invalid_argument, "", client.node(), HasSubstr("empty")));
}

TEST_F(BadInput, APrefixIsPartOfTheKeyButNotOfTheName) {
  Config prefixed = config();
  prefixed.name_prefix = "app {1}:";
  Client other(prefixed);
  const Hold hold = other.lock("orders").acquire();
  EXPECT_THAT(raw.hgetall("app {1}:orders"), HeldBy(hold.owner()));
  EXPECT_EQ(hold.name(), "orders");
  EXPECT_THAT(other.list(), ElementsAre(Field(&LockInfo::name, "orders")));
  EXPECT_FALSE(client.lock("orders").is_locked());
}

// --- Releases ---

TEST_F(BadInput, AReleaseBySomebodyElseIsToldAndChangesNothing) {
  Lock lock = client.lock("orders");
  lock.lock();
  const std::map<std::string, std::string> before = raw.hgetall("orders");
  in_thread([&] {
    EXPECT_THAT(error_of([&] { return lock.this_thread().release(); }),
                IsError(Errc::not_owner, "orders", client.node(), Not("")));
    unlock_in_release(lock);
    Client second(config());
    EXPECT_THAT(error_of([&] { return second.lock("orders").this_thread().release(); }),
                IsError(Errc::not_owner, "orders", client.node(), Not("")));
  }).get();
  EXPECT_EQ(raw.hgetall("orders"), before);
  EXPECT_TRUE(lock.this_thread().is_holding());
  EXPECT_EQ(lock.this_thread().release(), UnlockOutcome::released);
  EXPECT_THAT(error_of([&] { return lock.this_thread().release(); }),
              IsError(Errc::not_owner, "orders", client.node(), Not("")));
}

TEST_F(BadInput, AReleaseAfterExpirySaysLostAndLeavesTheNextHolderAlone) {
  Hold late = client.lock("orders").acquire({.lease = fixed(50ms)});
  Client second(config());
  const Hold next = second.lock("orders").acquire();
  EXPECT_EQ(late.release(), ReleaseOutcome::was_lost);
  EXPECT_EQ(late.release(), ReleaseOutcome::was_lost);
  EXPECT_THAT(raw.hgetall("orders"), HeldBy(next.owner()));
  EXPECT_TRUE(log->wait_for("released"));
  EXPECT_THAT(log->details("released"), ElementsAre("was_lost"));
  EXPECT_THAT(log->details("lost"), ElementsAre("expired"));
  EXPECT_EQ(client.counters().released, 0U);
}

TEST_F(BadInput, AThreadWhoseLeaseRanOutIsToldInEveryFace) {
  Lock lock = client.lock("orders", {.lease = fixed(1s)});
  lock.lock();
  lock.lock();
  ASSERT_TRUE(eventually([&] { return lock.this_thread().valid_for() == 0ms; }));
  EXPECT_FALSE(lock.this_thread().is_holding());
  EXPECT_TRUE(lock.this_thread().lost_token().stop_requested());
  EXPECT_EQ(lock.this_thread().hold_count(), 2);
  EXPECT_THAT(error_of([&] { lock.lock(); }), IsError(Errc::lost, "orders", client.node(), Not("")));
  EXPECT_EQ(lock.this_thread().release(), UnlockOutcome::was_lost);
  EXPECT_TRUE(eventually([&] { return !raw.exists("orders"); }));
  EXPECT_EQ(lock.this_thread().release(), UnlockOutcome::was_lost);
  lock.lock();
  EXPECT_TRUE(lock.this_thread().is_holding());
  EXPECT_EQ(lock.this_thread().hold_count(), 1);
  lock.unlock();
}

}  // namespace
}  // namespace holdfast::test::bad_input_test
