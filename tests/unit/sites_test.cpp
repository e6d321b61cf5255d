// All sites of a client: one object per kind and names, found again as long as it lives.
#include "engine/sites.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sync/plans.hpp"

namespace holdfast::engine {
namespace {

using namespace std::chrono_literals;

TEST(SitesTest, HaveOneObjectPerKindAndNamesAsLongAsSomebodyRefersToIt) {
  const auto sites = std::make_shared<Sites>(std::make_shared<redis::Channels>(), "app:", 2ms);
  const std::shared_ptr<Site> site = sites->site({"orders"}, sync::kLockPlan);
  EXPECT_EQ(sites->site({"orders"}, sync::kLockPlan), site);
  EXPECT_NE(sites->site({"orders"}, sync::kSimplePlan), site);
  const std::shared_ptr<Site> both = sites->site({"a", "b"}, sync::kLockPlan);
  EXPECT_EQ(sites->site({"a", "b"}, sync::kLockPlan), both);
  EXPECT_NE(sites->site({"a, b"}, sync::kLockPlan), both);
  EXPECT_EQ(both->name(), "a, b");
  EXPECT_EQ(both->batched_locks(), 2U);
  EXPECT_EQ(sites->all().size(), 2U) << "the others are gone";
}

TEST(SitesTest, FindOneAmongVeryMany) {
  const auto sites = std::make_shared<Sites>(std::make_shared<redis::Channels>(), "app:", 2ms);
  const std::shared_ptr<Site> site = sites->site({"orders"}, sync::kLockPlan);
  std::vector<std::shared_ptr<Site>> many;
  for (int i = 0; i < 5000; ++i) many.push_back(sites->site({std::to_string(i)}, sync::kLockPlan));
  EXPECT_EQ(sites->all().size(), 5001U);
  for (std::size_t i = 0; i < many.size(); i += 7) {
    EXPECT_EQ(sites->site({std::to_string(i)}, sync::kLockPlan), many[i]);
  }
  many.clear();
  EXPECT_EQ(sites->all().size(), 1U);
}

}  // namespace
}  // namespace holdfast::engine
