// SPDX-License-Identifier: Apache-2.0
// `holdfast elect`: one candidate's command runs, and the next one's begins when it has ended, soon.
#include <chrono>
#include <thread>

#include "cli_fixture.hpp"

namespace holdfast::test::elect_test {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;
using testing::HasSubstr;
using testing::MatchesRegex;

class Elect : public CliTest {
 protected:
  Elect() : CliTest({.listen = ServerOptions::Listen::tcp, .persistent = true}) {}

  /// A candidate whose command says its token and process, and works until it is told to end.
  Process candidate(std::vector<std::string> options = {}, const std::string& more = "exec sleep 1000") const {
    std::vector<std::string> args{"elect"};
    args.insert(args.end(), options.begin(), options.end());
    args.insert(args.end(), {"scheduler", "--", "sh", "-c", "echo $HOLDFAST_TOKEN; echo $$; " + more});
    return start(args);
  }
  /// Reads the token of the second term.
  static testing::AssertionResult reads_next(Process& process) {
    const std::optional<std::string> token = process.read_line();
    if (token && std::stoll(*token) >= 2) return testing::AssertionSuccess();
    return testing::AssertionFailure() << token.value_or("nothing") << "; 3, if a grant's answer outlasted its lease";
  }
  bool waits() {
    return eventually([&] { return raw_.command("PUBSUB", "CHANNELS").elements.size() == 1; });
  }
};

TEST_F(Elect, AfterAKillTheNextOneLeadsWhenTheLeaseIsOver) {
  Process first = candidate({"--lease", "1s"});
  ASSERT_EQ(first.read_line(), "1");
  const pid_t command = read_pid(first);
  Process second = candidate({"--lease", "1s"});
  ASSERT_TRUE(waits());
  const auto killed = steady_clock::now();
  first.signal(SIGKILL);
  ASSERT_TRUE(reads_next(second));
  const auto took = steady_clock::now() - killed;
  EXPECT_FALSE(runs(command)) << "two commands";
  EXPECT_LT(took, 1s + 5s) << "and most often 1.1 s";
  RecordProperty("took_ms", static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(took).count()));
}

TEST_F(Elect, AfterASignalTheNextOneLeadsAtOnceAndTheCommandHasEnded) {
  Process first = candidate({"--lease", "1h"});
  ASSERT_EQ(first.read_line(), "1");
  const pid_t command = read_pid(first);
  Process second = candidate({"--lease", "1h"});
  ASSERT_TRUE(waits());
  first.signal(SIGTERM);
  ASSERT_EQ(second.read_line(), "2") << "long before the lease is over";
  EXPECT_FALSE(runs(command));
  EXPECT_EQ(finish(first).status, killed_by(SIGTERM));
}

TEST_F(Elect, ACommandThatIsSlowToEndKeepsTheOthersOut) {
  const std::string file = folder_.file("may-end");
  Process first = candidate({"--lease", "600ms"},
                            "trap 'echo told' TERM; while [ ! -e " + file + " ]; do sleep 0.02; done; exit 3");
  ASSERT_EQ(first.read_line(), "1");
  read_pid(first);
  Process second = candidate({"--lease", "600ms"});
  ASSERT_TRUE(waits());
  first.signal(SIGTERM);
  ASSERT_EQ(first.read_line(), "told");
  EXPECT_EQ(second.read_line(1500ms), std::nullopt) << "more than two leases later";
  std::ofstream(file) << "\n";
  EXPECT_TRUE(reads_next(second));
  EXPECT_EQ(finish(first).status, exited(3)) << "the command's own";
}

TEST_F(Elect, AfterALossTheCommandIsEndedAndTheCandidateStandsAgain) {
  Process process = candidate({"--lease", "1s", "--rest", "10m"});
  ASSERT_EQ(process.read_line(), "1");
  const pid_t command = read_pid(process);
  raw_.command("DEL", "scheduler");
  ASSERT_TRUE(reads_next(process));
  EXPECT_FALSE(runs(command));
  EXPECT_THAT(process.errors(), HasSubstr("was lost while the command ran"));
  process.signal(SIGTERM);
  EXPECT_EQ(finish(process).status, killed_by(SIGTERM));
}

TEST_F(Elect, AfterACommandThatEndsByItselfItStandsBackForTheOthers) {
  Process first = candidate({"--rest", "10m"}, "read line; exit 4");
  ASSERT_EQ(first.read_line(), "1");
  read_pid(first);
  first.write_line("");
  Process second = candidate();
  EXPECT_EQ(second.read_line(), "2");
  EXPECT_TRUE(first.running());
  const std::string ended = "the command has ended with 4; the lead is given away";  // said behind the release
  EXPECT_TRUE(eventually([&] { return first.errors().find(ended) != std::string::npos; })) << first.errors();
  first.signal(SIGINT);
  EXPECT_EQ(finish(first).status, killed_by(SIGINT)) << "it does not stand back for ever";
}

