// SPDX-License-Identifier: Apache-2.0
// `holdfast acquire`, `renew` and `release`: a ticket is as good as the lock, as long as its lease lasts.
#include <boost/json.hpp>

#include "cli_fixture.hpp"

namespace holdfast::test::acquire_test {
namespace {

using testing::AllOf;
using testing::Gt;
using testing::HasSubstr;
using testing::Le;

class Tickets : public CliTest {
 protected:
  Tickets() : CliTest({.listen = ServerOptions::Listen::tcp}) {}

  /// The ticket that is printed.
  std::string acquired(std::vector<std::string> args) {
    args.insert(args.begin(), "acquire");
    const Outcome outcome = use(args);
    EXPECT_EQ(outcome.status, exited(0)) << outcome.err;
    EXPECT_EQ(outcome.err, "");
    EXPECT_TRUE(outcome.out.ends_with("\n"));
    return outcome.out.substr(0, outcome.out.size() - 1);
  }
  long long left_of(const std::string& name) { return raw_.command("PTTL", name).integer; }
};

TEST_F(Tickets, ALockIsTakenRenewedAndGivenBackByThreeUsesOfTheTool) {
  const std::string ticket = acquired({"--lease", "20s", "job"});
  const std::string owner = owner_of("job");
  EXPECT_NE(owner, "");
  EXPECT_THAT(left_of("job"), AllOf(Gt(10'000), Le(20'000)));
  EXPECT_EQ(use({"run", "-n", "job", "--", "true"}).status, exited(1)) << "others find it taken";

  const Outcome renewed = use({"renew", "--lease", "10m", ticket});
  EXPECT_EQ(renewed.status, exited(0)) << renewed.err;
  EXPECT_EQ(renewed.out + renewed.err, "");
  EXPECT_EQ(owner_of("job"), owner);
  EXPECT_THAT(left_of("job"), Gt(500'000));
  EXPECT_EQ(use({"renew", ticket}).status, exited(0));
  EXPECT_THAT(left_of("job"), Le(20'000)) << "the ticket's own";

  EXPECT_EQ(use({"release", ticket}).status, exited(0));
  EXPECT_FALSE(raw_.exists("job"));
}

TEST_F(Tickets, OfALockThatIsLostSaySo) {
  const std::string ticket = acquired({"job"});
  raw_.command("DEL", "job");
  hold("job");
  for (const char* verb : {"renew", "release"}) {
    const Outcome outcome = use({verb, ticket});
    EXPECT_EQ(outcome.status, exited(75));
    EXPECT_THAT(outcome.err, HasSubstr("the lock was lost"));
    EXPECT_EQ(owner_of("job"), kSomebody) << "whoever has it now is left alone";
  }
}

TEST_F(Tickets, AReleaseWakesTheNextOne) {
  const std::string ticket = acquired({"--lease", "1h", "job"});
  Process next = start({"run", "job", "--", "echo", "ran"});
  ASSERT_TRUE(eventually([&] { return raw_.command("PUBSUB", "CHANNELS").elements.size() == 1; }));
  EXPECT_EQ(use({"release", ticket}).status, exited(0));
  EXPECT_EQ(finish(next).out, "ran\n");
}

TEST_F(Tickets, AreOfEveryKindWithOneOwner) {
  for (const std::string kind : {"lock", "fenced", "fair", "simple"}) {
    const std::string name = "of " + kind + " \"odd\" name";
    const std::string ticket = acquired({"--kind", kind, name});
    EXPECT_TRUE(raw_.exists(name));
    EXPECT_EQ(use({"renew", ticket}).status, exited(0)) << kind;
    EXPECT_EQ(use({"release", ticket}).status, exited(0)) << kind;
    EXPECT_FALSE(raw_.exists(name));
  }
}

TEST_F(Tickets, AreOfPermitsToo) {
  const std::string first = acquired({"--max", "2", "job"}), second = acquired({"--max", "2", "job"});
  EXPECT_EQ(use({"acquire", "-n", "--max", "2", "job"}).status, exited(1));
  EXPECT_EQ(use({"renew", "--lease", "10m", first}).status, exited(0));
  EXPECT_EQ(use({"release", first}).status, exited(0));
  EXPECT_EQ(use({"renew", first}).status, exited(75));
  EXPECT_EQ(use({"renew", second}).status, exited(0)) << "each is a hold of its own";
  EXPECT_EQ(raw_.command("GET", "job").text, "1");
  EXPECT_EQ(use({"release", second}).status, exited(0));
  EXPECT_EQ(raw_.command("GET", "job").text, "2");
}

TEST_F(Tickets, InJsonSayWhoAndUntilWhen) {
  const auto now = std::chrono::system_clock::now().time_since_epoch() / std::chrono::milliseconds(1);
  const Outcome outcome = use({"acquire", "--json", "--kind", "fenced", "--lease", "1h", "job"});
  const boost::json::object json = boost::json::parse(outcome.out).as_object();
  EXPECT_EQ(json.at("name"), "job");
  EXPECT_EQ(json.at("kind"), "fenced");
  EXPECT_EQ(json.at("owner"), boost::json::string(owner_of("job")));
  EXPECT_EQ(json.at("token"), 1);
  EXPECT_EQ(json.at("lease_ms"), 3'600'000);
  EXPECT_GT(json.at("expires_ms").as_int64(), now + 3'000'000);
  const std::string ticket(json.at("ticket").as_string());
  const Outcome renewed = use({"renew", "--json", "--lease", "2h", ticket});
  EXPECT_EQ(boost::json::parse(renewed.out).at("lease_ms"), 7'200'000);
  EXPECT_EQ(boost::json::parse(use({"release", "--json", ticket}).out).at("released"), true);
  const Outcome lost = use({"release", "--json", ticket});
  EXPECT_EQ(boost::json::parse(lost.out).at("error").at("code"), "lost");
  EXPECT_EQ(lost.status, exited(75));
}

TEST_F(Tickets, AcquireGivesUpAsRunDoes) {
  hold("job");
  const Outcome busy = use({"acquire", "-n", "-E", "9", "job"});
  EXPECT_EQ(busy.status, exited(9));
  EXPECT_EQ(busy.out, "");
  EXPECT_THAT(busy.err, HasSubstr("somebody else holds it"));
  const Outcome json = use({"acquire", "--json", "-w", "100ms", "job"});
  EXPECT_EQ(json.status, exited(1));
  EXPECT_EQ(boost::json::parse(json.out).at("error").at("code"), "timed_out");
  Process process = start({"acquire", "-v", "job"});
  ASSERT_THAT(process.read_error_line().value_or(""), HasSubstr("waiting"));
  process.signal(SIGTERM);
  EXPECT_EQ(finish(process).status, killed_by(SIGTERM));
  EXPECT_EQ(owner_of("job"), kSomebody);
}

TEST_F(Tickets, AcquireKeepsNothingThatItCouldNotPrint) {
  Process process = start_shell("exec \"$tool\" acquire job >/dev/full");
  EXPECT_EQ(finish(process).status, exited(70));
  EXPECT_FALSE(raw_.exists("job"));
}

TEST_F(Tickets, WithoutAServerThereIsAnEnd) {
  url_ += "?patience=100ms&command_timeout=300ms";
  const std::string ticket = acquired({"job"});
  server_.kill();
  for (const char* verb : {"renew", "release"}) EXPECT_EQ(use({verb, ticket}).status, exited(69)) << verb;
  EXPECT_EQ(use({"acquire", "job"}).status, exited(69));
}

TEST_F(Tickets, WhatIsWrongIsRefused) {
  const std::string ticket = acquired({"job"});
  const std::vector<std::pair<std::vector<std::string>, std::string>> wrong{
      {{"acquire"}, "acquire: the name of the lock is missing"},
      {{"acquire", "a", "b"}, "acquire: one argument too many: b"},
      {{"acquire", "--kind", "read-write", "a"}, "there are no tickets for --kind read-write"},
      {{"acquire", "--kind", "permit", "a"}, "a permit is --max N"},
      {{"acquire", "--kind", "fair", "--max", "2", "a"}, "a permit is --max N"},
      {{"acquire", "--max", "0", "a"}, "a permit is --max N"},
      {{"acquire", "--url", "redis://a", "--url", "redis://b", "a"}, "acquire is for one server"},
      {{"renew"}, "renew: the ticket is missing"},
      {{"renew", "--url", "redis://a", "--url", "redis://b", ticket}, "a ticket is for one server"},
      {{"renew", "job"}, "the text is no ticket of a hold"},
      {{"release", ticket + "0"}, "the text is no ticket of a hold"},
      {{"release", ticket.substr(1)}, "the text is no ticket of a hold"}};
  for (const auto& [args, message] : wrong) {
    const Outcome outcome = use(args);
    EXPECT_EQ(outcome.status, exited(64)) << message;
    EXPECT_THAT(outcome.err, HasSubstr(message));
  }
  EXPECT_EQ(use({"release", ticket}).status, exited(0));
}

}  // namespace
}  // namespace holdfast::test::acquire_test
