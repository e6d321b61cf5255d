// SPDX-License-Identifier: Apache-2.0
// force_release(owner): taken from the one who is named, and from nobody who has come since.
#include "faults.hpp"

namespace holdfast::test::force_release_test {
namespace {

enum class Kind { lock, simple };
void PrintTo(Kind kind, std::ostream* out) { *out << (kind == Kind::lock ? "Lock" : "SimpleLock"); }

class ForceRelease : public Faults, public testing::WithParamInterface<Kind> {
 protected:
  KeyLock lock_of(Client& client) const {
    if (GetParam() == Kind::lock) return client.lock("orders");
    return client.simple_lock("orders");
  }

  Client client_{config()};
  KeyLock lock_ = lock_of(client_);
};

TEST_P(ForceRelease, TakesTheLockFromItsOwnerAndWakesTheNext) {
  Client other(config());
  Hold hold = lock_of(other).acquire({.lease = renewed(1min)});
  auto waiting = in_thread([&] { return lock_.acquire({.wait = 20s}).valid_for(); });
  EXPECT_EQ(waiting.wait_for(100ms), std::future_status::timeout);
  Client third(config());
  EXPECT_TRUE(lock_of(third).force_release(hold.owner()));
  EXPECT_GT(waiting.get(), 0ms);
  EXPECT_EQ(hold.release(), ReleaseOutcome::was_lost);
}

TEST_P(ForceRelease, LeavesWhoeverHasComeSince) {
  Client other(config());
  Hold first = lock_of(other).acquire();
  const std::string seen = lock_.info().owner;
  EXPECT_EQ(seen, first.owner());
  EXPECT_EQ(first.release(), ReleaseOutcome::released);
  Hold second = lock_of(other).acquire();
  EXPECT_FALSE(lock_.force_release(seen));
  EXPECT_TRUE(lock_.is_held_by(second.owner()));
  EXPECT_EQ(second.release(), ReleaseOutcome::released);
}

TEST_P(ForceRelease, OfAFreeLockSaysSo) {
  EXPECT_FALSE(lock_.force_release("11111111-2222-4333-8444-555555555555:1"));
  EXPECT_FALSE(lock_.force_release(""));
}

TEST_P(ForceRelease, LeavesAKeyOfAnotherTypeAlone) {
  raw.command("RPUSH", "orders", "precious");
  EXPECT_EQ(error_of([&] { return lock_.force_release("somebody:1"); })->code(), code(Errc::wrong_type));
  EXPECT_EQ(raw.command("LLEN", "orders").integer, 1);
}

TEST_P(ForceRelease, WithoutAnOwnerLeavesAKeyOfAnotherTypeAlone) {
  raw.command("RPUSH", "orders", "precious");
  EXPECT_EQ(error_of([&] { return lock_.force_release(); })->code(), code(Errc::wrong_type));
  EXPECT_EQ(raw.command("LLEN", "orders").integer, 1);
}

class ForceReleaseOfAString : public Faults {
 protected:
  Client client_{config()};
  SimpleLock lock_ = client_.simple_lock("orders");
};

TEST_F(ForceReleaseOfAString, TakesOneThatHasAnExpiry) {
  raw.command("SET", "orders", "a stranger's token", "PX", 60'000);
  EXPECT_TRUE(lock_.force_release());
  EXPECT_FALSE(raw.exists("orders"));
}

TEST_F(ForceReleaseOfAString, LeavesOneWithoutAnExpiryToThoseWhoKnowItsValue) {
  raw.command("SET", "orders", "a stranger's token");
  EXPECT_THAT(error_of([&] { return lock_.force_release(); }),
              IsError(Errc::wrong_type, "orders", client_.node(), testing::HasSubstr("a string without an expiry")));
  EXPECT_FALSE(lock_.force_release("another's token"));
  EXPECT_FALSE(lock_.force_release(""));
  EXPECT_EQ(raw.command("GET", "orders").text, "a stranger's token");
  EXPECT_TRUE(lock_.force_release("a stranger's token"));
  EXPECT_FALSE(raw.exists("orders"));
}

INSTANTIATE_TEST_SUITE_P(Kinds, ForceRelease, testing::Values(Kind::lock, Kind::simple),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace holdfast::test::force_release_test
