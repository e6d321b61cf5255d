// SPDX-License-Identifier: Apache-2.0
// A client is closed by another thread at each allocation of an acquire: somewhere between any two steps of it.
#include "starving.hpp"
#include "support/held_lock.hpp"

namespace holdfast::test::closed_midway_test {
namespace {

enum class Held { by_nobody, by_a_stranger, by_the_client };

class ClosedMidway : public Faults, protected Starving, public testing::WithParamInterface<Held> {
 protected:
  /// False: there are fewer allocations than that.
  bool close_at(long allocation) {
    std::promise<bool> reached;  // outlives the client's loop, which may be who reaches it
    Config settings = config();
    settings.observer = nullptr;
    settings.timing.release_timeout = 500ms;
    Client client(settings);
    client.ping();
    std::optional<Hold> hold;
    if (GetParam() == Held::by_a_stranger) put_held_lock(raw, "orders");
    if (GetParam() == Held::by_the_client) hold = client.lock("orders").acquire();
    const std::shared_future<void> closing = in_thread([&] {
                                               const Exempt here;
                                               if (reached.get_future().get()) client.close();
                                             }).share();
    // Where a mutex is held it is over only when the acquire has gone on.
    allocations::instead = [&reached, closing] {
      reached.set_value(true);
      closing.wait_for(100ms);
    };
    allocations::before_failure = allocation;
    in_thread([&] {
      const Exempt here;
      try_to([&] { const MaybeHold second = client.lock("orders").try_acquire({.wait = 20ms}); });
    }).wait();
    const bool closed = allocations::before_failure.exchange(-1) < 0;
    if (!closed) reached.set_value(false);
    closing.wait();
    return closed;
  }
};

TEST_P(ClosedMidway, AnAcquireLeavesNothing) {
  const std::size_t descriptors = open_descriptors();
  long allocation = 0;
  for (; close_at(allocation); ++allocation) {
    SCOPED_TRACE("the allocation: " + std::to_string(allocation));
    ASSERT_TRUE(eventually([&] { return raw.info("clients", "connected_clients") == "1"; }));
    ASSERT_TRUE(eventually([&] { return open_descriptors() <= descriptors; }, 5s)) << descriptors_in_words();
    raw.command("HDEL", "orders", kSomebodyElse);
    ASSERT_TRUE(eventually([&] { return !raw.exists("orders"); }));
  }
  EXPECT_GT(allocation, 3);
}

INSTANTIATE_TEST_SUITE_P(Where, ClosedMidway,
                         testing::Values(Held::by_nobody, Held::by_a_stranger, Held::by_the_client),
                         [](const auto& where) {
                           switch (where.param) {
                             case Held::by_nobody:
                               return "NobodyHoldsIt";
                             case Held::by_a_stranger:
                               return "AStrangerHoldsIt";
                             case Held::by_the_client:
                               break;
                           }
                           return "TheClientHoldsIt";
                         });

}  // namespace
}  // namespace holdfast::test::closed_midway_test
