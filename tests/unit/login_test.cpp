// SPDX-License-Identifier: Apache-2.0
// What a lane says first on a new connection, and what it makes of the answers.
#include "redis/connection/login.hpp"

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <holdfast/error.hpp>

namespace holdfast::redis::login_test {
namespace {

using namespace std::chrono_literals;
using base::Reply;

/// The commands as lines of words.
std::string spoken(const std::vector<base::Command>& commands) {
  std::string out;
  for (const base::Command& command : commands) {
    EXPECT_EQ(command.script, nullptr);
    for (const std::string& word : command.args) out += (word.empty() ? "''" : word) + " ";
    out.back() = '\n';
  }
  return out;
}
std::string spoken(const Config& config) {
  Login login(config, {});
  return spoken(login.first({config.username, config.password}));
}

Config plain() {
  Config config;
  config.client_name = "worker";
  return config;
}

Reply text(std::string value) { return {.kind = Reply::Kind::text, .text = std::move(value)}; }
Reply number(std::int64_t value) { return {.kind = Reply::Kind::integer, .integer = value}; }
Reply error(std::string value) { return {.kind = Reply::Kind::error, .text = std::move(value)}; }
Reply ok() { return text("OK"); }
/// HELLO's answer, as far as it matters: a map, so names and values in turn.
Reply hello(std::int64_t id, std::string mode = "standalone") {
  return {.kind = Reply::Kind::array,
          .elements = {text("server"), text("redis"), text("version"), text("7.0.15"), text("proto"), number(3),
                       text("id"), number(id), text("mode"), text(std::move(mode)), text("role"), text("master"),
                       text("modules"), Reply{.kind = Reply::Kind::array}}};
}

// --- what is said ---

TEST(Login, SaysHelloInTheThirdProtocolWithTheClientsName) { EXPECT_EQ(spoken(plain()), "HELLO 3 SETNAME worker\n"); }

TEST(Login, SaysNoNameIfThereIsNone) {
  Config config = plain();
  config.client_name.clear();
  EXPECT_EQ(spoken(config), "HELLO 3\n");
}

TEST(Login, NamesItsUserAndPassword) {
  Config config = plain();
  config.username = "app";
  config.password = "secret";
  EXPECT_EQ(spoken(config), "HELLO 3 AUTH app secret SETNAME worker\n");
}

TEST(Login, WithAPasswordAloneIsTheDefaultUsers) {
  Config config = plain();
  config.password = "secret";
  EXPECT_EQ(spoken(config), "HELLO 3 AUTH default secret SETNAME worker\n");
}

TEST(Login, WithAUserAloneGivesAnEmptyPassword) {
  Config config = plain();
  config.username = "app";
  EXPECT_EQ(spoken(config), "HELLO 3 AUTH app '' SETNAME worker\n");
}

TEST(Login, ChoosesTheDatabaseUnlessItIsTheFirst) {
  Config config = plain();
  config.database = 7;
  EXPECT_EQ(spoken(config), "HELLO 3 SETNAME worker\nSELECT 7\n");
}

TEST(Login, FindsAndKillsTheEarlierConnectionByItsId) {
  EXPECT_EQ(find_client(41).args, (std::vector<std::string>{"CLIENT", "LIST", "ID", "41"}));
  EXPECT_EQ(kill_client(41).args, (std::vector<std::string>{"CLIENT", "KILL", "ID", "41"}));
}

// --- what is made of the answers ---

TEST(Login, LearnsTheConnectionsClientId) {
  const LoginOutcome outcome = judge_login(plain(), {hello(42)});
  EXPECT_FALSE(outcome.error) << outcome.cause;
  EXPECT_EQ(outcome.client, 42);
  EXPECT_FALSE(outcome.pointless);
}

TEST(Login, RecognisesItsEarlierConnectionByItsName) {
  const Reply listed = text("id=7 addr=127.0.0.1:5000 laddr=127.0.0.1:6379 fd=8 name=worker age=100 idle=3 flags=N\n");
  EXPECT_TRUE(is_client(listed, plain(), 100s));
  for (const char* name : {"work", "worker2", "orker", "fd=8"}) {
    Config other = plain();
    other.client_name = name;
    EXPECT_FALSE(is_client(listed, other, 100s)) << name;
  }
  EXPECT_FALSE(is_client(text(""), plain(), 100s)) << "gone already";
  EXPECT_FALSE(is_client(error("NOPERM this user has no permissions to run the 'client|list' command"), plain(), 100s));
}

/// A server that was restarted has given the id to another lane of this client, which has the same name.
TEST(Login, TakesNoYoungerConnectionOfItsNameForItsEarlierOne) {
  const Reply listed = text("id=7 addr=127.0.0.1:5000 fd=8 name=worker age=3 idle=0 flags=N\n");
  EXPECT_FALSE(is_client(listed, plain(), 10s));
  EXPECT_TRUE(is_client(listed, plain(), 3999ms)) << "whole seconds";
  EXPECT_TRUE(is_client(text("id=7 name=worker age=99000 idle=0\n"), plain(), 100'000s)) << "another clock";
  EXPECT_FALSE(is_client(text("id=7 name=worker age=x idle=0\n"), plain(), 10s));
}

TEST(Login, WithoutANameRecognisesNobody) {
  Config nameless = plain();
  nameless.client_name.clear();
  EXPECT_FALSE(is_client(text("id=7 addr=127.0.0.1:5000 fd=8 name= age=5 idle=3\n"), nameless, 5s));
}

TEST(Login, RecognisesNobodyInAListThatMakesNoSense) {
  for (const Reply& reply : {text("name=worker"), number(7), Reply{}}) EXPECT_FALSE(is_client(reply, plain(), 0s));
}

TEST(Login, RecognisesItsEarlierConnectionInTheShapeOfTheThirdProtocol) {
  // There the list is a verbatim string, and the parser leaves its format in front.
  EXPECT_TRUE(is_client(text("txt:id=7 name=worker age=100 idle=3\n"), plain(), 100s));
}

TEST(Login, KnowsNoClientIdIfTheServerTellsNone) {
  const Reply silent{.kind = Reply::Kind::array, .elements = {text("server"), text("redis")}};
  const LoginOutcome outcome = judge_login(plain(), {silent});
  EXPECT_FALSE(outcome.error);
  EXPECT_EQ(outcome.client, 0);
}

TEST(Login, LearnsWhetherTheServerIsOneOfACluster) {
  EXPECT_FALSE(judge_login(plain(), {hello(9)}).clustered);
  EXPECT_TRUE(judge_login(plain(), {hello(9, "cluster")}).clustered);
}

TEST(Login, IsNotMisledByAValueThatLooksLikeTheName) {
  const Reply odd{.kind = Reply::Kind::array,
                  .elements = {text("id"), number(9), text("server"), text("id"), text("proto"), number(3)}};
  EXPECT_EQ(judge_login(plain(), {odd}).client, 9);
}

TEST(Login, FailsForGoodOnAWrongPassword) {
  const std::string words = "WRONGPASS invalid username-password pair or user is disabled.";
  const LoginOutcome outcome = judge_login(plain(), {error(words)});
  EXPECT_EQ(outcome.error, Errc::denied);
  EXPECT_EQ(outcome.cause, words);
  EXPECT_TRUE(outcome.pointless);
}

TEST(Login, FailsForGoodWhenAPasswordIsMissing) {
  const LoginOutcome outcome = judge_login(plain(), {error("NOAUTH HELLO must be called with the client already ...")});
  EXPECT_EQ(outcome.error, Errc::denied);
  EXPECT_TRUE(outcome.pointless);
}

TEST(Login, FailsButMayBeTriedAgainWhileTheServerIsLoading) {
  const LoginOutcome outcome = judge_login(plain(), {error("LOADING Redis is loading the dataset in memory")});
  EXPECT_EQ(outcome.error, Errc::server_error);
  EXPECT_FALSE(outcome.pointless);
}

TEST(Login, FailsButMayBeTriedAgainWhenTheServerIsFull) {
  EXPECT_FALSE(judge_login(plain(), {error("ERR max number of clients reached")}).pointless);
}

TEST(Login, FailsOnADatabaseThatDoesNotExist) {
  Config config = plain();
  config.database = 99;
  const LoginOutcome outcome = judge_login(config, {hello(42), error("ERR DB index is out of range")});
  EXPECT_EQ(outcome.error, Errc::invalid_argument);
  EXPECT_EQ(outcome.cause,
            "ERR DB index is out of range (its setting databases says how many there are; in a cluster "
            "cluster-databases (Valkey 9))");
  EXPECT_TRUE(outcome.pointless);
}

TEST(Login, SucceedsOnADatabaseThatExists) {
  Config config = plain();
  config.database = 3;
  EXPECT_EQ(judge_login(config, {hello(42), ok(), number(1)}).client, 42);
}

TEST(Login, SaysWhichServerIsNeededIfThisOneIsTooOld) {
  const LoginOutcome outcome =
      judge_login(plain(), {error("ERR unknown command `HELLO`, with args beginning with: `3`, ")});
  EXPECT_EQ(outcome.error, Errc::unsupported_by_server);
  EXPECT_NE(outcome.cause.find("Redis 6 or later is needed"), std::string::npos) << outcome.cause;
  EXPECT_TRUE(outcome.pointless);
}

TEST(Login, FailsOnAnswersThatMakeNoSense) {
  for (const std::vector<Reply>& replies :
       {std::vector<Reply>{}, std::vector<Reply>{ok()}, std::vector<Reply>{Reply{}}}) {
    const LoginOutcome outcome = judge_login(plain(), replies);
    EXPECT_EQ(outcome.error, Errc::unsupported_by_server);
    EXPECT_TRUE(outcome.pointless);
  }
}

TEST(Login, NeverPutsThePasswordInItsWords) {
  // A server without HELLO repeats what it was told, in the words of its version.
  Config config = plain();
  config.username = "app";
  config.password = "secret";
  for (const char* words : {"ERR unknown command `HELLO`, with args beginning with: `3`, `AUTH`, `app`, `secret`, ",
                            "ERR unknown command 'HELLO', with args beginning with: '3' 'AUTH' 'app' 'secret' "}) {
    const LoginOutcome outcome = judge_login(config, {error(words)});
    EXPECT_EQ(outcome.error, Errc::unsupported_by_server);
    EXPECT_EQ(outcome.cause.find("secret"), std::string::npos) << outcome.cause;
    EXPECT_NE(outcome.cause.find("Redis 6 or later is needed"), std::string::npos) << outcome.cause;
  }
}

// --- a server that must be a primary ---

Config one_of_several() {
  Config config = plain();
  config.server = Servers{{{"127.0.0.1"}, {"other"}}};
  return config;
}

Reply hello_of(const std::string& role) {
  Reply reply = hello(42);
  reply.elements.at(11) = text(role);
  return reply;
}
Reply role(const std::string& name) { return {.kind = Reply::Kind::array, .elements = {text(name), number(0)}}; }
const Reply kNoCapa = error("ERR Unknown subcommand or wrong number of arguments for 'capa'. Try CLIENT HELP.");

TEST(Login, AsksForTheRoleWhereTheServerMayBeAnother) {
  EXPECT_EQ(spoken(one_of_several()), "HELLO 3 SETNAME worker\nROLE\nCLIENT CAPA redirect\n");
  Config config = plain();
  config.server = SentinelConfig{{{"s", 26379}}, "main", {}, {}};
  config.database = 2;
  EXPECT_EQ(spoken(config), "HELLO 3 SETNAME worker\nSELECT 2\nROLE\nCLIENT CAPA redirect\n");
}

TEST(Login, TakesAPrimaryAndIgnoresWhatItDoesNotUnderstand) {
  const LoginOutcome outcome = judge_login(one_of_several(), {hello_of("master"), role("master"), kNoCapa});
  EXPECT_FALSE(outcome.error);
  EXPECT_EQ(outcome.client, 42);
  Config config = one_of_several();
  config.database = 2;
  EXPECT_FALSE(judge_login(config, {hello_of("master"), ok(), role("master"), ok()}).error);
}

TEST(Login, FailsOnAReplicaButMayBeTriedAgain) {
  const LoginOutcome outcome = judge_login(one_of_several(), {hello_of("replica"), role("slave"), kNoCapa});
  EXPECT_EQ(outcome.error, Errc::read_only);
  EXPECT_EQ(outcome.cause, "the server is no primary, but calls itself slave");
  EXPECT_FALSE(outcome.pointless);
  EXPECT_EQ(judge_login(one_of_several(), {hello(42), role("sentinel"), kNoCapa}).error, Errc::read_only);
}

TEST(Login, TrustsHelloWhereRoleIsForbidden) {
  const Reply forbidden = error("NOPERM this user has no permissions to run the 'role' command");
  EXPECT_FALSE(judge_login(one_of_several(), {hello_of("master"), forbidden, kNoCapa}).error);
  EXPECT_EQ(judge_login(one_of_several(), {hello_of("replica"), forbidden, kNoCapa}).error, Errc::read_only);
  EXPECT_EQ(judge_login(one_of_several(), {hello_of(""), forbidden, kNoCapa}).error, Errc::read_only);
}

// --- step by step ---

TEST(Login, IsThroughAfterHelloIfThereWasNoEarlierConnection) {
  const Config config = plain();
  Login login(config, {});
  EXPECT_EQ(spoken(login.first({})), "HELLO 3 SETNAME worker\n");
  EXPECT_EQ(spoken(login.next({hello(42, "cluster")})), "");
  EXPECT_FALSE(login.outcome().error);
  EXPECT_EQ(login.outcome().client, 42);
  EXPECT_TRUE(login.outcome().clustered);
}

TEST(Login, EndsTheEarlierConnectionIfThatIsStillOurs) {
  const Config config = plain();
  Login login(config, {.client = 41, .age = 5s});
  EXPECT_EQ(spoken(login.next({hello(42)})), "CLIENT LIST ID 41\n");
  EXPECT_EQ(spoken(login.next({text("id=41 addr=1.2.3.4:5 name=worker age=5")})), "CLIENT KILL ID 41\n");
  EXPECT_EQ(spoken(login.next({number(1)})), "");
  EXPECT_EQ(login.outcome().client, 42);
}

TEST(Login, LeavesAStrangerAloneThatHasTheIdByNow) {
  const Config config = plain();
  Login login(config, {.client = 41, .age = 5s});
  EXPECT_EQ(spoken(login.next({hello(42)})), "CLIENT LIST ID 41\n");
  EXPECT_EQ(spoken(login.next({text("id=41 addr=1.2.3.4:5 name=other age=1")})), "");
  EXPECT_FALSE(login.outcome().error);
}

TEST(Login, LooksForNobodyOnAServerThatCountsAnew) {
  const Config config = plain();
  Login login(config, {.client = 42, .age = 5s});
  EXPECT_EQ(spoken(login.next({hello(42)})), "");
  EXPECT_EQ(login.outcome().client, 42);
}

TEST(Login, LooksForNobodyIfItHasFailed) {
  const Config config = plain();
  Login login(config, {.client = 41, .age = 5s});
  EXPECT_EQ(spoken(login.next({error("WRONGPASS invalid username-password pair or user is disabled.")})), "");
  EXPECT_EQ(login.outcome().error, Errc::denied);
}

// --- RESP2 ---

const Reply kNoHello = error("ERR unknown command 'HELLO', with args beginning with: '3' ");

TEST(Login, GoesOnInTheSecondProtocolWhereTheThirdIsRefused) {
  for (const char* refusal : {"ERR unknown command `HELLO`, with args beginning with: `3`, ",
                              "ERR unsupported command 'HELLO'", "NOPROTO unsupported protocol version"}) {
    const Config config = plain();
    Login login(config, {.client = 41, .age = 5s});
    login.first({});
    EXPECT_EQ(spoken(login.next({error(refusal)})), "PING\nCLIENT ID\nCLIENT SETNAME worker\n");
    EXPECT_EQ(spoken(login.next({text("PONG"), number(42), ok()})), "CLIENT LIST ID 41\n");
    EXPECT_FALSE(login.outcome().error);
    EXPECT_TRUE(login.outcome().resp2);
    EXPECT_FALSE(login.outcome().clustered);
    EXPECT_EQ(login.outcome().client, 42);
  }
}

TEST(Login, GoesOnInTheSecondProtocolWhereHelloIsUnknownToThoseWhoAreNotLoggedIn) {
  const Config config = plain();
  const Reply refusal = error("NOAUTH Authentication required.");
  Login login(config, {});
  login.first({.password = "secret"});
  EXPECT_TRUE(spoken(login.next({refusal})).starts_with("AUTH secret\nPING\n"));
  Login without(config, {});
  without.first({});
  EXPECT_EQ(spoken(without.next({refusal})), "");
  EXPECT_EQ(without.outcome().error, Errc::denied);
}

TEST(Login, SpeaksTheSecondProtocolAtOnceWhereItIsToldTo) {
  Config config = plain();
  config.protocol = 2;
  config.database = 3;
  config.password = "secret";
  EXPECT_EQ(spoken(config), "AUTH secret\nPING\nSELECT 3\nCLIENT ID\nCLIENT SETNAME worker\n");
  config.username = "app";
  EXPECT_TRUE(spoken(config).starts_with("AUTH app secret\nPING\n"));
}

TEST(Login, NeedsNothingInTheSecondProtocolButAnAnswerAndTheDatabase) {
  Config config = plain();
  config.protocol = 2;
  config.database = 3;
  const auto outcome_of = [&](const std::vector<Reply>& replies) {
    Login login(config, {});
    login.first({});
    EXPECT_EQ(spoken(login.next(replies)), "");
    return login.outcome();
  };
  const Reply unknown = error("ERR unknown command");
  EXPECT_FALSE(outcome_of({text("PONG"), ok(), unknown, unknown}).error);
  EXPECT_EQ(outcome_of({unknown, ok(), number(1), ok()}).error, Errc::unsupported_by_server);
  for (const char* refusal : {"BUSY Redis is busy running a script.", "LOADING Redis is loading the dataset in memory",
                              "NOPERM this user has no permissions to run the 'ping' command"}) {
    EXPECT_FALSE(outcome_of({error(refusal), ok(), number(1), ok()}).error) << refusal;
  }
  EXPECT_EQ(outcome_of({text("PONG"), error("ERR DB index is out of range"), number(1), ok()}).error,
            Errc::invalid_argument);
  EXPECT_EQ(outcome_of({error("NOAUTH Authentication required."), ok(), number(1), ok()}).error, Errc::denied);
}

TEST(Login, FindsAPrimaryInTheSecondProtocolToo) {
  const Config config = one_of_several();
  const auto error_of = [&](const Reply& its_role) {
    Login login(config, {});
    login.first({});
    EXPECT_TRUE(spoken(login.next({kNoHello})).starts_with("PING\nCLIENT ID\nROLE\nCLIENT CAPA redirect"));
    login.next({text("PONG"), number(42), its_role, kNoCapa, ok()});
    return login.outcome().error;
  };
  EXPECT_FALSE(error_of(role("master")));
  EXPECT_EQ(error_of(role("slave")), Errc::read_only);
}

}  // namespace
}  // namespace holdfast::redis::login_test
