// SPDX-License-Identifier: Apache-2.0
// A writer that goes on as a reader, and what is under way meanwhile.
#include "faults.hpp"

namespace holdfast::test::downgrade_test {
namespace {

class Downgrade : public Faults {};

// The server reads both at once: the renewal finds no writer behind the downgrade.
TEST_F(Downgrade, ARenewalThatWasAskedForBeforeItsAnswerIsNoLoss) {
  Config settings = config();
  settings.timing.command_timeout = 10s;
  Client client(settings);
  const ReadWriteLock lock = client.read_write_lock("orders");
  Hold hold = lock.writer().acquire({.lease = renewed(1500ms)});
  server.freeze();
  auto downgraded = in_thread([&] {
    lock.downgrade(hold);
    return true;
  });
  EXPECT_TRUE(eventually([&] { return client.counters().renewal_batches > 0; }));
  server.thaw();
  EXPECT_TRUE(downgraded.get());
  EXPECT_TRUE(eventually([&] { return client.counters().renewals > 0 || hold.is_lost(); }));
  EXPECT_FALSE(hold.is_lost());
  EXPECT_EQ(hold.state(), HoldState::held);
  EXPECT_EQ(raw.hgetall("orders")["mode"], "read");
  EXPECT_EQ(hold.release(), ReleaseOutcome::released);
}

}  // namespace
}  // namespace holdfast::test::downgrade_test
