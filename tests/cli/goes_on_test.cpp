// SPDX-License-Identifier: Apache-2.0
// `holdfast elect` promises to go on for ever: through every failure that may pass, and no other.
#include <deque>

#include "cli_fixture.hpp"
#include "support/known_failures.hpp"

namespace holdfast::test::goes_on_test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class ElectGoesOn : public CliTest {
 protected:
  ElectGoesOn() : CliTest({.listen = ServerOptions::Listen::tcp}) {}

  Process candidate(const std::string& url) const {
    return start(
        {"elect", "--url", url + "?patience=100ms", "scheduler", "--", "sh", "-c", "echo leads; exec sleep 1000"});
  }
  static bool says(Process& process, const std::string& what) {
    std::optional<std::string> line = process.read_error_line();
    while (line && line->find(what) == std::string::npos) line = process.read_error_line();
    return line.has_value();
  }
  static void expect_it_leads(Process& process) {
    EXPECT_EQ(process.read_line(), "leads") << process.errors();
    process.signal(SIGTERM);
    EXPECT_EQ(finish(process).status, killed_by(SIGTERM));
  }
};

TEST_F(ElectGoesOn, ThroughEachFailureThatMayPassAndNoOther) {
  struct Case {
    Case(KnownFailure what, const std::function<Process(const std::string&)>& begin)
        : failure(std::move(what)), server(failure.text), process(begin(server.url())) {}
    KnownFailure failure;
    FailingServer server;
    Process process;
  };
  std::deque<Case> cases;
  for (const KnownFailure& each : known_failures()) {
    cases.emplace_back(each, [this](const std::string& url) { return candidate(url); });
  }
  ASSERT_GT(cases.size(), 40U) << "the table was not read";
  for (Case& each : cases) {
    SCOPED_TRACE(each.failure.text);
    if (each.failure.passes) {
      EXPECT_TRUE(says(each.process, "; trying again")) << "it has ended";
      each.server.grant();
      expect_it_leads(each.process);
    } else {
      const Outcome outcome = finish(each.process);
      EXPECT_EQ(outcome.status, exited(each.failure.code == "invalid_argument" ? 64 : 69));
      EXPECT_THAT(outcome.err, testing::Not(HasSubstr("trying again")));
    }
  }
}

TEST_F(ElectGoesOn, WhenItsPasswordIsRefusedThatWasAcceptedBefore) {
  raw_.command("ACL", "SETUSER", "app", "on", ">old", "~*", "+@all");
  raw_.command("ACL", "SETUSER", "app", "&*");  // unknown to Redis 6.0, which has no rights on channels
  hold("scheduler");
  Process process = candidate(server_.url("app", "old"));
  ASSERT_TRUE(eventually([&] { return raw_.command("PUBSUB", "CHANNELS").elements.size() == 1; }));
  raw_.command("ACL", "SETUSER", "app", "resetpass", ">new");
  raw_.command("CLIENT", "KILL", "USER", "app");
  ASSERT_TRUE(says(process, "WRONGPASS")) << process.errors();
  EXPECT_TRUE(process.running());
  raw_.command("DEL", "scheduler");
  raw_.command("ACL", "SETUSER", "app", "resetpass", ">old");
  expect_it_leads(process);
}

TEST_F(ElectGoesOn, NotIfItsFirstLoginIsRefused) {
  raw_.command("ACL", "SETUSER", "app", "on", ">right", "~*", "+@all");
  Process process = candidate(server_.url("app", "mistyped"));
  const Outcome outcome = finish(process);
  EXPECT_EQ(outcome.status, exited(69));
  EXPECT_THAT(outcome.err, HasSubstr("WRONGPASS"));
  EXPECT_THAT(outcome.err, testing::Not(HasSubstr("trying again")));
}

}  // namespace
}  // namespace holdfast::test::goes_on_test
