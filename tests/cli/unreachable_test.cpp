// SPDX-License-Identifier: Apache-2.0
// Servers that are not there at the start: connecting is a part of the wait.
#include "cli_fixture.hpp"

namespace holdfast::test::unreachable_test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class Unreachable : public CliTest {
 protected:
  Unreachable() : CliTest({.listen = ServerOptions::Listen::tcp}) { server_.stop(); }

  void come_back() { server_.restart(Data::lose); }
};

TEST_F(Unreachable, RunAndWaitTryAgainUntilTheServerComes) {
  for (const std::vector<std::string>& limit : {std::vector<std::string>{"-w", "60"}, std::vector<std::string>{}}) {
    std::vector<std::string> run{"run"};
    std::vector<std::string> wait{"wait"};
    run.insert(run.end(), limit.begin(), limit.end());
    wait.insert(wait.end(), limit.begin(), limit.end());
    run.insert(run.end(), {"job", "--", "echo", "ran"});
    wait.insert(wait.end(), {"job"});
    Process running = start(run);
    Process waiting = start(wait);
    EXPECT_THAT(running.read_error_line().value_or(""), HasSubstr("cannot reach the server: Connection refused"));
    EXPECT_THAT(waiting.read_error_line().value_or(""), HasSubstr("Connection refused; trying again for "));
    come_back();
    EXPECT_EQ(running.read_line(), "ran");
    EXPECT_EQ(finish(running).status, exited(0));
    EXPECT_EQ(finish(waiting).status, exited(0));
    server_.stop();
  }
}

TEST_F(Unreachable, WithNonblockItIsTriedOnce) {
  for (const std::vector<std::string>& args :
       {std::vector<std::string>{"run", "-n", "job", "--", "true"}, std::vector<std::string>{"wait", "-n", "job"}}) {
    const auto begin = std::chrono::steady_clock::now();
    const Outcome outcome = use(args);
    EXPECT_EQ(outcome.status, exited(69));
    EXPECT_THAT(outcome.err, HasSubstr("cannot reach the server: Connection refused"));
    EXPECT_THAT(outcome.err, Not(HasSubstr("trying again")));
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
  }
}

TEST_F(Unreachable, TheLimitOnWaitingOrThePatienceEndsIt) {
  const std::string patient_for_a_moment = "HOLDFAST_URL=" + url_ + "?patience=1s";
  for (const char* verb : {"run", "wait"}) {
    std::vector<std::string> limited{verb, "-w", "1s", "job"};
    std::vector<std::string> unlimited{verb, "job"};
    if (limited[0] == "run") {
      limited.insert(limited.end(), {"--", "true"});
      unlimited.insert(unlimited.end(), {"--", "true"});
    }
    for (const Outcome& outcome : {use(limited), use(unlimited, {patient_for_a_moment})}) {
      EXPECT_EQ(outcome.status, exited(69)) << "nobody said that it is taken";
      EXPECT_THAT(outcome.err, HasSubstr("Connection refused; trying again for "));
      EXPECT_THAT(outcome.out, IsEmpty());
    }
  }
}

TEST_F(Unreachable, ASignalEndsItAtOnce) {
  Process process = start({"run", "-w", "1h", "job", "--", "true"});
  ASSERT_TRUE(process.read_error_line());
  process.signal(SIGTERM);
  EXPECT_EQ(finish(process).status, killed_by(SIGTERM));
}

TEST_F(Unreachable, AMajorityOfSeveralIsTriedAgainToo) {
  RedisServer other({.listen = ServerOptions::Listen::tcp});
  other.stop();
  const RedisServer third;
  Process process =
      start({"run", "-w", "60", "--url", url_, "--url", other.url(), "--url", third.url(), "job", "--", "echo", "ran"});
  EXPECT_THAT(process.read_error_line().value_or(""), HasSubstr("; trying again for "));
  other.restart(Data::lose);
  EXPECT_EQ(process.read_line(), "ran") << process.errors();
  EXPECT_EQ(finish(process).status, exited(0));
}

}  // namespace
}  // namespace holdfast::test::unreachable_test
