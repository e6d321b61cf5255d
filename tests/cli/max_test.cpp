// SPDX-License-Identifier: Apache-2.0
// `run --max N`: so many runs at the same time; and `--kind permit` of the other verbs.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <thread>

#include "cli_fixture.hpp"

namespace holdfast::test::max_test {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;

class Max : public CliTest {
 protected:
  Process hold() {
    Process process = start({"run", "--max", "2", "gpus", "--", "sh", "-c", "echo started; read line; true"});
    EXPECT_EQ(process.read_line(), "started");
    return process;
  }
  std::string free() { return raw_.command("GET", "gpus").text; }
  long long listeners() { return raw_.command("PUBSUB", "NUMSUB", "redisson_sc:{gpus}").elements[1].integer; }
  /// Of a day, but for a minute.
  bool ends_in_a_day(const std::string& key) {
    constexpr long long kDay = 86'400'000;
    return raw_.pttl(key) > kDay - 60'000 && raw_.pttl(key) <= kDay;
  }
};

TEST_F(Max, AsManyRunAsItSays) {
  Process first = hold(), second = hold();
  EXPECT_EQ(use({"run", "-n", "--max", "2", "gpus", "--", "true"}).status, exited(1));
  first.close_stdin();
  EXPECT_EQ(first.finish(), exited(0)) << first.errors();
  EXPECT_EQ(use({"run", "-n", "--max", "2", "gpus", "--", "true"}).status, exited(0));
  second.close_stdin();
  EXPECT_EQ(second.finish(), exited(0)) << second.errors();
  EXPECT_EQ(free(), "2");
}

TEST_F(Max, OfTwentyNeverMoreThanThree) {
  const std::string log = folder_.file("log");
  std::vector<Process> runs;
  for (int i = 0; i < 20; ++i) {
    runs.push_back(
        start({"run", "--max", "3", "gpus", "--", "sh", "-c", "echo + >>" + log + "; sleep 0.05; echo - >>" + log}));
  }
  for (Process& run : runs) EXPECT_EQ(finish(run).status, exited(0));
  std::ifstream file(log);
  int now = 0, most = 0, all = 0;
  for (std::string line; std::getline(file, line);) {
    now += line == "+" ? 1 : -1;
    all += line == "+" ? 1 : 0;
    most = std::max(most, now);
  }
  EXPECT_EQ(all, 20);
  EXPECT_EQ(most, 3);
  EXPECT_EQ(free(), "3");
}

TEST_F(Max, TheNumberThatWasSaidLastCounts) {
  Process first = hold(), second = hold();
  EXPECT_EQ(use({"run", "-n", "--max", "3", "gpus", "--", "true"}).status, exited(0));
  EXPECT_EQ(use({"run", "-n", "--max", "1", "gpus", "--", "true"}).status, exited(1));
  EXPECT_EQ(free(), "-1") << "nobody is stopped";
  first.close_stdin();
  first.finish();
  EXPECT_EQ(use({"run", "-n", "--max", "1", "gpus", "--", "true"}).status, exited(1));
  second.close_stdin();
  second.finish();
  EXPECT_EQ(use({"run", "-n", "--max", "1", "gpus", "--", "true"}).status, exited(0));
}

/// Somebody has removed the number: an expiry, an eviction, a mistake. Who runs goes on, and counts.
TEST_F(Max, WhoRunsCountsAlsoWhenTheNumberIsGone) {
  Process first = hold(), second = hold();
  raw_.command("DEL", "gpus");
  EXPECT_EQ(use({"run", "-n", "--max", "2", "gpus", "--", "true"}).status, exited(1));
  EXPECT_EQ(free(), "0");
  first.close_stdin();
  EXPECT_EQ(first.finish(), exited(0)) << first.errors();
  EXPECT_EQ(use({"run", "-n", "--max", "2", "gpus", "--", "true"}).status, exited(0));
  second.close_stdin();
  EXPECT_EQ(second.finish(), exited(0)) << second.errors();
  EXPECT_EQ(free(), "2") << "and no surplus is left";
}

TEST_F(Max, ANumberThatIsGoneEndsNoWait) {
  Process first = start({"run", "--max", "1", "gpus", "--", "sh", "-c", "echo started; read line; true"});
  EXPECT_EQ(first.read_line(), "started");
  Process second = start({"run", "--max", "1", "gpus", "--", "echo", "started"});
  ASSERT_TRUE(eventually([&] { return listeners() == 1; }));
  raw_.command("DEL", "gpus");
  first.close_stdin();
  EXPECT_EQ(first.finish(), exited(0)) << first.errors();
  EXPECT_EQ(second.read_line(), "started") << "it says the number again while it waits";
  EXPECT_EQ(second.finish(), exited(0)) << second.errors();
  EXPECT_EQ(free(), "1");
}

TEST_F(Max, ANameThatIsUsedOnceLeavesNothingForLongerThanADay) {
  Process first = hold();
  EXPECT_TRUE(ends_in_a_day("gpus"));
  EXPECT_TRUE(ends_in_a_day("{gpus}:timeout"));
  raw_.command("PEXPIRE", "gpus", 3'000'000);
  Process second = hold();
  EXPECT_TRUE(ends_in_a_day("gpus")) << "each start puts that off";
  for (Process* const run : {&first, &second}) {
    run->signal(SIGKILL);
    run->finish();
  }
  EXPECT_TRUE(ends_in_a_day("{gpus}:timeout"));
  raw_.command("PERSIST", "gpus");
  use({"run", "-n", "--max", "2", "gpus", "--", "true"});
  EXPECT_EQ(raw_.pttl("gpus"), -1) << "what somebody keeps for ever stays";
}

/// It expires a day after the last start, and runs may be longer.
TEST_F(Max, WhoRunsForLongerThanTheNumberLivesStaysAndCounts) {
  Process first =
      start({"run", "--lease", "1", "--max", "2", "gpus", "--", "sh", "-c", "echo started; read line; true"});
  EXPECT_EQ(first.read_line(), "started");
  raw_.command("PEXPIRE", "gpus", 1);
  raw_.command("PEXPIRE", "{gpus}:timeout", 700);
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(2);
  while (std::chrono::steady_clock::now() < until) {
    ASSERT_EQ(raw_.command("ZCARD", "{gpus}:timeout").integer, 1) << "each renewal puts its end off";
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  Process second = hold();
  EXPECT_EQ(free(), "0");
  for (Process* const run : {&first, &second}) {
    run->close_stdin();
    EXPECT_EQ(run->finish(), exited(0)) << run->errors();
  }
  EXPECT_EQ(free(), "2");
}

TEST_F(Max, AWaitEndsWithASignalWhileTheServerIsSilent) {
  server_.freeze();
  Process process = start({"run", "--max", "2", "gpus", "--", "true"});
  const std::filesystem::path tasks = "/proc/" + std::to_string(process.pid()) + "/task";
  // Signals are taken over before any thread is started.
  ASSERT_TRUE(eventually([&] {
    return std::distance(std::filesystem::directory_iterator(tasks), std::filesystem::directory_iterator()) > 4;
  }));
  const auto begin = std::chrono::steady_clock::now();
  process.signal(SIGTERM);
  EXPECT_EQ(process.finish(), killed_by(SIGTERM)) << process.errors();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(4)) << "an attempt to connect has 5 s";
  server_.thaw();
}

TEST_F(Max, ALimitHoldsAlsoWhileTheServerIsSilent) {
  server_.freeze();
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(use({"run", "-w", "0.3", "--max", "2", "gpus", "--", "true"}).status, exited(69));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5)) << "patience is 15 s";
  server_.thaw();
}

