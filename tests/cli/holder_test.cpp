// SPDX-License-Identifier: Apache-2.0
// Who holds a lock, as the tool shows it: of real holders, dead ones, and clients that call themselves what they like.
#include <array>
#include <unistd.h>

#include <boost/json.hpp>

#include "cli_fixture.hpp"
#include "support/server_program.hpp"

namespace holdfast::test::holder_test {
namespace {

namespace json = boost::json;
using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

std::string host_name() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

class WhoHolds : public CliTest {
 protected:
  explicit WhoHolds(ServerOptions options = {}) : CliTest(std::move(options)) {}

  /// Starts a run whose command says its id and stays until it is told to end; returns when it holds the lock.
  Process holding(std::vector<std::string> options) const {
    options.insert(options.begin(), "run");
    options.insert(options.end(), {"job", "--", "sh", "-c", "echo $$; read line"});
    Process process = start(std::move(options));
    EXPECT_TRUE(process.read_line()) << process.errors();
    return process;
  }
  static void end(Process& process) {
    process.write_line("");
    EXPECT_EQ(finish(process).status, exited(0));
  }
  json::value inspected() const { return json::parse(use({"inspect", "--json", "job"}).out); }
};

TEST_F(WhoHolds, InspectNamesHostProcessLabelAndAddress) {
  Process holder = holding({"--label", "nightly run"});
  const std::string who = host_name() + ", process " + std::to_string(holder.pid()) + ", label nightly run";
  EXPECT_THAT(use({"inspect", "job"}).out, AllOf(HasSubstr("\nwho    " + who + "\n"),
                                                 ContainsRegex("\nfrom   .*, connected for [0-9.]+ m?s\nttl ")));
  EXPECT_THAT(use({"ls"}).out, HasSubstr("  " + who + "\n"));
  const json::value value = inspected().at("holder");
  EXPECT_EQ(value.at("kind"), "holdfast");
  EXPECT_EQ(value.at("connection"), "open");
  EXPECT_EQ(value.at("host").as_string(), host_name());
  EXPECT_EQ(value.at("process"), holder.pid());
  EXPECT_EQ(value.at("label"), "nightly run");
  EXPECT_TRUE(value.at("address").is_string());
  EXPECT_GE(value.at("connected_ms").as_int64(), 0);
  EXPECT_EQ(json::parse(use({"ls", "--json"}).out).at(0).at("holder").at("process"), holder.pid());
  end(holder);
  EXPECT_TRUE(inspected().at("holder").is_null());
}

TEST_F(WhoHolds, AndHowManyClientsWait) {
  Process holder = holding({});
  Process one = start({"run", "-w", "60", "job", "--", "true"});
  EXPECT_TRUE(
      eventually([&] { return use({"inspect", "job"}).out.find("\nwaits  up to 1 client\n") != std::string::npos; }));
  Process another = start({"run", "-w", "60", "job", "--", "true"});
  EXPECT_TRUE(eventually([&] { return inspected().at("listeners") == 2; }));
  EXPECT_THAT(use({"inspect", "job"}).out, HasSubstr("\nwaits  up to 2 clients\n"));
  EXPECT_EQ(json::parse(use({"ls", "--json"}).out).at(0).at("listeners"), 2);
  EXPECT_THAT(use({"ls"}).out, ContainsRegex("  2        " + host_name()));
  end(holder);
  EXPECT_EQ(finish(one).status, exited(0));
  EXPECT_EQ(finish(another).status, exited(0));
}

TEST_F(WhoHolds, TheLabelIsTheCommandsNameUnlessItIsGiven) {
  Process plain = holding({});
  EXPECT_EQ(inspected().at("holder").at("label"), "sh");
  end(plain);
  url_ += "?label=of%20the%20URL";
  Process with_url = holding({});
  EXPECT_EQ(inspected().at("holder").at("label"), "of the URL");
  end(with_url);
}

TEST_F(WhoHolds, TheLabelOfALineOfShellIsTheFirstProgramInIt) {
  const std::vector<std::pair<std::string, std::string>> lines{
      {"/bin/echo $$; read line", "echo"}, {"LC_ALL=C echo $$ && read line", "echo"}, {"(echo $$; read line)", "sh"}};
  for (const auto& [line, label] : lines) {
    Process process = start({"run", "-c", line, "job"});
    ASSERT_TRUE(process.read_line()) << process.errors();
    EXPECT_EQ(inspected().at("holder").at("label").as_string(), label) << line;
    end(process);
  }
}

TEST_F(WhoHolds, WaitSaysWhoHasItToo) {
  Process holder = holding({"--label", "nightly"});
  const std::string who = host_name() + ", process " + std::to_string(holder.pid()) + ", label nightly";
  EXPECT_THAT(use({"wait", "-n", "job"}).err, HasSubstr("still held by " + who + "\n"));
  EXPECT_THAT(use({"wait", "-v", "-w", "0.5", "job"}).err,
              AllOf(HasSubstr("held by " + who + ", waiting"), HasSubstr("still held by " + who + "\n")));
  end(holder);
}

TEST_F(WhoHolds, WhoGivesUpWaitingSaysWhoHasIt) {
  Process holder = holding({"--label", "nightly"});
  const std::string who = host_name() + ", process " + std::to_string(holder.pid()) + ", label nightly";
  EXPECT_THAT(use({"run", "-n", "job", "--", "true"}).err, HasSubstr("somebody else holds it (" + who + ", "));
  EXPECT_THAT(use({"run", "-v", "-w", "2", "job", "--", "true"}).err, HasSubstr("held by " + who + ", waiting"));
  EXPECT_THAT(use({"run", "-w", "2.2", "job", "--", "true"}).err,
              ContainsRegex("held by " + who + "[^(]* \\([^,]*, [0-9.]+ s left\\)\n"));
  EXPECT_THAT(use({"break", "--yes", "job"}).err, HasSubstr("taken from " + who));
  holder.signal(SIGKILL);
  finish(holder);
}

TEST_F(WhoHolds, AHolderThatWasKilledHasNoConnection) {
  Process holder = holding({"--lease", "60"});
  holder.signal(SIGKILL);
  finish(holder);
  EXPECT_TRUE(eventually([&] { return raw_.command("CLIENT", "LIST").text.find(":sh ") == std::string::npos; }));
  EXPECT_THAT(
      use({"inspect", "job"}).out,
      ContainsRegex("\nwho    a Holdfast client without a connection \\(a ticket, --at-least, cut off, or dead\\); the "
                    "lease ends in [0-9.]+ s\nttl "));
  EXPECT_EQ(inspected().at("holder").at("connection"), "none");
}

TEST_F(WhoHolds, RedissonIsShownAsWhatItIs) {
  hold("job");
  EXPECT_THAT(use({"inspect", "job"}).out, HasSubstr("\nwho    a Redisson (or other) client, no name known\nttl "));
  const json::value holder = inspected().at("holder");
  EXPECT_EQ(holder.at("kind"), "redisson");
  EXPECT_EQ(holder.at("connection"), "unknown");
  EXPECT_TRUE(holder.at("host").is_null());
}

TEST_F(WhoHolds, WhatOthersCallThemselvesCannotHarmATerminal) {
  const std::string client = "99999999-2222-4333-8444-555555555555";
  hold("job", 60'000, client + ":1");
  // Escapes in a name of our form: a screen erased, a line begun, text from right to left, bytes that are no text.
  ASSERT_FALSE(raw_.command("CLIENT", "SETNAME", "x:" + client + ":%1B[2Jh:1:a%0Ab%E2%80%AEc%ff").is_error());
  EXPECT_THAT(use({"inspect", "job"}).out,
              HasSubstr("\nwho    \"\\x1b[2Jh\", process 1, label \"a\\nb\\xe2\\x80\\xaec\\xff\"\nfrom   "));
  for (const std::string& out : {use({"inspect", "job"}).out, use({"ls"}).out}) {
    EXPECT_THAT(out, AllOf(Not(HasSubstr("\x1b")), Not(HasSubstr("\xe2\x80\xae"))));
  }
  const json::value holder = inspected().at("holder");
  EXPECT_EQ(holder.at("host").as_string(), "\x1b[2Jh");
  EXPECT_EQ(holder.at("label_base64"), "YQpi4oCuY/8=");
}

TEST_F(WhoHolds, JsonEscapesWhatATerminalWouldObey) {
  const std::string client = "99999999-2222-4333-8444-555555555555";
  hold("job", 60'000, client + ":1");
  // A control sequence of C1, changes of direction, a separator of lines, DEL; and what may be seen.
  const std::string hostile = "a\xc2\x9bm\xd8\x9c\xe2\x80\xae\xe2\x81\xa6\xe2\x80\xa8\x7f\xe2\x82\xac";
  const std::string in_name = "a%C2%9Bm%D8%9C%E2%80%AE%E2%81%A6%E2%80%A8%7F%E2%82%AC";
  ASSERT_FALSE(raw_.command("CLIENT", "SETNAME", "x:" + client + ":h:1:" + in_name).is_error());
  for (const std::string& out : {use({"inspect", "--json", "job"}).out, use({"ls", "--json"}).out}) {
    EXPECT_THAT(out, HasSubstr("\"a\\u009bm\\u061c\\u202e\\u2066\\u2028\\u007f\xe2\x82\xac\""));
  }
  EXPECT_EQ(inspected().at("holder").at("label").as_string(), hostile) << "the same text, once it is read";
}

class WhoMayAsk : public WhoHolds {
 protected:
  WhoMayAsk()
      : WhoHolds({.listen = ServerOptions::Listen::tcp, .users = {"app on >pw ~* &* +@all " + without_list()}}) {
    url_ = server_.url("app", "pw");
  }

 private:
  /// Before Redis 7.0 a subcommand cannot be taken away.
  static std::string without_list() { return server_like_redis(7, 0) ? "-client|list" : "-client +client|setname"; }
};

TEST_F(WhoMayAsk, WithoutPermissionTheRestIsShown) {
  Process holder = holding({});
  const Outcome outcome = use({"inspect", "job"});
  EXPECT_EQ(outcome.status, exited(0));
  EXPECT_EQ(outcome.err, "");
  EXPECT_THAT(outcome.out, HasSubstr("\nwho    a Holdfast client, no name known\nttl "));
  EXPECT_THAT(use({"ls"}).out, HasSubstr("a Holdfast client, no name known\n"));
  EXPECT_EQ(inspected().at("holder").at("connection"), "unknown");
  end(holder);
}

class ToolWithReplica : public CliTest {
 protected:
  ToolWithReplica()
      : CliTest({.listen = ServerOptions::Listen::tcp, .config = {"repl-diskless-sync-delay 0", "repl-timeout 600"}}),
        replica_({.listen = ServerOptions::Listen::tcp, .replica_of = &server_}) {}

  RedisServer replica_;
};

TEST_F(ToolWithReplica, SaysThatItWaitsForAcks) {
  ASSERT_TRUE(eventually([&] { return raw_.replicated(1); }));
  replica_.freeze();
  Process process = start({"run", "-v", "--url", server_.url() + "?acks=1&acks_timeout=100ms", "job", "--", "true"});
  std::optional<std::string> line = process.read_error_line();
  while (line && line->find("waiting: ") == std::string::npos) line = process.read_error_line();
  EXPECT_THAT(line, testing::Optional(HasSubstr("lock \"job\": waiting: ")));
  EXPECT_THAT(line, testing::Optional(HasSubstr("0 of 1")));
  replica_.thaw();
  EXPECT_EQ(finish(process).status, exited(0));
}

}  // namespace
}  // namespace holdfast::test::holder_test
