// SPDX-License-Identifier: Apache-2.0
// `--kind fenced`: the command gets the token of its run.
#include "cli_fixture.hpp"

namespace holdfast::test::fenced_kind_test {
namespace {

using testing::HasSubstr;

class FencedKind : public CliTest {};

TEST_F(FencedKind, EachRunGetsTheNextToken) {
  for (const char* token : {"1\n", "2\n", "3\n"}) {
    const Outcome outcome = use({"run", "--kind", "fenced", "job", "--", "sh", "-c", "echo $HOLDFAST_TOKEN"});
    EXPECT_EQ(outcome.out, token) << outcome.err;
  }
  EXPECT_EQ(raw_.command("GET", "redisson_lock_token:{job}").text, "3");
}

TEST_F(FencedKind, ARunOfAnotherKindInsideHasNoToken) {
  const std::string inner = tool() + " run inner -- sh -c 'echo ${HOLDFAST_TOKEN-none}'";
  const Outcome outcome = use({"run", "--kind=fenced", "outer", "-c", inner});
  EXPECT_EQ(outcome.out, "none\n") << outcome.err;
}

TEST_F(FencedKind, IsForOneName) {
  const Outcome outcome = use({"run", "--kind", "fenced", "a", "b", "--", "true"});
  EXPECT_EQ(outcome.status, exited(64));
  EXPECT_THAT(outcome.err, HasSubstr("--kind fenced is for one name on one server"));
}

TEST_F(FencedKind, IsInspectedAndBroken) {
  Process process = start({"run", "--kind", "fenced", "job", "--", "sh", "-c", "echo started; read line"});
  EXPECT_EQ(process.read_line(), "started");
  const Outcome seen = use({"inspect", "--kind", "fenced", "job"});
  EXPECT_EQ(seen.status, exited(0));
  EXPECT_THAT(seen.out, testing::AllOf(HasSubstr("state  held"), HasSubstr("\ntoken  1\n")));
  EXPECT_THAT(use({"inspect", "--json", "--kind", "fenced", "job"}).out, HasSubstr(R"("token":1)"));
  EXPECT_THAT(use({"inspect", "--json", "job"}).out, HasSubstr(R"("token":null)"));
  EXPECT_EQ(use({"break", "-y", "--kind", "fenced", "job"}).status, exited(0));
  EXPECT_EQ(finish(process).status, exited(75));
}

}  // namespace
}  // namespace holdfast::test::fenced_kind_test
