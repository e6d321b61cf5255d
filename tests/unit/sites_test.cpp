// All sites of a client: one object per kind and names, found again as long as it lives.
#include "engine/hold/sites.hpp"

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "idle_client.hpp"
#include "kinds/lock.hpp"
#include "kinds/simple_lock.hpp"

namespace holdfast::engine {
namespace {

TEST(SitesTest, HaveOneObjectPerKindAndNamesAsLongAsSomebodyRefersToIt) {
  const IdleClient client;
  const std::shared_ptr<Sites>& sites = client.sites;
  const std::shared_ptr<Site> site = sites->site({"orders"}, kinds::kLock);
  EXPECT_EQ(sites->site({"orders"}, kinds::kLock), site);
  EXPECT_NE(sites->site({"orders"}, kinds::kSimpleLock), site);
  const std::shared_ptr<Site> both = sites->site({"a", "b"}, kinds::kLock);
  EXPECT_EQ(sites->site({"a", "b"}, kinds::kLock), both);
  EXPECT_NE(sites->site({"a, b"}, kinds::kLock), both);
  EXPECT_EQ(both->name(), "a, b");
  EXPECT_EQ(both->batched_locks(), 2U);
  EXPECT_EQ(sites->targets(Sites::Which::all).size(), 2U) << "the others are gone";
}

TEST(SitesTest, FindOneAmongVeryMany) {
  const IdleClient client;
  const std::shared_ptr<Sites>& sites = client.sites;
  const std::shared_ptr<Site> site = sites->site({"orders"}, kinds::kLock);
  std::vector<std::shared_ptr<Site>> many;
  for (int i = 0; i < 5000; ++i) many.push_back(sites->site({std::to_string(i)}, kinds::kLock));
  EXPECT_EQ(sites->targets(Sites::Which::all).size(), 5001U);
  for (std::size_t i = 0; i < many.size(); i += 7) {
    EXPECT_EQ(sites->site({std::to_string(i)}, kinds::kLock), many[i]);
  }
  many.clear();
  EXPECT_EQ(sites->targets(Sites::Which::all).size(), 1U);
}

TEST(SitesTest, KeepThoseThatOthersWantedMostRecently) {
  const IdleClient client;
  const std::shared_ptr<Sites>& sites = client.sites;
  const auto release_heard_by = [&](std::int64_t others, const std::string& name) {
    const std::shared_ptr<Site> site = sites->site({name}, kinds::kLock);
    site->begin_release();
    site->end_release({ReleaseOutcome::released, others}, base::Clock::now());
  };
  release_heard_by(0, "quiet");
  EXPECT_EQ(sites->targets(Sites::Which::all).size(), 0U);
  for (std::size_t i = 0; i < 3 * Sites::kMostKept; ++i) {
    release_heard_by(1, std::to_string(i));
    release_heard_by(1, std::to_string(i));
  }
  EXPECT_EQ(sites->targets(Sites::Which::all).size(), Sites::kMostKept);
  EXPECT_TRUE(sites->site({std::to_string(3 * Sites::kMostKept - 1)}, kinds::kLock)->others_listened());
  EXPECT_FALSE(sites->site({"0"}, kinds::kLock)->others_listened());
  sites->let_go();
  EXPECT_EQ(sites->targets(Sites::Which::all).size(), 0U);
}

}  // namespace
}  // namespace holdfast::engine
