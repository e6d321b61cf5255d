// SPDX-License-Identifier: Apache-2.0
// `holdfast run --at-least`: the name stays taken for a while after the start, whatever the command does.
#include <array>
#include <thread>

#include "cli_fixture.hpp"

namespace holdfast::test::at_least_test {
namespace {

using testing::AllOf;
using testing::Gt;
using testing::HasSubstr;
using testing::Le;

class AtLeast : public CliTest {
 protected:
  static constexpr int kRuns = 20;
  static constexpr long long kTenMinutes = 600'000;

  /// Runs of the same job, each so long after the one before, as on machines whose clocks differ. How often it was
  /// done.
  std::size_t done_by_many(const std::string& job, std::chrono::milliseconds between) {
    const std::string log = folder_.file("log");
    std::vector<Process> runs;
    for (int i = 0; i < kRuns; ++i) {
      runs.push_back(start({"run", "-n", "-E", "0", "-q", "--at-least", "10m", "nightly", "--", "sh", "-c",
                            "echo done >>" + log + "; " + job}));
      std::this_thread::sleep_for(between);
    }
    for (Process& run : runs) {
      const Outcome outcome = finish(run);
      EXPECT_EQ(outcome.status, exited(0));
      EXPECT_EQ(outcome.err, "");
    }
    std::ifstream file(log);
    std::size_t lines = 0;
    for (std::string line; std::getline(file, line);) ++lines;
    return lines;
  }
  long long left_of(const std::string& name) { return raw_.command("PTTL", name).integer; }
};

TEST_F(AtLeast, OfTwentyRunsAtOnceOneDoesAShortJob) {
  EXPECT_EQ(done_by_many("sleep 0.005", {}), 1U);
  EXPECT_THAT(left_of("nightly"), AllOf(Gt(0), Le(kTenMinutes)));
}

TEST_F(AtLeast, OfTwentyRunsSpreadOverASecondOneDoesTheJob) {
  EXPECT_EQ(done_by_many("sleep 0.2", std::chrono::milliseconds(50)), 1U);
}

TEST_F(AtLeast, LeavesTheNameToWhatIsLeftHoweverTheCommandEnds) {
  const std::vector<std::pair<std::string, ExitStatus>> ends{
      {"exit 0", exited(0)}, {"exit 7", exited(7)}, {"kill -KILL $$", exited(137)}};
  for (const auto& [line, status] : ends) {
    const Outcome outcome =
        use({"run", "--json", "--lease", "1h", "--at-least", "10m", "job", "--", "sh", "-c", "sleep 0.1; " + line});
    EXPECT_EQ(outcome.status, status) << line;
    EXPECT_THAT(outcome.err, HasSubstr("\"release\":\"left\"")) << line;
    EXPECT_THAT(left_of("job"), AllOf(Gt(kTenMinutes - 60'000), Le(kTenMinutes - 100))) << line << ": not the lease";
    raw_.command("DEL", "job");
  }
}

TEST_F(AtLeast, ASignalToTheToolLeavesItTakenToo) {
  Process process = start({"run", "--at-least", "10m", "job", "--", "sh", "-c", "echo started; read line"});
  ASSERT_EQ(process.read_line(), "started");
  process.signal(SIGTERM);
  EXPECT_EQ(finish(process).status, killed_by(SIGTERM));
  EXPECT_GT(left_of("job"), 0);
}

TEST_F(AtLeast, AToolThatIsKilledHasLeftItTakenAlready) {
  Process process = start(
      {"run", "--lease", "1", "--at-least", "10m", "job", "--", "sh", "-c", "echo $HOLDFAST_LEASE_MS; read line"});
  ASSERT_EQ(process.read_line(), std::to_string(kTenMinutes));
  process.signal(SIGKILL);
  ASSERT_EQ(process.wait(), killed_by(SIGKILL));
  EXPECT_GT(left_of("job"), kTenMinutes - 60'000);
}

TEST_F(AtLeast, ALongerCommandGivesItBackAtItsEnd) {
  EXPECT_EQ(use({"run", "--at-least", "50ms", "job", "--", "sleep", "0.2"}).status, exited(0));
  EXPECT_FALSE(raw_.exists("job"));
}

TEST_F(AtLeast, ACommandThatCannotBeStartedGivesItBack) {
  EXPECT_EQ(use({"run", "--at-least", "10m", "job", "--", "/no/such/program"}).status, exited(127));
  EXPECT_FALSE(raw_.exists("job"));
}

TEST_F(AtLeast, ALockThatWasBrokenIsNotTakenBack) {
  Process process = start({"run", "--at-least", "10m", "job", "--", "sh", "-c", "echo started; read line"});
  ASSERT_EQ(process.read_line(), "started");
  raw_.command("DEL", "job");
  hold("job", 5'000'000);
  process.write_line("");
  EXPECT_EQ(finish(process).status, exited(75));
  EXPECT_GT(left_of("job"), 4'000'000);
  EXPECT_EQ(owner_of("job"), kSomebody);
}

TEST_F(AtLeast, MaxHoldEndsTheCommandAndNotTheName) {
  const Outcome outcome = use({"run", "--max-hold", "400ms", "--at-least", "10m", "job", "--", "sh", "-c", "sleep 60"});
  EXPECT_EQ(outcome.status, exited(75));
  EXPECT_GT(left_of("job"), 0);
}

TEST_F(AtLeast, HoldsForSeveralNamesAndForTheSimpleKind) {
  for (const char* kind : {"lock", "simple"}) {
    const std::string first = std::string(kind) + "1";
    const std::string second = std::string(kind) + "2";
    EXPECT_EQ(use({"run", "--kind", kind, "--lease", "1h", "--at-least", "10m", first, second, "--", "true"}).status,
              exited(0));
    EXPECT_THAT(left_of(first), AllOf(Gt(0), Le(kTenMinutes))) << kind;
    EXPECT_THAT(left_of(second), AllOf(Gt(0), Le(kTenMinutes))) << kind;
    EXPECT_EQ(use({"run", "-n", "--kind", kind, second, "--", "true"}).status, exited(1)) << kind;
  }
}

TEST_F(AtLeast, HoldsOnSeveralServersWithOneOfThemGone) {
  std::array<RedisServer, 3> servers;
  servers[2].stop();
  std::vector<std::string> args{"run", "-n"};
  for (const RedisServer& each : servers) args.insert(args.end(), {"--url", each.url()});
  std::vector<std::string> first = args;
  first.insert(first.end(), {"--lease", "1h", "--at-least", "10m", "job", "--", "true"});
  EXPECT_EQ(use(first).status, exited(0));
  for (const std::size_t i : {0, 1}) {
    Raw raw(servers[i]);
    EXPECT_THAT(raw.command("PTTL", "job").integer, AllOf(Gt(0), Le(kTenMinutes))) << i;
  }
  args.insert(args.end(), {"job", "--", "true"});
  EXPECT_EQ(use(args).status, exited(1));
}

}  // namespace
}  // namespace holdfast::test::at_least_test
