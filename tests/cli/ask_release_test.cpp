// SPDX-License-Identifier: Apache-2.0
// `ask-release`, and the commands that hear it.
#include "cli_fixture.hpp"

namespace holdfast::test::ask_release_test {
namespace {

using testing::HasSubstr;

class AskRelease : public CliTest {
 protected:
  /// Asks until somebody has heard it: a run listens soon after its start.
  bool heard() {
    return eventually([&] { return use({"ask-release", "-q", "job"}).status == exited(0); });
  }
};

TEST_F(AskRelease, SaysThatNobodyListens) {
  Outcome outcome = use({"ask-release", "job"});
  EXPECT_EQ(outcome.status, exited(1));
  EXPECT_THAT(outcome.err, HasSubstr("lock \"job\" on "));
  EXPECT_THAT(outcome.err, HasSubstr(": nobody listens; it is free, or its holders take no requests\n"));
  hold("job");
  outcome = use({"ask-release", "--json", "job"});
  EXPECT_EQ(outcome.status, exited(1));
  EXPECT_EQ(outcome.out, "{\"name\":\"job\",\"heard\":0}\n");
}

TEST_F(AskRelease, TheCommandGetsTheSignalAndDecides) {
  Process process = start({"run", "--on-asked", "SIGUSR1", "job", "--", "sh", "-c",
                           "trap 'echo asked; exit 3' USR1; echo runs; while :; do sleep 0.02; done"});
  ASSERT_EQ(process.read_line(), "runs");
  ASSERT_TRUE(heard());
  const Outcome outcome = finish(process);
  EXPECT_EQ(outcome.status, exited(3));
  EXPECT_THAT(outcome.out, HasSubstr("asked\n"));
  EXPECT_THAT(outcome.err, HasSubstr("is asked for; sent SIGUSR1\n"));
  EXPECT_EQ(use({"wait", "-n", "job"}).status, exited(0)) << "it is given back";
}

TEST_F(AskRelease, ATermEndsTheCommand) {
  Process process = start({"run", "--on-asked", "term", "job", "--", "sh", "-c", "echo runs; exec sleep 60"});
  ASSERT_EQ(process.read_line(), "runs");
  ASSERT_TRUE(heard());
  EXPECT_EQ(finish(process).status, exited(128 + SIGTERM));
}

TEST_F(AskRelease, WithoutTheOptionNobodyHearsIt) {
  Process process = start({"run", "job", "--", "sh", "-c", "echo runs; exec sleep 60"});
  ASSERT_EQ(process.read_line(), "runs");
  EXPECT_EQ(use({"ask-release", "job"}).status, exited(1));
  process.signal(SIGTERM);
  static_cast<void>(finish(process));
}

TEST_F(AskRelease, EachOfSeveralServersIsAsked) {
  const RedisServer other;
  const RedisServer third;
  const std::vector<std::string> urls{"--url", server_.url(), "--url", other.url(), "--url", third.url()};
  std::vector<std::string> args{"run", "--on-asked", "usr2", "job"};
  args.insert(args.end(), urls.begin(), urls.end());
  args.insert(args.end(), {"--", "sh", "-c", "trap 'exit 5' USR2; echo runs; while :; do sleep 0.02; done"});
  Process process = start(args);
  ASSERT_EQ(process.read_line(), "runs");
  args = {"ask-release", "job"};
  args.insert(args.end(), urls.begin(), urls.end());
  Outcome outcome;
  ASSERT_TRUE(eventually([&] { return (outcome = use(args)).status == exited(0); })) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("lock \"job\" on 3 servers: asked its holder to give it back\n"));
  EXPECT_EQ(finish(process).status, exited(5));
}

TEST_F(AskRelease, RefusesASignalThatIsNone) {
  const Outcome outcome = use({"run", "--on-asked", "kill", "job", "--", "true"});
  EXPECT_EQ(outcome.status, exited(64));
  EXPECT_THAT(outcome.err, HasSubstr("--on-asked: kill is not one of term, int, hup, quit, usr1, usr2\n"));
  EXPECT_EQ(use({"ask-release"}).status, exited(64));
}

}  // namespace
}  // namespace holdfast::test::ask_release_test
