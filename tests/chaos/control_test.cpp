// SPDX-License-Identifier: Apache-2.0
// A chaos run that cannot fail shows nothing: here it must.
#include <algorithm>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "chaos/evidence.hpp"
#include "chaos/one_server.hpp"
#include "chaos/run.hpp"
#include "chaos/shapes.hpp"
#include "support/paths.hpp"
#include "support/raw.hpp"

namespace holdfast::test::chaos::control_test {
namespace {

using namespace std::chrono_literals;

/// Breaks locks by force, so that a waiter has them at once, and calls it another fault.
class Thief final : public Ground {
 public:
  std::vector<Fault> faults() const override { return {Fault::scripts_flushed}; }
  Access access() override { return server_.access(); }
  std::string url() const override { return server_.url(); }
  std::optional<Struck> strike(const Planned& planned, const std::vector<Named>& names) override {
    Planned theft = planned;
    theft.fault = Fault::forced;
    std::optional<Struck> struck = server_.strike(theft, names);
    struck->names.clear();
    return struck;
  }
  bool taken(const std::string& name) override { return server_.taken(name); }

 private:
  OneServer server_;
};

constexpr const char* kNames[] = {"lock.x", "fenced.x",     "leader.x", "leader.terms",
                                  "any.x",  "read_write.x", "leased.x", "semaphore.x"};

/// Two processes, each of which has each of these locks for most of the time that it can.
std::vector<Member> two(Ground&) {
  std::vector<Work> works;
  for (const std::string name : kNames) {
    works.push_back({.name = name, .pause = 200ms, .kind = name.substr(0, name.find('.'))});
    if (name == "leader.terms") works.back().how = {"campaigns=yes", "abandon_every=2"};
  }
  for (Work& each : works) {
    if (each.kind != "leased" && each.kind != "semaphore") continue;
    each.how = {"permits=1"};
    each.permits = 1;
  }
  works.push_back({.name = "latch.x", .pause = 20ms, .how = {"permits=2"}, .kind = "latch"});
  works.push_back({.name = "read:read_write.x", .pause = 200ms, .kind = "read_write"});
  works.push_back({.name = "any.x,any.y", .pause = 200ms, .kind = "any"});
  std::vector<Member> crew;
  for (const char* client : {"one", "other"}) {
    crew.push_back({.client = client,
                    .settings = {"kind=by_name", "lease_ms=2000", "safety_poll_ms=300", "command_timeout_ms=1500",
                                 "release_timeout_ms=1000", "patience_ms=4000"},
                    .works = works});
    Work& latch = *std::ranges::find(works, "latch.x", &Work::name);
    latch.how.push_back("sets=yes");
    latch.pause = 50ms;  // so that the other is the first
    // In step with each other, writers would only meet writers, and readers readers.
    std::ranges::find(works, "read:read_write.x", &Work::name)->pause = 130ms;
  }
  return crew;
}

/// The same through the package for Python, one on each of its faces.
std::vector<Member> two_in_python(Ground& ground) {
  std::vector<Member> crew = two(ground);
  for (Member& each : crew) {
    each.program = python_program();
    each.language = "Python";
  }
  crew.back().settings.emplace_back("face=async");
  return crew;
}

using Crew = std::vector<Member> (*)(Ground&);

RunResult run_with(std::unique_ptr<Ground> (*make)(), const std::string& name, bool locks = true, Crew crew = two) {
  const Shape shape{name, make, crew};
  return run(shape, {.seed = 1,
                     .length = 6s,
                     .folder = build_path("results/chaos/control-") + name,
                     .locks = locks,
                     .say = [](const std::string&) {}});
}

TEST(ChaosControl, LocksThatAreTakenAwayUnderAPromiseAreViolations) {
  const RunResult result = run_with([]() -> std::unique_ptr<Ground> { return std::make_unique<Thief>(); }, "thief");
  EXPECT_FALSE(result.good());
  EXPECT_THAT(broken_promises(result), testing::Contains(testing::Key("exclusion"))) << in_words(result);
}

/// A server with a fault by which nobody loses a lock.
class Quiet final : public Ground {
 public:
  std::vector<Fault> faults() const override { return {Fault::scripts_flushed}; }
  Access access() override { return server_.access(); }
  std::string url() const override { return server_.url(); }
  std::optional<Struck> strike(const Planned& planned, const std::vector<Named>& names) override {
    return server_.strike(planned, names);
  }
  bool taken(const std::string& name) override { return server_.taken(name); }

 private:
  OneServer server_;
};
std::unique_ptr<Ground> quiet() { return std::make_unique<Quiet>(); }

/// What is promised under each of these is kept.
void expect_nothing_broken(const RunResult& result, const std::string& language) {
  EXPECT_TRUE(result.good()) << in_words(result);
  EXPECT_GT(result.verdict.holds, 50);
  EXPECT_GT(result.verdict.shared_holds, 10);
  EXPECT_GT(result.verdict.tokens, 10);
  EXPECT_GT(result.verdict.latches, 10);
  EXPECT_GT(result.faults.at("scripts flushed"), 3);
  EXPECT_THAT(result.operations_by, testing::ElementsAre(testing::Pair(language, result.operations())));
}

TEST(ChaosControl, TheSameProcessesOnAServerThatIsLeftAloneBreakNothing) {
  expect_nothing_broken(run_with(quiet, "quiet"), "C++");
}

TEST(ChaosControl, NorDoTheyInPython) {
  if (!why_no_python().empty()) GTEST_SKIP() << why_no_python();
  expect_nothing_broken(run_with(quiet, "quiet-python", true, two_in_python), "Python");
}

void expect_all_found(const RunResult& result) {
  EXPECT_THAT(broken_promises(result), testing::IsSupersetOf({testing::Key("exclusion"), testing::Key("lost update"),
                                                              testing::Key("token"), testing::Key("latch")}))
      << in_words(result);
  for (const std::string name : kNames) {
    const auto overlaps = [&](const Violation& each) {
      return each.promise == "exclusion" && each.text.starts_with(name);
    };
    EXPECT_TRUE(std::ranges::any_of(result.verdict.violations, overlaps)) << name << " is not judged";
  }
  const auto beside_a_reader = [](const Violation& each) {
    return each.text.starts_with("read_write.x") && each.text.find("shared,") != std::string::npos;
  };
  EXPECT_TRUE(std::ranges::any_of(result.verdict.violations, beside_a_reader));
}

TEST(ChaosControl, TheSameProcessesWithoutACommonLockOverlapAndLoseUpdates) {
  expect_all_found(run_with(quiet, "apart", false));
}

TEST(ChaosControl, SoDoTheyInPython) {
  if (!why_no_python().empty()) GTEST_SKIP() << why_no_python();
  expect_all_found(run_with(quiet, "apart-python", false, two_in_python));
}

}  // namespace
}  // namespace holdfast::test::chaos::control_test
