// SPDX-License-Identifier: Apache-2.0
// `--kind spin`: the same verbs on a lock of which nobody is told.
#include "cli_fixture.hpp"
#include "support/listen.hpp"

namespace holdfast::test::spin_kind_test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class SpinKind : public CliTest {};

TEST_F(SpinKind, RunsOneAfterAnotherWithoutAMessage) {
  Subscriber messages(server_);
  Process first = start({"run", "--kind", "spin", "job", "--", "sh", "-c", "echo $HOLDFAST_OWNER; read line"});
  const std::optional<std::string> owner = first.read_line();
  ASSERT_TRUE(owner);
  EXPECT_EQ(raw_.hgetall("job"), (std::map<std::string, std::string>{{*owner, "1"}}));
  EXPECT_EQ(use({"run", "--kind=spin", "-n", "job", "--", "echo", "ran"}).status, exited(1));
  EXPECT_EQ(use({"run", "-n", "job", "--", "echo", "ran"}).status, exited(1)) << "the plain lock of the name";
  Process next = start({"run", "-v", "--kind", "spin", "job", "--", "echo", "ran"});
  EXPECT_THAT(next.read_error_line().value_or(""), HasSubstr("waiting"));
  first.close_stdin();
  EXPECT_EQ(finish(next).out, "ran\n");
  EXPECT_FALSE(raw_.exists("job"));
  EXPECT_THAT(messages.messages(), IsEmpty());
}

TEST_F(SpinKind, IsForOneName) {
  const Outcome outcome = use({"run", "--kind", "spin", "a", "b", "--", "true"});
  EXPECT_EQ(outcome.status, exited(64));
  EXPECT_THAT(outcome.err, HasSubstr("--kind spin is for one name on one server"));
}

TEST_F(SpinKind, IsInspectedWaitedForAndBroken) {
  Process process = start({"run", "--kind", "spin", "job", "--", "sh", "-c", "echo started; read line"});
  ASSERT_EQ(process.read_line(), "started");
  const Outcome seen = use({"inspect", "--kind", "spin", "job"});
  EXPECT_EQ(seen.status, exited(0));
  EXPECT_THAT(seen.out, Not(HasSubstr("waits"))) << "nobody could tell";
  EXPECT_EQ(use({"wait", "-n", "--kind", "spin", "job"}).status, exited(1));
  EXPECT_EQ(use({"break", "-y", "--kind", "spin", "job"}).status, exited(0));
  EXPECT_FALSE(raw_.exists("job"));
  process.close_stdin();
}

}  // namespace
}  // namespace holdfast::test::spin_kind_test
