// SPDX-License-Identifier: Apache-2.0
// Where the tool's own messages go, and what they begin with.
#include "cli_fixture.hpp"
#include "log_daemon.hpp"

namespace holdfast::test::messages_test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;

class Messages : public CliTest {
 protected:
  std::string place_ = folder_.file("log");
  /// Somebody else has it.
  Outcome run_in_vain(const std::string& option) {
    hold("job");
    return use({"run", "-n", option, "job", "--", "true"}, {"HOLDFAST_SYSLOG=" + place_});
  }
};

TEST_F(Messages, HaveNoTimeUnlessItIsAskedFor) {
  EXPECT_THAT(run_in_vain("--verbose").err, MatchesRegex("(holdfast: [^\n]*\n)+"));
}

TEST_F(Messages, BeginWithTheTimeIfItIsAskedFor) {
  EXPECT_THAT(
      run_in_vain("--timestamps").err,
      MatchesRegex("20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}[.][0-9]{3}Z holdfast: lock [^\n]*\n"));
}

TEST_F(Messages, GoToTheSystemsLogInsteadIfItIsAskedFor) {
  const LogDaemon daemon(place_);
  const Outcome outcome = run_in_vain("--syslog");
  EXPECT_EQ(outcome.status, exited(1));
  EXPECT_THAT(outcome.err, IsEmpty());
  EXPECT_THAT(daemon.take(),
              MatchesRegex("<13>[A-Z][a-z]{2} [ 0-9]{2} [0-9:]{8} holdfast\\[[0-9]+\\]: lock \"job\".*"));
  use({"inspect", "--syslog", "--url", "redis://127.0.0.1:1", "job"}, {"HOLDFAST_SYSLOG=" + place_});
  EXPECT_THAT(daemon.take(), testing::StartsWith("<11>")) << "a failure";
}

TEST_F(Messages, GoToStandardErrorWhereNobodyKeepsALog) {
  EXPECT_THAT(run_in_vain("--syslog").err, HasSubstr("holdfast: lock \"job\""));
}

}  // namespace
}  // namespace holdfast::test::messages_test