TEST_F(Elect, TermAfterTermOfOneCandidate) {
  Process process = candidate({"--rest", "0", "--json"}, "exit 0");
  for (int term = 1; term <= 3; ++term) {
    EXPECT_EQ(process.read_line(), std::to_string(term));
    read_pid(process);
  }
  process.signal(SIGTERM);
  const Outcome outcome = finish(process);
  EXPECT_THAT(outcome.err, HasSubstr(R"("command":{"pid":)"));
  EXPECT_THAT(outcome.err, HasSubstr(R"("release":"released")"));
}

TEST_F(Elect, OnceEndsWithTheFirstTermAsRunDoes) {
  EXPECT_EQ(use({"elect", "--once", "scheduler", "--", "sh", "-c", "exit 5"}).status, exited(5));
  EXPECT_EQ(use({"elect", "--once", "scheduler", "-c", "exit 6"}).status, exited(6));
  Process process = candidate({"--once", "--lease", "1s"});
  ASSERT_EQ(process.read_line(), "3");
  read_pid(process);
  raw_.command("DEL", "scheduler");
  EXPECT_EQ(finish(process).status, exited(75));
  EXPECT_FALSE(raw_.exists("scheduler"));
}

TEST_F(Elect, WhatCanNeverWorkEndsIt) {
  EXPECT_EQ(use({"elect", "scheduler", "--", "/nowhere/at-all"}).status, exited(127));
  EXPECT_EQ(use({"elect", "scheduler", "--", "/etc/passwd"}).status, exited(126));
  raw_.command("SET", "scheduler", "somebody's own");
  const Outcome outcome = use({"elect", "--json", "scheduler", "--", "true"});
  EXPECT_EQ(outcome.status, exited(69));
  EXPECT_THAT(outcome.err, HasSubstr(R"("code":"wrong_type")"));
  EXPECT_EQ(outcome.out, "");
}

TEST_F(Elect, ACandidateOutlivesItsServer) {
  url_ += "?patience=100ms&command_timeout=2s";  // one that is late is repeated, and a token skipped
  Process process = candidate({"--lease", "1s"});
  ASSERT_EQ(process.read_line(), "1");
  read_pid(process);
  server_.kill();
  std::optional<std::string> line = process.read_error_line();
  while (line && line->find("; trying again") == line->npos) line = process.read_error_line();
  ASSERT_TRUE(line) << process.errors();
  server_.restart(Data::keep);
  EXPECT_EQ(process.read_line(), "2");
}

TEST_F(Elect, ASignalEndsTheWaitForAServerThatIsNotThere) {
  server_.kill();
  Process process = candidate();
  ASSERT_THAT(process.read_error_line().value_or(""), HasSubstr("; trying again"));
  process.signal(SIGTERM);
  EXPECT_EQ(finish(process).status, killed_by(SIGTERM));
}

TEST_F(Elect, WatchTellsEachChange) {
  Process watch = start({"elect", "--watch", "scheduler"});
  Process json = start({"elect", "--watch", "--json", "scheduler"});
  EXPECT_EQ(watch.read_line(), "nobody leads");
  EXPECT_THAT(json.read_line().value_or(""), HasSubstr(R"("owner":null)"));
  Process first = candidate({"--label", "one"});
  EXPECT_THAT(watch.read_line().value_or(""),
              MatchesRegex(".*, process [0-9]+, label one is the leader, with token 1"));
  const std::string line = json.read_line().value_or("");
  EXPECT_THAT(line, HasSubstr(R"("token":1)"));
  EXPECT_THAT(line, HasSubstr(R"("label":"one")"));
  Process second = candidate({"--label", "two"});
  ASSERT_TRUE(waits());
  first.signal(SIGTERM);
  EXPECT_THAT(watch.read_line().value_or(""), HasSubstr("label two is the leader, with token 2"));
  second.signal(SIGTERM);
  EXPECT_EQ(watch.read_line(), "nobody leads");
  server_.kill();
  EXPECT_THAT(watch.read_error_line().value_or(""), HasSubstr("; trying again"));
  EXPECT_TRUE(watch.running());
  watch.signal(SIGTERM);
  EXPECT_EQ(finish(watch).status, killed_by(SIGTERM));
}

TEST_F(Elect, IsForOneNameOnOneServer) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> wrong{
      {{"elect"}, "elect: the name of the lock is missing"},
      {{"elect", "a"}, "elect: the command is missing: holdfast elect NAME -- COMMAND..."},
      {{"elect", "a", "true"}, "elect: put -- between the name and the command: holdfast elect a -- true"},
      {{"elect", "a", "b", "--", "true"}, "elect: one argument too many: b"},
      {{"elect", "--watch", "a", "--", "true"}, "elect: one argument too many: true"},
      {{"elect", "-c", "true", "a", "--", "true"}, "elect: give either --command or a command after --"},
      {{"elect", "--url", "redis://a", "--url", "redis://b", "a", "--", "true"}, "elect is for one server"},
      {{"elect", "--watch", "--url", "redis://a", "--url", "redis://b", "a"}, "elect is for one server"},
      {{"elect", "--wait", "1", "a", "--", "true"}, "unknown option --wait"}};
  for (const auto& [args, message] : wrong) {
    const Outcome outcome = use(args);
    EXPECT_EQ(outcome.status, exited(64)) << message;
    EXPECT_THAT(outcome.err, HasSubstr(message));
  }
}

}  // namespace
}  // namespace holdfast::test::elect_test
