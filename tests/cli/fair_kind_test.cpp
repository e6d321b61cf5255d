// SPDX-License-Identifier: Apache-2.0
// `--fair`: runs get the lock in the order in which they came.
#include <fstream>

#include "cli_fixture.hpp"

namespace holdfast::test::fair_kind_test {
namespace {

using testing::HasSubstr;

class FairKind : public CliTest {
 protected:
  bool waits(long long runs) {
    return eventually([&] { return raw_.command("LLEN", "redisson_lock_queue:{job}").integer == runs; });
  }
};

TEST_F(FairKind, RunsComeInTheOrderOfTheirArrival) {
  Process first = start({"run", "--fair", "job", "--", "sh", "-c", "echo started; read line"});
  ASSERT_EQ(first.read_line(), "started");
  const TempDir folder;
  const std::string file = folder.file("order");
  std::vector<Process> others;
  std::string expected;
  for (int i = 1; i <= 6; ++i) {
    const std::string number = std::to_string(i);
    others.push_back(
        start({"run", i % 2 == 0 ? "--fair" : "--kind=fair", "job", "-c", "echo " + number + " >>" + file}));
    ASSERT_TRUE(waits(i));
    expected += number + "\n";
  }
  first.close_stdin();
  for (Process& each : others) EXPECT_EQ(each.finish(), exited(0)) << each.errors();
  std::ifstream written(file);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(written), {}), expected);
}

TEST_F(FairKind, UnderANamePrefixItIsRefusedUnlessNoOlderRedissonTakesPart) {
  const Outcome refused = use({"run", "--url", url_ + "?name_prefix=app:", "--fair", "job", "-c", "exit 3"});
  EXPECT_EQ(refused.status, exited(64));
  EXPECT_THAT(refused.err, HasSubstr("fair_with_prefix"));
  const std::string told = url_ + "?name_prefix=app:&fair_with_prefix=on";
  EXPECT_EQ(use({"run", "--url", told, "--fair", "job", "-c", "exit 3"}).status, exited(3));
}

TEST_F(FairKind, ARunThatDoesNotWaitOrGivesUpIsNotInTheQueue) {
  Process first = start({"run", "--fair", "job", "--", "sh", "-c", "echo started; read line"});
  ASSERT_EQ(first.read_line(), "started");
  EXPECT_EQ(use({"run", "--fair", "-n", "job", "--", "true"}).status, exited(1));
  EXPECT_EQ(use({"run", "--fair", "-w", "200ms", "job", "--", "true"}).status, exited(1));
  EXPECT_TRUE(waits(0));
  Process interrupted = start({"run", "--fair", "job", "--", "true"});
  ASSERT_TRUE(waits(1));
  interrupted.signal(SIGTERM);
  EXPECT_TRUE(interrupted.finish());
  EXPECT_TRUE(waits(0));
}

TEST_F(FairKind, IsForOneName) {
  EXPECT_THAT(use({"run", "--fair", "a", "b", "--", "true"}).err, HasSubstr("--fair is for one name on one server"));
  EXPECT_THAT(use({"run", "--fair", "--kind", "simple", "a", "--", "true"}).err, HasSubstr("excludes other kinds"));
}

TEST_F(FairKind, InspectShowsWhoWaitsInOrder) {
  Process process = start({"run", "--fair", "job", "--", "sh", "-c", "echo started; read line"});
  ASSERT_EQ(process.read_line(), "started");
  EXPECT_THAT(use({"inspect", "--kind", "fair", "job"}).out, HasSubstr("queue  0\n"));
  Process one = start({"run", "--fair", "--label", "first", "job", "--", "true"});
  ASSERT_TRUE(waits(1));
  Process two = start({"run", "--fair", "--label", "second", "job", "--", "true"});
  ASSERT_TRUE(waits(2));
  const Outcome seen = use({"inspect", "--kind", "fair", "job"});
  EXPECT_EQ(seen.status, exited(0));
  EXPECT_THAT(seen.out, testing::ContainsRegex("queue  2 wait\n\nPLACE +OWNER +KEEPS IT FOR +WHO\n"
                                               "1 .*label first\n2 .*label second\n"));
  const std::string json = use({"inspect", "--json", "--kind", "fair", "job"}).out;
  EXPECT_THAT(json, HasSubstr("\"queued\":2"));
  EXPECT_THAT(json, testing::ContainsRegex("\"keeps_place_ms\":[0-9]+"));
  EXPECT_THAT(use({"inspect", "--json", "job"}).out, HasSubstr("\"queued\":null,\"queue\":[]"));
  process.close_stdin();
  EXPECT_EQ(one.finish(), exited(0));
  EXPECT_EQ(two.finish(), exited(0));
}

TEST_F(FairKind, IsInspectedAndBroken) {
  Process process = start({"run", "--fair", "job", "--", "sh", "-c", "echo started; read line"});
  ASSERT_EQ(process.read_line(), "started");
  EXPECT_EQ(use({"inspect", "--kind", "fair", "job"}).status, exited(0));
  Process next = start({"run", "--fair", "job", "--", "true"});
  ASSERT_TRUE(waits(1));
  EXPECT_EQ(use({"break", "-y", "--kind", "fair", "job"}).status, exited(0));
  EXPECT_EQ(next.finish(), exited(0)) << "it is woken";
  process.close_stdin();
}

}  // namespace
}  // namespace holdfast::test::fair_kind_test
