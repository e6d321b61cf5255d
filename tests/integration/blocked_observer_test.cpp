// SPDX-License-Identifier: Apache-2.0
// An observer that does not come back: what waits for it is bounded and counted, and losses are told all the same.
#include "faults.hpp"

namespace holdfast::test::blocked_observer_test {
namespace {

/// Does not come back from the first event before it is let go.
class Blocked final : public Observer {
 public:
  void on_connection(const ConnectionEvent&) override { go.get_future().wait(); }
  void on_granted(const GrantedEvent&) override { ++granted; }

  std::promise<void> go;
  std::atomic<std::uint64_t> granted{0};
};

class BlockedObserver : public Faults {};

TEST_F(BlockedObserver, KeepsSoManyEventsAndNoMore) {
  const auto observer = std::make_shared<Blocked>();
  Config settings = config();
  settings.observer = observer;
  Client client(settings);
  Lock lock = client.lock("orders");
  constexpr std::uint64_t kPairs = 6000;  // two events each
  for (std::uint64_t i = 0; i < kPairs; ++i) ASSERT_EQ(lock.acquire().release(), ReleaseOutcome::released);
  EXPECT_GE(client.counters().events_dropped, 2 * kPairs - 10'000);
  std::atomic<int> told{0};
  Hold hold = lock.acquire({.on_lost = [&](const LostEvent&) { ++told; }});
  raw.command("DEL", "orders");
  EXPECT_TRUE(eventually([&] { return hold.lost_token().stop_requested(); })) << "loss signals do not wait for it";
  EXPECT_EQ(told, 0);
  observer->go.set_value();
  EXPECT_TRUE(eventually([&] { return told == 1; })) << "loss callbacks are never dropped";
  const std::uint64_t dropped = client.counters().events_dropped;
  EXPECT_TRUE(eventually([&] { return observer->granted >= 1000; }));
  EXPECT_TRUE(eventually([&] {
    const Hold next = lock.acquire();
    return client.counters().events_dropped == dropped;
  }));
}

}  // namespace
}  // namespace holdfast::test::blocked_observer_test
