// SPDX-License-Identifier: Apache-2.0
// `run --any`: one of several names, and the command learns which.
#include "cli_fixture.hpp"

namespace holdfast::test::any_name_test {
namespace {

using testing::HasSubstr;

class AnyName : public CliTest {
 protected:
  Outcome name_of(std::vector<std::string> args) const {
    args.insert(args.begin(), {"run", "-n", "--any"});
    args.insert(args.end(), {"--", "sh", "-c", "echo $HOLDFAST_NAME"});
    return use(args);
  }
};

TEST_F(AnyName, TheCommandGetsTheNameOfTheFirstThatIsFree) {
  EXPECT_EQ(name_of({"gpu:{0..3}"}).out, "gpu:0\n");
  hold("gpu:0");
  hold("gpu:1");
  EXPECT_EQ(name_of({"gpu:{0..3}"}).out, "gpu:2\n");
  EXPECT_EQ(name_of({"gpu:0", "gpu:1", "spare"}).out, "spare\n");
  EXPECT_EQ(raw_.command("DBSIZE").integer, 2) << "it was given back, and no other was taken";
}

TEST_F(AnyName, IsWaitedForUntilOneIsReleased) {
  Process first = start({"run", "--any", "gpu:{0..1}", "--", "sh", "-c", "echo $HOLDFAST_NAME; read line"});
  Process second = start({"run", "--any", "gpu:{0..1}", "--", "sh", "-c", "echo $HOLDFAST_NAME; read line"});
  const std::string of_first = first.read_line().value_or("");
  const std::string of_second = second.read_line().value_or("");
  EXPECT_NE(of_first, of_second);
  const Outcome busy = name_of({"gpu:{0..1}"});
  EXPECT_EQ(busy.status, exited(1));
  EXPECT_THAT(busy.err, HasSubstr("somebody else holds it"));
  Process third = start({"run", "--any", "gpu:{0..1}", "--", "sh", "-c", "echo $HOLDFAST_NAME"});
  ASSERT_TRUE(eventually([&] { return raw_.command("PUBSUB", "CHANNELS").elements.size() == 2; }));
  EXPECT_EQ(third.output(), "");
  second.write_line("");
  EXPECT_EQ(third.read_line(), of_second);
}

TEST_F(AnyName, TheReportHasTheNameThatItGot) {
  hold("gpu:0");
  const Outcome outcome = use({"run", "--json", "--any", "gpu:{0..1}", "--", "true"});
  EXPECT_EQ(outcome.status, exited(0));
  EXPECT_THAT(outcome.err, HasSubstr(R"("name":"gpu:1","names":["gpu:1"])"));
}

TEST_F(AnyName, ARunInsideHasOneOfTheOthers) {
  const std::string inner = tool() + " run -w 10 --any 'gpu:{0..1}' -- sh -c 'echo $HOLDFAST_NAME'";
  const Outcome outcome = use({"run", "--any", "gpu:{0..1}", "-c", "echo $HOLDFAST_NAME; " + inner});
  EXPECT_EQ(outcome.out, "gpu:0\ngpu:1\n") << outcome.err;
}

TEST_F(AnyName, OnlyRangesAreExpandedAndOnlyHere) {
  EXPECT_EQ(name_of({"{gpu}:0"}).out, "{gpu}:0\n");
  EXPECT_EQ(name_of({"{gpu}:{4..5}"}).out, "{gpu}:4\n") << "a hash tag, and a range";
  EXPECT_EQ(name_of({"{gpu{2..3}}"}).out, "{gpu2}\n") << "a range in a hash tag";
  EXPECT_EQ(name_of({"a..b"}).out, "a..b\n");
  EXPECT_EQ(name_of({"x{08..9}y"}).out, "x8y\n");
  EXPECT_EQ(use({"run", "gpu:{0..1}", "--", "sh", "-c", "echo $HOLDFAST_NAME"}).out, "gpu:{0..1}\n");
}

TEST_F(AnyName, SeveralRangesOfOneNameStandForAllOfTheirCombinations) {
  hold("node:0:gpu:0");
  hold("node:0:gpu:1");
  hold("node:1:gpu:0");
  EXPECT_EQ(name_of({"node:{0..1}:gpu:{0..1}"}).out, "node:1:gpu:1\n");
}

TEST_F(AnyName, WhatIsWrongIsRefused) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> wrong{
      {{"run", "--any", "gpu:{3..0}", "--", "true"}, "run: gpu:{3..0} is no range of names"},
      {{"run", "--any", "gpu:{0..10000}", "--", "true"}, "10000 names at most"},
      {{"run", "--any", "x{0..999}{0..999}", "--", "true"}, "run: x{0..999}{0..999} is no range of names"},
      {{"run", "--any", "gpu:{0..}", "--", "true"}, "run: gpu:{0..} is no range of names: two numbers with .. between"},
      {{"run", "--any", "gpu:{..7}", "--", "true"}, "run: gpu:{..7} is no range of names"},
      {{"run", "--any", "x{0..1}y{0..}", "--", "true"}, "run: x{0..1}y{0..} is no range of names"},
      {{"run", "--any", "x{a..b}", "--", "true"}, "run: x{a..b} is no range of names"},
      {{"run", "--any", "x{0..7..2}", "--", "true"}, "run: x{0..7..2} is no range of names"},
      {{"run", "--any", "x{0..-1}", "--", "true"}, "run: x{0..-1} is no range of names"},
      {{"run", "--any", "x{0..99999999999999999999}", "--", "true"}, "is no range of names"},
      {{"run", "--any", "--kind", "fenced", "a", "b", "--", "true"}, "run: --any is for --kind lock on one server"},
      {{"run", "--any", "--url", "redis://a", "--url", "redis://b", "a", "--", "true"}, "--any is for --kind lock"}};
  for (const auto& [args, message] : wrong) {
    const Outcome outcome = use(args);
    EXPECT_EQ(outcome.status, exited(64)) << message;
    EXPECT_THAT(outcome.err, HasSubstr(message));
  }
}

}  // namespace
}  // namespace holdfast::test::any_name_test
