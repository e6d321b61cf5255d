// SPDX-License-Identifier: Apache-2.0
// The simulator itself: that a seed decides everything, that its judge finds what is wrong on purpose, and that what
// fails gets small. And some seeds of each scenario.
#include <algorithm>
#include <cstdio>
#include <map>
#include <ostream>

#include "sim/run.hpp"
#include "sim/shrink.hpp"
#include "support/paths.hpp"

namespace holdfast::test::sim {

void PrintTo(const Scenario& scenario, std::ostream* out) { *out << scenario.name; }

namespace {

using Digests = std::map<std::uint64_t, std::uint64_t>;  // by seed

std::string promise_of(const Plan& plan) {
  const Outcome outcome = run(plan);
  return outcome.violation ? outcome.violation->promise : std::string();
}

class Scenarios : public testing::TestWithParam<Scenario> {};
INSTANTIATE_TEST_SUITE_P(Of, Scenarios, testing::ValuesIn(scenarios()),
                         [](const auto& tested) { return std::string(tested.param.name); });

TEST_P(Scenarios, KeepTheirPromises) {
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    const Plan plan = make_plan(GetParam().name, seed);
    const Outcome outcome = run(plan);
    ASSERT_FALSE(outcome.violation) << outcome.violation->promise << ": " << outcome.violation->what << "\n"
                                    << "build/tests/simulate --scenario " << plan.scenario << " --seed " << seed
                                    << " --shrink --trace";
  }
}

/// Of a library that was wrong. Sentinels: the process ended with a look at a key that was no longer watched.
/// Of groups: a release that is heard before a member's vote, since messages have a connection of their own.
TEST(Seeds, ThatFoundSomethingFindItNoMore) {
  EXPECT_EQ(promise_of(make_plan("sentinel", 1718)), "");
  EXPECT_EQ(promise_of(make_plan("multilock", 433)), "");
  EXPECT_EQ(promise_of(make_plan("redlock", 722)), "");
}

/// Of a judge that was wrong: a redirect that is read behind its command's time limit, when `patience` is over; a
/// semaphore's number that a lost primary had given away, and that came back with its replica; a turn that passed while
/// the server stood still, and whoever had it came back behind others; a permit extended beyond all leases by who was
/// killed; a reader's lease that nobody else knew of, behind that of another who released; and many waits, each as long
/// as its limit, for permits that were killed with their process.
TEST(Seeds, ThatTheJudgeMisunderstoodFindNothing) {
  EXPECT_EQ(promise_of(make_plan("fair", 46068864)), "");
  EXPECT_EQ(promise_of(make_plan("permits", 46079667)), "");
  EXPECT_EQ(promise_of(make_plan("read_write", 46047163)), "");
  EXPECT_EQ(promise_of(make_plan("cluster_acks", 4026224)), "");
  EXPECT_EQ(promise_of(make_plan("counting_cluster", 42047448)), "");
  EXPECT_EQ(promise_of(make_plan("swarm", 6231324)), "");
}

TEST_P(Scenarios, HaveTheSameBytesAtTheSameTimesInAnyOrder) {
  Digests forwards, backwards;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) forwards[seed] = run(make_plan(GetParam().name, seed)).digest;
  for (std::uint64_t seed = 40; seed > 0; --seed) backwards[seed] = run(make_plan(GetParam().name, seed)).digest;
  EXPECT_EQ(forwards, backwards);
  EXPECT_NE(forwards[1], forwards[2]);
}

TEST_P(Scenarios, HaveTheSameBytesInAnotherProcess) {
  const std::string command = build_path("tests/simulate --scenario ") + std::string(GetParam().name) +
                              " --seed 7 | grep -o 'digest [0-9a-f]*'";
  FILE* const other = popen(command.c_str(), "r");
  ASSERT_NE(other, nullptr);
  unsigned long long digest = 0;
  EXPECT_EQ(std::fscanf(other, "digest %llx", &digest), 1);
  pclose(other);
  EXPECT_EQ(run(make_plan(GetParam().name, 7)).digest, digest);
}

TEST(Plans, FollowFromTheirSeeds) {
  EXPECT_EQ(make_plan("pair", 3), make_plan("pair", 3));
  EXPECT_NE(describe(make_plan("pair", 3)), describe(make_plan("pair", 4)));
  EXPECT_THROW(make_plan("nothing", 1), std::out_of_range);
}

TEST(Plans, HaveEveryFault) {
  std::array<std::uint64_t, kFaultKinds> faults{};
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    for (const char* const scenario : {"forgetful", "refusals", "acks", "cluster"}) {
      for (const Fault& fault : make_plan(scenario, seed).faults) ++faults[static_cast<std::size_t>(fault.kind)];
    }
  }
  for (int kind = 0; kind < kFaultKinds; ++kind) {
    EXPECT_GT(faults[static_cast<std::size_t>(kind)], 0U) << to_string(static_cast<Fault::Kind>(kind));
  }
}

/// A trace changes nothing.
TEST(Runs, AreTheSameWhenTheyAreTraced) {
  const Plan plan = make_plan("crowd", 5);
  std::size_t lines = 0;
  const Outcome traced = run(plan, [&lines](base::TimePoint, const std::string&) { ++lines; });
  EXPECT_EQ(traced.digest, run(plan).digest);
  EXPECT_GT(lines, 100U);
}

// ---- what is wrong on purpose ----

struct Planted {
  Sabotage sabotage;
  std::string scenario;
  std::vector<std::string> promises;  // any of which may be found broken
  std::uint64_t within;               // seeds
  std::size_t parts = 6;              // that it is made small to; more where something must happen at one moment
};

