// All targets of a client: one object per kind and names, found again as long as it lives.
#include "engine/hold/targets.hpp"

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "idle_client.hpp"
#include "kinds/lock.hpp"
#include "kinds/simple_lock.hpp"

namespace holdfast::engine {
namespace {

TEST(TargetsTest, HaveOneObjectPerKindAndNamesAsLongAsSomebodyRefersToIt) {
  const IdleClient client;
  const std::shared_ptr<Targets>& targets = client.targets;
  const std::shared_ptr<KeyTarget> target = targets->target({"orders"}, kinds::kLock);
  EXPECT_EQ(targets->target({"orders"}, kinds::kLock), target);
  EXPECT_NE(targets->target({"orders"}, kinds::kSimpleLock), target);
  const std::shared_ptr<KeyTarget> both = targets->target({"a", "b"}, kinds::kLock);
  EXPECT_EQ(targets->target({"a", "b"}, kinds::kLock), both);
  EXPECT_NE(targets->target({"a, b"}, kinds::kLock), both);
  EXPECT_EQ(both->name(), "a, b");
  EXPECT_EQ(both->batched_locks(), 2U);
  EXPECT_EQ(targets->all(Targets::Which::all).size(), 2U) << "the others are gone";
}

TEST(TargetsTest, FindOneAmongVeryMany) {
  const IdleClient client;
  const std::shared_ptr<Targets>& targets = client.targets;
  const std::shared_ptr<KeyTarget> target = targets->target({"orders"}, kinds::kLock);
  std::vector<std::shared_ptr<KeyTarget>> many;
  for (int i = 0; i < 5000; ++i) many.push_back(targets->target({std::to_string(i)}, kinds::kLock));
  EXPECT_EQ(targets->all(Targets::Which::all).size(), 5001U);
  for (std::size_t i = 0; i < many.size(); i += 7) {
    EXPECT_EQ(targets->target({std::to_string(i)}, kinds::kLock), many[i]);
  }
  many.clear();
  EXPECT_EQ(targets->all(Targets::Which::all).size(), 1U);
}

TEST(TargetsTest, KeepThoseThatOthersWantedMostRecently) {
  const IdleClient client;
  const std::shared_ptr<Targets>& targets = client.targets;
  const auto release_heard_by = [&](std::int64_t others, const std::string& name) {
    const std::shared_ptr<KeyTarget> target = targets->target({name}, kinds::kLock);
    target->begin_release();
    target->end_release({ReleaseOutcome::released, others}, base::Clock::now());
  };
  release_heard_by(0, "quiet");
  EXPECT_EQ(targets->all(Targets::Which::all).size(), 0U);
  for (std::size_t i = 0; i < 3 * Targets::kMostKept; ++i) {
    release_heard_by(1, std::to_string(i));
    release_heard_by(1, std::to_string(i));
  }
  EXPECT_EQ(targets->all(Targets::Which::all).size(), Targets::kMostKept);
  EXPECT_TRUE(targets->target({std::to_string(3 * Targets::kMostKept - 1)}, kinds::kLock)->others_listened());
  EXPECT_FALSE(targets->target({"0"}, kinds::kLock)->others_listened());
  targets->let_go();
  EXPECT_EQ(targets->all(Targets::Which::all).size(), 0U);
}

}  // namespace
}  // namespace holdfast::engine
