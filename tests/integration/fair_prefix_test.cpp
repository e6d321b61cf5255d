// SPDX-License-Identifier: Apache-2.0
// A FairLock under a name prefix: older Redissons keep its queue elsewhere, so it is refused unless none takes part.
#include "faults.hpp"

namespace holdfast::test::fair_prefix_test {
namespace {

using testing::HasSubstr;

class FairPrefix : public Faults {
 protected:
  Config prefixed() const {
    Config its = config();
    its.name_prefix = "app:";
    return its;
  }
};

TEST_F(FairPrefix, IsRefusedUnlessItIsSaidThatNoOlderRedissonTakesPart) {
  const Client client(prefixed());
  EXPECT_THAT(error_of([&] { return client.fair_lock("orders"); }),
              IsError(Errc::invalid_argument, "orders", client.node(), HasSubstr("fair_with_prefix")));
  EXPECT_TRUE(client.lock("orders").acquire()) << "no other kind has a queue";
  EXPECT_TRUE(Client(config()).fair_lock("orders").acquire()) << "without a prefix it is the same";

  Config told = prefixed();
  told.fair_with_prefix = true;
  const Client knowing(told);
  Hold hold = knowing.fair_lock("orders").acquire();
  EXPECT_TRUE(raw.exists("app:orders"));
  auto waiting = in_thread([&] { return knowing.fair_lock("orders").acquire(); });
  EXPECT_TRUE(eventually([&] { return raw.exists("redisson_lock_queue:{app:orders}"); }));
  EXPECT_FALSE(raw.exists("redisson_lock_queue:{orders}")) << "where Redisson before 3.52 queues";
  hold.release();
  EXPECT_TRUE(ready(waiting));
}

}  // namespace
}  // namespace holdfast::test::fair_prefix_test