TEST_F(Max, AtMostSoManyBeginInATime) {
  const std::vector<std::string> args{"run", "-n", "--max", "2", "--at-least", "10m", "gpus", "--", "true"};
  EXPECT_EQ(use(args).status, exited(0));
  EXPECT_EQ(use(args).status, exited(0));
  EXPECT_EQ(use(args).status, exited(1));
}

TEST_F(Max, InspectSaysWhoHasEachAndBreakTakesThemAway) {
  raw_.command("SET", "gpus", 2);
  EXPECT_EQ(use({"inspect", "--kind", "permit", "gpus"}).status, exited(1));
  Process first = hold(), second = hold();
  const auto inspected = use({"inspect", "--kind", "permit", "gpus"});
  EXPECT_EQ(inspected.status, exited(0));
  EXPECT_THAT(inspected.out, ContainsRegex("owner  [0-9a-f]{32}\nwho    .*, process [0-9]+, label sh\nfrom .*\nttl .*\n"
                                           "holds  1\nowner  [0-9a-f]{32}\nwho    .*, process"));
  EXPECT_EQ(use({"wait", "-n", "--kind", "permit", "gpus"}).status, exited(1));
  EXPECT_EQ(use({"break", "-y", "--kind", "permit", "gpus"}).status, exited(0));
  EXPECT_EQ(use({"wait", "-n", "--kind", "permit", "gpus"}).status, exited(0));
  EXPECT_EQ(free(), "2");
  first.close_stdin();
  second.close_stdin();
  first.finish();
  second.finish();
  EXPECT_EQ(free(), "2") << "what was taken away is not given back once more";
}

TEST_F(Max, IsForOneNameAndExcludesOtherKinds) {
  EXPECT_THAT(use({"run", "--max", "2", "a", "b", "--", "true"}).err, HasSubstr("--max is for one name on one server"));
  EXPECT_THAT(use({"run", "--max", "0", "a", "--", "true"}).err, HasSubstr("--max 0 would let none run"));
  EXPECT_THAT(use({"run", "--kind", "permit", "a", "--", "true"}).err, HasSubstr("--max N, in place of --kind permit"));
  for (const char* other : {"--fair", "--shared", "--any", "--kind=simple"}) {
    EXPECT_THAT(use({"run", "--max", "2", other, "a", "--", "true"}).err,
                HasSubstr("--max excludes --kind, --fair, --shared and --any"))
        << other;
  }
}

}  // namespace
}  // namespace holdfast::test::max_test
