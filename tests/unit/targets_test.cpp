// SPDX-License-Identifier: Apache-2.0
// All targets of a client: one object per kind and names, found again as long as it lives.
#include "lock/targets/targets.hpp"

#include <algorithm>
#include <atomic>
#include <ctime>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "idle_client.hpp"
#include "kinds/kinds.hpp"
#include "lock/targets/quorum_target.hpp"

namespace holdfast::engine::targets_test {
namespace {

std::vector<Member> two_members(const IdleClient& client) {
  std::vector<Member> members;
  for (const char* const name : {"a", "b"}) {
    members.push_back({client.runtime, client.targets->target({name}, kinds::kLock)});
  }
  return members;
}

std::shared_ptr<QuorumTarget> group_of_two(const IdleClient& client) {
  return make_group("both", two_members(client), 2, Members::Servers::any);
}

/// A group to which nobody else refers any more once it has been asked where it lies.
class Parting : public QuorumTarget {
 public:
  using QuorumTarget::QuorumTarget;
  bool lies_in(const Runtime&, const redis::cluster::SlotSet&) const override {
    others.reset();
    return false;
  }
  mutable std::shared_ptr<const Target> others;
};

/// Of this thread, on a processor: other work on the machine does not matter.
double seconds_of_work() {
  timespec spent{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
  return static_cast<double>(spent.tv_sec) + static_cast<double>(spent.tv_nsec) * 1e-9;
}

/// As long as it takes at best to adopt so many that live.
double time_to_adopt(int count) {
  double best = 1e9;
  for (int i = 0; i < 5; ++i) {
    const IdleClient client;
    const std::shared_ptr<Target> target = client.targets->target({"orders"}, kinds::kLock);
    const double began = seconds_of_work();
    for (int each = 0; each < count; ++each) client.targets->adopt(target, Targets::Bond::wakes);
    best = std::min(best, seconds_of_work() - began);
  }
  return best;
}

TEST(TargetsTest, HaveOneObjectPerKindAndNamesAsLongAsSomebodyRefersToIt) {
  const IdleClient client;
  const boost::intrusive_ptr<Targets>& targets = client.targets;
  const std::shared_ptr<KeyTarget> target = targets->target({"orders"}, kinds::kLock);
  EXPECT_EQ(targets->target({"orders"}, kinds::kLock), target);
  EXPECT_NE(targets->target({"orders"}, kinds::kSimpleLock), target);
  const std::shared_ptr<KeyTarget> both = targets->target({"a", "b"}, kinds::kLock);
  EXPECT_EQ(targets->target({"a", "b"}, kinds::kLock), both);
  EXPECT_NE(targets->target({"a, b"}, kinds::kLock), both);
  EXPECT_EQ(both->name(), "a, b");
  EXPECT_EQ(both->locks(), 2U);
  EXPECT_EQ(targets->all(Targets::Which::all).size(), 2U) << "the others are gone";
}

TEST(TargetsTest, FindOneAmongVeryMany) {
  const IdleClient client;
  const boost::intrusive_ptr<Targets>& targets = client.targets;
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
  const boost::intrusive_ptr<Targets>& targets = client.targets;
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

/// The last reference may then be that of whoever looks through them. A target that goes strikes itself off, which
/// takes the mutex: this hangs if that is locked.
TEST(TargetsTest, MayGoWhileTheyAreLookedThrough) {
  const IdleClient client;
  std::atomic<bool> over{false};
  std::thread drops([&] {
    for (int i = 0; i < 20'000; ++i) group_of_two(client);
    over.store(true);
  });
  std::size_t most = 0;
  while (!over.load()) {
    EXPECT_TRUE(client.targets->in({}).empty());
    most = std::max(most, client.targets->all(Targets::Which::all).size());
  }
  drops.join();
  EXPECT_LE(most, 3U);
  EXPECT_TRUE(client.targets->all(Targets::Which::all).empty());
}

/// The same in one thread, where it does not take luck.
TEST(TargetsTest, MayGoWhenTheyAreLookedAt) {
  const IdleClient client;
  {
    const auto group = std::make_shared<Parting>("both", two_members(client), 2, Members::Servers::any);
    client.targets->adopt(group, Targets::Bond::wakes);
    group->others = group;
  }
  EXPECT_TRUE(client.targets->in({}).empty());
  EXPECT_TRUE(client.targets->all(Targets::Which::all).empty()) << "they have gone";
}

TEST(TargetsTest, AreAdoptedAtAPriceThatDoesNotGrowWithTheirNumber) {
  EXPECT_LT(time_to_adopt(40'000), 40 * time_to_adopt(4'000)) << "ten times as many";
}

}  // namespace
}  // namespace holdfast::engine::targets_test
