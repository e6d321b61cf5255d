// SPDX-License-Identifier: Apache-2.0
// `holdfast run --fresh` and `--at`: what has been done is not done again, on whichever machine.
#include <array>
#include <ctime>

#include "cli_fixture.hpp"

namespace holdfast::test::marks_test {
namespace {

using testing::AllOf;
using testing::Gt;
using testing::HasSubstr;
using testing::Le;
using testing::MatchesRegex;

const std::string kSucceeded = "{job}:holdfast_succeeded";
const std::string kAt = "{job}:holdfast_at:2020-11-23T02:00";

class Marks : public CliTest {
 protected:
  Outcome run(std::vector<std::string> options, const std::string& line) const {
    options.insert(options.begin(), "run");
    for (const std::string& each : {std::string("job"), std::string("--"), std::string("sh"), std::string("-c"),
                                    "echo run >>" + log_ + "; " + line}) {
      options.push_back(each);
    }
    return use(options);
  }
  /// How often the command has run.
  int runs() const {
    std::ifstream file(log_);
    int lines = 0;
    for (std::string line; std::getline(file, line);) ++lines;
    return lines;
  }
  long long left_of(const std::string& key) { return raw_.command("PTTL", key).integer; }

  const std::string log_ = folder_.file("log");
};

class Fresh : public Marks {};
class At : public Marks {};

TEST_F(Fresh, WhatHasSucceededIsNotDoneAgain) {
  EXPECT_EQ(run({"--fresh", "1h"}, "exit 0").status, exited(0));
  EXPECT_THAT(left_of(kSucceeded), AllOf(Gt(3'500'000), Le(3'600'000)));
  const Outcome second = run({"--fresh", "1h"}, "exit 0");
  EXPECT_EQ(second.status, exited(0));
  EXPECT_THAT(second.err,
              MatchesRegex("holdfast: lock \"job\" on .*: the command has succeeded already; it is due again "
                           "in [0-9]+ min [0-9]+ s; nothing is done\n"));
  EXPECT_EQ(runs(), 1);
  EXPECT_EQ(run({"--fresh", "1h", "-q"}, "exit 0").err, "");
  EXPECT_THAT(run({"--fresh", "1h", "--json"}, "exit 0").err, HasSubstr("\"skipped\":\"fresh\""));
  EXPECT_THAT(run({"--json"}, "exit 0").err, HasSubstr("\"skipped\":null")) << "who does not ask runs";
  EXPECT_EQ(runs(), 2);
}

TEST_F(Fresh, WhatHasFailedIsDoneAgain) {
  for (const char* line : {"exit 1", "kill -KILL $$", "exit 75"}) {
    EXPECT_NE(run({"--fresh", "1h"}, line).status, exited(0));
    EXPECT_FALSE(raw_.exists(kSucceeded)) << line;
  }
  EXPECT_EQ(use({"run", "--fresh", "1h", "job", "--", "/no/such/program"}).status, exited(127));
  EXPECT_FALSE(raw_.exists(kSucceeded));
  EXPECT_EQ(run({"--fresh", "1h"}, "exit 0").status, exited(0));
  EXPECT_EQ(runs(), 4);
}

TEST_F(Fresh, IsOverAfterItsTime) {
  EXPECT_EQ(run({"--fresh", "50ms"}, "exit 0").status, exited(0));
  ASSERT_TRUE(eventually([&] { return !raw_.exists(kSucceeded); }));
  EXPECT_EQ(run({"--fresh", "50ms"}, "exit 0").status, exited(0));
  EXPECT_EQ(runs(), 2);
}

TEST_F(Fresh, OfTwentyThatStartTogetherOneRuns) {
  std::vector<Process> all;
  for (int i = 0; i < 20; ++i) {
    all.push_back(start({"run", "-q", "--fresh", "1h", "job", "--", "sh", "-c", "sleep 0.02; echo run >>" + log_}));
  }
  for (Process& each : all) EXPECT_EQ(finish(each).status, exited(0));
  EXPECT_EQ(runs(), 1);
}

TEST_F(Fresh, WhoWaitsForOneThatFailsRuns) {
  Process first = start({"run", "--fresh", "1h", "job", "--", "sh", "-c", "echo started; read line; exit 3"});
  ASSERT_EQ(first.read_line(), "started");
  Process second = start({"run", "-v", "--fresh", "1h", "job", "--", "sh", "-c", "echo run >>" + log_});
  ASSERT_THAT(second.read_error_line(), testing::Optional(HasSubstr("waiting")));
  first.write_line("");
  EXPECT_EQ(finish(first).status, exited(3));
  EXPECT_EQ(finish(second).status, exited(0));
  EXPECT_EQ(runs(), 1);
  EXPECT_TRUE(raw_.exists(kSucceeded));
}

TEST_F(Fresh, ASuccessUnderALockThatWasLostIsNone) {
  Process process =
      start({"run", "--on-lost", "warn", "--fresh", "1h", "job", "--", "sh", "-c", "echo started; read line; exit 0"});
  ASSERT_EQ(process.read_line(), "started");
  raw_.command("DEL", "job");
  ASSERT_TRUE(process.read_error_line()) << "it has heard of that";
  process.write_line("");
  EXPECT_EQ(finish(process).status, exited(0));
  EXPECT_FALSE(raw_.exists(kSucceeded));
}

TEST_F(Fresh, TheLockIsFreeAfterwardsAlsoWithAtLeast) {
  raw_.command("SET", kSucceeded, "somebody", "PX", 60'000);
  EXPECT_EQ(run({"--fresh", "1h", "--at-least", "1h"}, "exit 0").status, exited(0));
  EXPECT_EQ(runs(), 0);
  EXPECT_FALSE(raw_.exists("job"));
}

TEST_F(Fresh, WorksForEveryKindThatOneHasAtATime) {
  for (const char* kind : {"lock", "fenced", "fair", "simple", "spin", "read-write"}) {
    raw_.command("FLUSHALL");
    const int before = runs();
    EXPECT_EQ(run({"--kind", kind, "--fresh", "1h"}, "exit 0").status, exited(0)) << kind;
    EXPECT_EQ(run({"--kind", kind, "--fresh", "1h"}, "exit 0").status, exited(0)) << kind;
    EXPECT_EQ(runs(), before + 1) << kind;
  }
}

TEST_F(Fresh, AMarkThatCannotBeReadIsAFailureAndTheCommandIsNotRun) {
  raw_.command("HSET", kSucceeded, "a", "b");
  EXPECT_EQ(run({"--fresh", "1h"}, "exit 0").status, exited(69));
  EXPECT_EQ(runs(), 0);
  EXPECT_FALSE(raw_.exists("job"));
}

TEST_F(Fresh, AMarkThatCannotBeSetIsSaid) {
  Process process = start({"run", "--fresh", "1h", "job", "--", "sh", "-c", "echo started; read line"});
  ASSERT_EQ(process.read_line(), "started");
  raw_.command("HSET", kSucceeded, "a", "b");
  process.write_line("");
  const Outcome outcome = finish(process);
  EXPECT_EQ(outcome.status, exited(0)) << "the command's";
  EXPECT_THAT(outcome.err, HasSubstr("that the command has succeeded is not known to others"));
}

TEST_F(Fresh, TheMarkOfANameWithATagLiesInItsSlot) {
  EXPECT_EQ(use({"run", "--fresh", "1h", "{a}b", "--", "true"}).status, exited(0));
  EXPECT_TRUE(raw_.exists("{a}b:holdfast_succeeded"));
}

TEST_F(At, OfTwentyOneRunsForAMinute) {
  std::vector<Process> all;
  for (int i = 0; i < 20; ++i) {
    all.push_back(start({"run", "-q", "--at", "2020-11-23T02:00", "job", "--", "sh", "-c", "echo run >>" + log_}));
  }
  for (Process& each : all) EXPECT_EQ(finish(each).status, exited(0));
  EXPECT_EQ(runs(), 1);
  EXPECT_THAT(left_of(kAt), AllOf(Gt(86'000'000), Le(86'400'000)));
  EXPECT_EQ(run({"--at", "2020-11-23T02:01"}, "exit 0").status, exited(0));
  EXPECT_EQ(runs(), 2) << "another minute";
}

TEST_F(At, AFailureCountsToo) {
  EXPECT_EQ(run({"--at", "2020-11-23T02:00"}, "exit 3").status, exited(3));
  const Outcome second = run({"--at", "2020-11-23T02:00", "--json"}, "exit 0");
  EXPECT_EQ(second.status, exited(0));
  EXPECT_THAT(second.err, HasSubstr("a command has already begun for 2020-11-23T02:00; nothing is done\n"));
  EXPECT_THAT(second.err, HasSubstr("\"skipped\":\"at\""));
  EXPECT_EQ(runs(), 1);
}

TEST_F(At, AToolThatIsKilledHasSetItAlready) {
  Process process = start({"run", "--at", "2020-11-23T02:00", "job", "--", "sh", "-c", "echo started; read line"});
  ASSERT_EQ(process.read_line(), "started");
  EXPECT_TRUE(raw_.exists(kAt));
  process.signal(SIGKILL);
  ASSERT_EQ(process.wait(), killed_by(SIGKILL));
  EXPECT_TRUE(raw_.exists(kAt));
}

TEST_F(At, ACommandThatCouldNotBeStartedLeavesTheMinuteToOthers) {
  EXPECT_EQ(use({"run", "--at", "2020-11-23T02:00", "job", "--", "/no/such/program"}).status, exited(127));
  EXPECT_FALSE(raw_.exists(kAt));
  EXPECT_EQ(run({"--at", "2020-11-23T02:00"}, "exit 0").status, exited(0));
  EXPECT_EQ(runs(), 1);
}

TEST_F(At, NowIsThisMinuteInUtc) {
  const auto minute = [] {
    std::array<char, 64> text{};
    const std::time_t now = std::time(nullptr);
    std::strftime(text.data(), text.size(), "{job}:holdfast_at:%Y-%m-%dT%H:%M", std::gmtime(&now));
    return std::string(text.data());
  };
  std::string before, after;
  do {
    before = minute();
    raw_.command("FLUSHALL");
    EXPECT_EQ(use({"run", "--at", "now", "job", "--", "true"}, {"TZ=Asia/Tokyo"}).status, exited(0));
    after = minute();
  } while (before != after);
  EXPECT_TRUE(raw_.exists(before)) << before;
}

TEST_F(At, TogetherWithFreshAndAtLeast) {
  const std::vector<std::string> options{"--at", "2020-11-23T02:00", "--fresh", "1h", "--at-least", "10m", "-n"};
  EXPECT_EQ(run(options, "exit 0").status, exited(0));
  EXPECT_TRUE(raw_.exists(kAt));
  EXPECT_TRUE(raw_.exists(kSucceeded));
  EXPECT_GT(left_of("job"), 0);
  EXPECT_EQ(run(options, "exit 0").status, exited(1)) << "the name is taken";
  raw_.command("DEL", "job");
  EXPECT_EQ(run(options, "exit 0").status, exited(0));
  EXPECT_EQ(runs(), 1);
}

TEST_F(At, IsAMinuteOfACalendar) {
  for (const char* minute : {"2026-11-31T02:00", "2020-11-23T24:00", "2020-11-23T02:60", "2020-11-23 02:00",
                             "2020-11-23T2:00", "2020-11-23T02:00Z", "02:00", "soon"}) {
    const Outcome outcome = run({"--at", minute}, "exit 0");
    EXPECT_EQ(outcome.status, exited(64)) << minute;
    EXPECT_THAT(outcome.err, HasSubstr("is neither a minute such as 2026-11-23T02:00 nor now")) << minute;
  }
  EXPECT_EQ(runs(), 0);
}

TEST_F(Marks, AreForOneNameOnOneServerAndALockThatOneHasAtATime) {
  for (const std::vector<std::string>& options :
       {std::vector<std::string>{"--max", "2"}, {"--shared"}, {"--any"}, {"other"}}) {
    for (const std::vector<std::string>& mark :
         {std::vector<std::string>{"--fresh", "1h"}, {"--at", "2020-11-23T02:00"}}) {
      std::vector<std::string> all = options;
      all.insert(all.end(), mark.begin(), mark.end());
      const Outcome outcome = run(all, "exit 0");
      EXPECT_EQ(outcome.status, exited(64)) << options.front();
      EXPECT_THAT(outcome.err, HasSubstr("run: --fresh and --at are for ")) << options.front();
    }
  }
  const RedisServer other;
  EXPECT_THAT(run({"--url", url_, "--url", other.url(), "--fresh", "1h"}, "exit 0").err,
              HasSubstr("--fresh and --at are for one server"));
  EXPECT_EQ(runs(), 0);
}

}  // namespace
}  // namespace holdfast::test::marks_test
