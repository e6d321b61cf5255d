// SPDX-License-Identifier: Apache-2.0
// Name look-ups that nobody waits for any more.
#include "redis/connection/resolver.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

namespace holdfast::redis::resolver_test {
namespace {

/// What somebody who waits keeps alive, and who asks the resolver for something at its end.
class Kept {
 public:
  Kept(Resolver& resolver, int& ended) : resolver_(resolver), ended_(ended) {}
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;
  ~Kept() {
    ++ended_;
    resolver_.forget();
  }

 private:
  Resolver& resolver_;
  int& ended_;
};

/// This hangs if one is dropped with the mutex locked.
TEST(ResolverTest, DropsWhoWaitsWithNothingLocked) {
  boost::asio::io_context context;
  Resolver resolver(context.get_executor());
  int ended = 0;
  const auto wait = [&] {
    resolver.look_up({}, {"127.0.0.1", 1}, [kept = std::make_shared<Kept>(resolver, ended)](auto&&...) {});
  };
  wait();
  resolver.forget();
  EXPECT_EQ(ended, 1);
  wait();
  resolver.look_up({}, {"127.0.0.1", 1}, [](auto&&...) {});
  EXPECT_EQ(ended, 2) << "another waits in its place";
  wait();
  resolver.leave();
  EXPECT_EQ(ended, 3);
}

}  // namespace
}  // namespace holdfast::redis::resolver_test
