// SPDX-License-Identifier: Apache-2.0
// `holdfast ls`, `inspect`, `wait` and `break`.
#include "cli_fixture.hpp"

namespace holdfast::test::verbs_test {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
using testing::AnyOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

class Ls : public CliTest {};

TEST_F(Ls, ShowsAnAlignedTableSortedByName) {
  hold("orders:42", 3'600'000);
  hold("a", 5'000, kSomebody + "77");
  const std::vector<std::string> lines = lines_of(use({"ls"}).out);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_THAT(lines[0],
              MatchesRegex("NAME       KIND  OWNER                                     TTL  +WAITING  HOLDER"));
  EXPECT_THAT(lines[1], MatchesRegex("a          lock  " + kSomebody + "77  [0-9.]+ s  +0        a Redisson .*"));
  EXPECT_THAT(lines[2],
              MatchesRegex("orders:42  lock  " + kSomebody + "    [0-9]+ min [0-9]+ s  0        a Redisson .*"));
}

TEST_F(Ls, ShowsOnlyTheHeadOfTheTableWhenThereAreNone) {
  const Outcome outcome = use({"ls"});
  EXPECT_EQ(outcome.status, exited(0));
  EXPECT_EQ(outcome.out, "NAME  KIND  OWNER  TTL  WAITING  HOLDER\n");
}

TEST_F(Ls, MatchesNamesWithAPattern) {
  for (const char* name : {"orders:1", "orders:2", "users:1"}) hold(name);
  EXPECT_EQ(use({"ls", "-q", "orders:*"}).out, "orders:1\norders:2\n");
  EXPECT_EQ(use({"ls", "-q", "*:1"}).out, "orders:1\nusers:1\n");
  EXPECT_EQ(use({"ls", "-q", "nothing*"}).out, "");
}

TEST_F(Ls, QuotesOnlyNamesThatCannotBePrinted) {
  for (const std::string& name : {std::string("line\nbreak"), std::string("käse"), std::string("two words"),
                                  std::string("nul\0byte", 8), std::string(" edge")}) {
    hold(name);
  }
  EXPECT_THAT(lines_of(use({"ls", "-q"}).out),
              ElementsAre("\" edge\"", "käse", "\"line\\nbreak\"", "\"nul\\x00byte\"", "two words"));
}

TEST_F(Ls, AlignsColumnsByCharactersNotBytes) {
  hold("käse", 5'000);
  hold("cheese", 5'000);
  const std::vector<std::string> lines = lines_of(use({"ls"}).out);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_THAT(lines[1], testing::StartsWith("cheese  lock  " + kSomebody + "  "));
  EXPECT_THAT(lines[2], testing::StartsWith("käse    lock  " + kSomebody + "  "));
}

TEST_F(Ls, CutsAnOddNameSoThatItPushesNothingOutOfSight) {
  const std::string odd(512 * 1024, 'x');
  hold(odd, 5'000);
  hold("job", 5'000);
  const Outcome outcome = use({"ls"});
  const std::vector<std::string> lines = lines_of(outcome.out);
  ASSERT_EQ(lines.size(), 3U);
  for (const std::string& line : lines) EXPECT_LT(line.size(), 200U);
  EXPECT_THAT(lines[2], testing::StartsWith(std::string(61, 'x') + "...  lock  " + kSomebody));
  EXPECT_THAT(use({"ls", "--json"}).out, HasSubstr(odd));
  EXPECT_EQ(use({"ls", "-q"}).out, "job\n" + odd + "\n");
}

TEST_F(Ls, TakesThePrefixOfTheUrlAtItsWord) {
  hold("a*bc1");
  hold("axbc2");
  url_ += "?name_prefix=a%2Abc";
  const Outcome outcome = use({"ls", "-q"});
  EXPECT_EQ(outcome.status, exited(0)) << outcome.err;
  EXPECT_EQ(outcome.out, "1\n");
}

TEST_F(Ls, NeverUsesKeys) {
  hold("job");
  use({"ls"});
  EXPECT_EQ(raw_.calls("keys"), 0);
  EXPECT_GT(raw_.calls("scan"), 0);
}

class Inspect : public CliTest {};

TEST_F(Inspect, ShowsTheHolderAndExitsWithZeroWhenHeld) {
  hold("job", 3'600'000, kSomebody);
  const Outcome outcome = use({"inspect", "job"});
  EXPECT_EQ(outcome.status, exited(0));
  EXPECT_THAT(outcome.out,
              MatchesRegex("name   job\nstate  held\nowner  " + kSomebody +
                           "\nwho    a Redisson .or other. client, no name known\nttl    [0-9]+ min [0-9]+ s\nholds  "
                           "1\nwaits  nobody who listens for the release\nnode   .*\n"));
}

TEST_F(Inspect, ExitsWithOneWhenFree) {
  const Outcome outcome = use({"inspect", "job"});
  EXPECT_EQ(outcome.status, exited(1));
  EXPECT_THAT(outcome.out, MatchesRegex("name   job\nstate  free\nnode   .*\n"));
}

TEST_F(Inspect, SaysNothingWhenQuiet) {
  EXPECT_EQ(use({"inspect", "-q", "job"}).out, "");
  EXPECT_EQ(use({"inspect", "-q", "job"}).status, exited(1));
}

class Wait : public CliTest {};

TEST_F(Wait, EndsAtOnceWhenTheLockIsFree) {
  const Outcome outcome = use({"wait", "job"});
  EXPECT_EQ(outcome.status, exited(0));
  EXPECT_EQ(outcome.out + outcome.err, "");
}

TEST_F(Wait, EndsWhenTheLockIsReleasedAndDoesNotTakeIt) {
  hold("job");
  Process process = start({"wait", "-v", "job"});
  EXPECT_THAT(process.read_error_line().value_or(""), HasSubstr("held by " + kSomebody + ", waiting"));
  EXPECT_TRUE(process.running());
  raw_.command("DEL", "job");
  EXPECT_EQ(finish(process).status, exited(0));
  EXPECT_FALSE(raw_.exists("job"));
  EXPECT_EQ(raw_.calls("hset"), 1);
}

TEST_F(Wait, EndsSoonAfterTheLockExpires) {
  hold("job", 300);
  const auto begin = steady_clock::now();
  EXPECT_EQ(use({"wait", "job"}).status, exited(0));
  EXPECT_LT(steady_clock::now() - begin, milliseconds(5000));
}

TEST_F(Wait, GivesUpAfterTheLimitWithTheExitCodeAskedFor) {
  hold("job");
  const auto begin = steady_clock::now();
  Outcome outcome = use({"wait", "-w", "0.3", "job"});
  EXPECT_GE(steady_clock::now() - begin, milliseconds(300));
  EXPECT_EQ(outcome.status, exited(1));
  EXPECT_THAT(outcome.err, HasSubstr("still held by " + kSomebody));
  outcome = use({"wait", "-q", "-n", "-E", "9", "job"});
  EXPECT_EQ(outcome.status, exited(9));
  EXPECT_EQ(outcome.err, "");
}

TEST_F(Wait, KeepsItsLimitWhateverTheServerDoes) {
  url_ += "?command_timeout=5m&connect_timeout=5m";
  hold("job");
  Process process = start({"wait", "-v", "-w", "1", "job"});
  EXPECT_THAT(process.read_error_line().value_or(""), HasSubstr("held by " + kSomebody + ", waiting"));
  server_.freeze();
  Outcome outcome = finish(process);
  EXPECT_EQ(outcome.status, exited(1));
  EXPECT_THAT(outcome.err, HasSubstr("still held by " + kSomebody));
  outcome = use({"wait", "-w", "0.5", "job"});
  EXPECT_EQ(outcome.status, exited(69));
  EXPECT_THAT(outcome.err, HasSubstr("cannot reach the server: no answer in time"));
  server_.thaw();
}

TEST_F(Wait, LooksSeldom) {
  hold("job");
  use({"wait", "-w", "2", "job"});
  EXPECT_LE(raw_.calls("hgetall") + raw_.calls("hscan") + raw_.calls("pttl"), 40);
}

TEST_F(Wait, IsEndedBySignals) {
  hold("job");
  Process process = start({"wait", "-v", "job"});
  process.read_error_line();
  process.signal(SIGTERM);
  EXPECT_EQ(process.wait(), (ExitStatus{.code = 0, .signal = SIGTERM}));
}

TEST_F(Wait, BearsARestartOfTheServer) {
  hold("job");
  Process process = start({"wait", "-v", "job"});
  process.read_error_line();
  server_.restart(Data::lose);
  EXPECT_EQ(finish(process).status, exited(0));
}

class Break : public CliTest {};

TEST_F(Break, TakesTheLockAwayAndWakesTheNext) {
  hold("job");
  Process next = start({"run", "-v", "job", "--", "echo", "next"});
  ASSERT_THAT(next.read_error_line().value_or(""), HasSubstr("waiting"));
  const Outcome outcome = use({"break", "--yes", "job"});
  EXPECT_EQ(outcome.status, exited(0));
  EXPECT_THAT(outcome.err, HasSubstr("taken from " + kSomebody));
  EXPECT_EQ(finish(next).out, "next\n");
}

TEST_F(Break, TakesItOnlyFromTheOwnerThatIsNamed) {
  hold("job");
  Outcome outcome = use({"break", "-y", "--owner", "somebody:1", "job"});
  EXPECT_EQ(outcome.status, exited(1));
  EXPECT_THAT(outcome.err, HasSubstr("left alone: it is held by " + kSomebody));
  EXPECT_EQ(owner_of("job"), kSomebody);
  outcome = use({"break", "-y", "--owner", kSomebody, "job"});
  EXPECT_EQ(outcome.status, exited(0));
  EXPECT_THAT(outcome.err, HasSubstr("taken from " + kSomebody));
  EXPECT_FALSE(raw_.exists("job"));
}

TEST_F(Break, TakesASimpleLockToo) {
  raw_.command("SET", "job", "a stranger's token");
  EXPECT_EQ(use({"break", "-y", "--kind", "simple", "--owner", "another", "job"}).status, exited(1));
  EXPECT_TRUE(raw_.exists("job"));
  EXPECT_EQ(use({"break", "-y", "--kind", "simple", "job"}).status, exited(64));
  EXPECT_TRUE(raw_.exists("job"));
  EXPECT_EQ(use({"break", "-y", "--kind", "simple", "--owner", "a stranger's token", "job"}).status, exited(0));
  EXPECT_FALSE(raw_.exists("job"));
}

/// Somebody's data under a name that is given by mistake, or a lock of Redisson's of another kind.
class WhatIsNoLock : public CliTest,
                     public testing::WithParamInterface<std::pair<std::vector<std::string>, const char*>> {};
INSTANTIATE_TEST_SUITE_P(
    Hashes, WhatIsNoLock,
    testing::Values(
        std::pair(std::vector<std::string>{"name", "alice", "email", "a@x"}, "a hash of 2 fields that is no"),
        std::pair(std::vector<std::string>{"secret", "abc"}, "a hash of one field that is no lock"),
        std::pair(std::vector<std::string>{"name", "b", "email", "b@x", "mode", "x"}, "a hash of 3 fields"),
        std::pair(std::vector<std::string>{"mode", "write", kSomebody + ":write", "1"}, "a read-write lock")));

TEST_P(WhatIsNoLock, IsNamedByAllVerbsAndLeftAlone) {
  std::vector<std::string> write{"HSET", "user:42"};
  write.insert(write.end(), GetParam().first.begin(), GetParam().first.end());
  raw_.send(write);
  const auto before = raw_.hgetall("user:42");
  for (const std::vector<std::string>& args :
       std::vector<std::vector<std::string>>{{"break", "--yes", "user:42"},
                                             {"break", "--yes", "--owner", GetParam().first.front(), "user:42"},
                                             {"run", "user:42", "--", "true"},
                                             {"run", "-n", "user:42", "--", "true"},
                                             {"wait", "user:42"},
                                             {"inspect", "--kind", "lock", "user:42"}}) {
    const Outcome outcome = use(args);
    EXPECT_EQ(outcome.status, exited(69)) << args.front();
    EXPECT_THAT(outcome.err, HasSubstr(GetParam().second)) << args.front();
    EXPECT_EQ(raw_.hgetall("user:42"), before);
  }
  EXPECT_EQ(use({"ls", "-q", "--kind", "lock"}).out, "");
}

TEST_F(Break, ExitsWithOneWhenTheLockIsFree) {
  const Outcome outcome = use({"break", "-y", "job"});
  EXPECT_EQ(outcome.status, exited(1));
  EXPECT_THAT(outcome.err, HasSubstr("is free"));
}

TEST_F(Break, DoesNothingWithoutATerminalOrYes) {
  hold("job");
  EXPECT_EQ(use({"break", "job"}).status, exited(64));
  Process piped = start_shell("echo y | \"$tool\" break job");
  EXPECT_EQ(finish(piped).status, exited(64));
  EXPECT_EQ(owner_of("job"), kSomebody);
}

}  // namespace
}  // namespace holdfast::test::verbs_test