void PrintTo(const Planted& planted, std::ostream* out) { *out << static_cast<int>(planted.sabotage); }

class Wrong : public testing::TestWithParam<Planted> {
 protected:
  Plan plan(std::uint64_t seed) const {
    Plan plan = make_plan(GetParam().scenario, seed);
    plan.sabotage = GetParam().sabotage;
    return plan;
  }
  bool is_found_in(const Plan& plan) const {
    const std::vector<std::string>& promises = GetParam().promises;
    return std::find(promises.begin(), promises.end(), promise_of(plan)) != promises.end();
  }
  std::uint64_t first_found() const {
    std::uint64_t seed = 1;
    while (seed < GetParam().within && !is_found_in(plan(seed))) ++seed;
    return seed;
  }
};

TEST_P(Wrong, IsFoundReproducedAndMadeSmall) {
  const Plan found = plan(first_found());
  const std::string promise = promise_of(found);
  ASSERT_TRUE(is_found_in(found)) << promise;
  EXPECT_EQ(promise_of(found), promise);
  EXPECT_EQ(run(found).digest, run(found).digest);
  const Plan small = shrink(found, promise_of);
  EXPECT_EQ(promise_of(small), promise);
  EXPECT_LE(small.actions.size() + small.faults.size(), GetParam().parts) << describe(small);
}

std::string name_of(const testing::TestParamInfo<Planted>& tested) {
  static const std::map<Sabotage, std::string> names = {{Sabotage::no_lock, "NoLock"},
                                                        {Sabotage::slow_clocks, "SlowClocks"},
                                                        {Sabotage::silent_losses, "SilentLosses"},
                                                        {Sabotage::dead_server, "DeadServer"},
                                                        {Sabotage::reader_beside_writer, "ReaderBesideWriter"},
                                                        {Sabotage::queue_jumped, "QueueJumped"},
                                                        {Sabotage::token_stands_still, "TokenStandsStill"},
                                                        {Sabotage::any_beside_another, "AnyBesideAnother"},
                                                        {Sabotage::any_of_the_first, "AnyOfTheFirst"},
                                                        {Sabotage::permit_beyond, "PermitBeyond"},
                                                        {Sabotage::permit_swallowed, "PermitSwallowed"},
                                                        {Sabotage::acquire_counts_again, "AcquireCountsAgain"},
                                                        {Sabotage::release_counts_again, "ReleaseCountsAgain"},
                                                        {Sabotage::step_counts_again, "StepCountsAgain"}};
  const bool in_cluster = tested.param.scenario.ends_with("cluster");
  return names.at(tested.param.sabotage) + (in_cluster ? "InACluster" : "");
}

INSTANTIATE_TEST_SUITE_P(OnPurpose, Wrong,
                         testing::Values(Planted{Sabotage::no_lock, "calm", {"exclusion"}, 5},
                                         Planted{Sabotage::slow_clocks, "crowd", {"exclusion", "oracle"}, 300},
                                         Planted{Sabotage::silent_losses, "calm", {"exclusion", "oracle"}, 5},
                                         Planted{Sabotage::dead_server, "calm", {"hang", "left", "stranded"}, 50},
                                         Planted{Sabotage::reader_beside_writer, "read_write", {"exclusion"}, 5},
                                         Planted{Sabotage::queue_jumped, "fair", {"order"}, 20},
                                         Planted{Sabotage::token_stands_still, "fenced", {"token"}, 5},
                                         Planted{Sabotage::any_beside_another, "any", {"exclusion", "oracle"}, 10},
                                         Planted{Sabotage::any_of_the_first, "any", {"stranded"}, 30},
                                         Planted{Sabotage::permit_beyond, "permits", {"permits", "conservation"}, 5},
                                         Planted{Sabotage::permit_swallowed, "permits", {"conservation"}, 5},
                                         Planted{Sabotage::acquire_counts_again, "semaphore", {"lost"}, 20, 12},
                                         Planted{Sabotage::release_counts_again, "semaphore", {"created"}, 50},
                                         Planted{Sabotage::step_counts_again, "latch", {"steps", "early"}, 100, 12},
                                         Planted{
                                             Sabotage::any_beside_another, "any_cluster", {"exclusion", "oracle"}, 30},
                                         Planted{Sabotage::permit_swallowed, "counting_cluster", {"conservation"}, 30}),
                         name_of);

// ---- shrinking, without a run ----

TEST(Shrinking, LeavesWhatIsNeeded) {
  const Plan plan = make_plan("crowd", 11);
  const auto needs = [](const Plan& candidate) {
    const auto waits = std::count_if(candidate.actions.begin(), candidate.actions.end(), [](const Action& action) {
      return action.client == 1 && action.hold.count() > 20;
    });
    return std::string(waits >= 2 && !candidate.faults.empty() ? "broken" : "");
  };
  ASSERT_EQ(needs(plan), "broken");
  const Plan small = shrink(plan, needs);
  EXPECT_EQ(needs(small), "broken");
  EXPECT_EQ(small.actions.size(), 2U);
  EXPECT_EQ(small.faults.size(), 1U);
  for (const Action& action : small.actions) EXPECT_LE(action.hold.count(), 41);
  EXPECT_LE(small.clients.size(), 2U);
}

TEST(Shrinking, ChangesNothingThatHolds) {
  const Plan plan = make_plan("calm", 1);
  EXPECT_EQ(shrink(plan, [](const Plan&) { return std::string(); }), plan);
}

}  // namespace
}  // namespace holdfast::test::sim
