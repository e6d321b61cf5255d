// SPDX-License-Identifier: Apache-2.0
// What people type wrongly, one row each: the exit code, the words that say what to type instead, and that nothing was
// done on the server.
#include <netinet/in.h>
#include <sys/socket.h>

#include "cli_fixture.hpp"

namespace holdfast::test::wrong_input_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

struct Row {
  std::vector<std::string> args;
  int exit_code = 64;
  std::string says;
};
void PrintTo(const Row& row, std::ostream* out) {
  for (const std::string& arg : row.args) *out << arg << ' ';
}

class WrongInput : public CliTest, public testing::WithParamInterface<Row> {};

TEST_P(WrongInput, IsAnsweredWithWhatToTypeBeforeAnythingIsDone) {
  raw_.command("CONFIG", "RESETSTAT");
  const Outcome outcome = use(GetParam().args);
  EXPECT_EQ(outcome.status, exited(GetParam().exit_code));
  EXPECT_THAT(outcome.err, AllOf(testing::StartsWith("holdfast: "), HasSubstr(GetParam().says)));
  EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(raw_.command("DBSIZE").integer, 0);
  EXPECT_EQ(raw_.calls("eval") + raw_.calls("evalsha") + raw_.calls("set"), 0);
}

INSTANTIATE_TEST_SUITE_P(
    Words, WrongInput,
    testing::Values(
        Row{{"rnu", "job", "--", "true"}, 64, "no such verb: rnu (did you mean run?)"},
        Row{{"inpsect", "job"}, 64, "no such verb: inpsect (did you mean inspect?)"},
        Row{{"aquire", "job"}, 64, "no such verb: aquire (did you mean acquire?)"},
        Row{{"help", "lst"}, 64, "no such verb: lst (did you mean ls?)"},
        Row{{"frobnicate"}, 64, "no such verb: frobnicate (see holdfast help)"},
        Row{{"run", "--lese", "5", "job", "--", "true"}, 64, "unknown option --lese (did you mean --lease?)"},
        Row{{"run", "--lease5", "job", "--", "true"}, 64, "unknown option --lease5 (did you mean --lease?)"},
        Row{{"ls", "--jsno"}, 64, "unknown option --jsno (did you mean --json?)"},
        Row{{"--jsno", "ls"}, 64, "unknown option --jsno (did you mean --json?)"},
        Row{{"--jsno"}, 64, "--jsno before the verb (did you mean --json?) (see"},
        Row{{"ls", "--frobnicate"}, 64, "unknown option --frobnicate\n"}));

INSTANTIATE_TEST_SUITE_P(
    Urls, WrongInput,
    testing::Values(
        Row{{"ls", "--url", "localhost:6379"}, 64, "did you mean redis://localhost:6379?"},
        Row{{"ls", "--url", "redis://cache:99999"}, 64, "the URL \"redis://cache:***\": the port must be a number"},
        Row{{"ls", "--url", "redis://cache:s3cret"}, 64, "the URL \"redis://cache:***\": the port must be a number"},
        Row{{"ls", "--url", "s3cret"}, 64, "a URL starts with a scheme; known are "},
        Row{{"ls", "--url", ""}, 64, "--url: the value is empty"}));

INSTANTIATE_TEST_SUITE_P(
    Kinds, WrongInput,
    testing::Values(
        Row{{"acquire", "--kind", "spin", "job"}, 64, "acquire: there are no tickets for --kind spin"},
        Row{{"acquire", "--kind", "read-write", "job"}, 64, "acquire: there are no tickets for --kind read-write"},
        Row{{"acquire", "--max", "0", "job"}, 64, "acquire: a permit is --max N"},
        Row{{"run", "--max", "2", "a", "b", "--", "true"}, 64, "run: --max is for one name on one server"},
        Row{{"run", "--fair", "a", "b", "--", "true"}, 64, "run: --fair is for one name on one server"},
        Row{{"run", "--kind", "spin", "a", "b", "--", "true"}, 64, "run: --kind spin is for one name on one server"},
        Row{{"run", "--shared", "a", "b", "--", "true"}, 64, "--kind read-write are for one name on one server"},
        Row{{"run", "--fresh", "1h", "a", "b", "--", "true"}, 64, "run: --fresh and --at are for one name"},
        Row{{"run", "--max", "2", "--at", "now", "job", "--", "true"}, 64, "not with --max or --shared"},
        Row{{"run", "a", "", "--", "true"}, 64, "the lock's name is empty"},
        Row{{"run", "--any", "a", "", "--", "true"}, 64, "the lock's name is empty"},
        Row{{"run", "--max", "2", "--status-fd", "99", "job", "--", "true"}, 64, "--status-fd 99 is not open"},
        Row{{"run", "--max", "2", "--kill-after", "20", "job", "--", "true"}, 64, "--kill-after 20.0 s is taken out"},
        Row{{"renew", "ticket"}, 64, "the text is no ticket of a hold"},
        Row{{"release", "ticket"}, 64, "the text is no ticket of a hold"},
        Row{{"run", "--any", "gpu:{0..}", "--", "true"}, 64, "run: gpu:{0..} is no range of names: two numbers"},
        Row{{"run", "--any", "x{0..99999999999999999999}", "--", "true"}, 64, "is no range of names: two numbers"},
        Row{{"run", "--any", "x{a..c}", "--", "true"}, 64, "run: x{a..c} is no range of names: two numbers"}));

INSTANTIATE_TEST_SUITE_P(
    Times, WrongInput,
    testing::Values(Row{{"run", "--at", "2999-01-01T00:00", "job", "--", "true"},
                        64,
                        "--at: 2999-01-01T00:00 is still to come, and the command would run now"},
                    Row{{"run", "--at", "02:00", "job", "--", "true"}, 64, "is neither a minute such as"}));

INSTANTIATE_TEST_SUITE_P(
    Addresses, WrongInput,
    testing::Values(
        Row{{"exporter", "--listen", "no-such-name:9743"},
            64,
            "--listen: no-such-name:9743 is not of the form ADDRESS"},
        Row{{"exporter", "--listen", "127.0.0.1:x"}, 64, "an address is a number, localhost, or * for all"},
        Row{{"exporter", "--listen", "127.0.0.1:70000"}, 64, "is not of the form ADDRESS:PORT"},
        Row{{"exporter", "--listen", "70000"}, 64, "is not of the form ADDRESS:PORT"},
        Row{{"exporter", "--listen", "127.0.0.1:"}, 64, "is not of the form ADDRESS:PORT"},
        Row{{"exporter", "--listen", "192.0.2.1:9743"}, 69, "cannot listen on 192.0.2.1:9743: Cannot assign"}));

class NestedRuns : public CliTest {};

TEST_F(NestedRuns, ARefusedOneHasNotSetHowManyPermitsThereAre) {
  const Outcome outcome = use({"run", "--max", "2", "job", "--", tool(), "run", "--max", "5", "job", "--", "true"});
  EXPECT_EQ(outcome.status, exited(64)) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("it would wait for itself"));
  EXPECT_EQ(raw_.command("GET", "job").text, "2");
}

class ExporterAddress : public CliTest, public testing::WithParamInterface<std::pair<const char*, const char*>> {};
INSTANTIATE_TEST_SUITE_P(Forms, ExporterAddress,
                         testing::Values(std::pair("127.0.0.1:0", "listening on http://127.0.0.1:"),
                                         std::pair("localhost:0", "listening on http://127.0.0.1:"),
                                         std::pair("0", "listening on http://127.0.0.1:"),
                                         std::pair(":0", "/metrics, at every address of this machine"),
                                         std::pair("*:0", "/metrics, at every address of this machine")));

TEST_P(ExporterAddress, IsUnderstoodAsItIsTyped) {
  Process process = start({"exporter", "--listen", GetParam().first});
  const std::optional<std::string> line = process.read_error_line();
  ASSERT_TRUE(line);
  EXPECT_THAT(*line, HasSubstr(GetParam().second));
  process.signal(SIGTERM);
  EXPECT_EQ(process.finish(), exited(0));
}

class NoPassword : public CliTest {
 protected:
  NoPassword() : CliTest({.listen = ServerOptions::Listen::tcp, .password = "open sesame"}) {}
};

TEST_F(NoPassword, IsToldWithWhereOneBelongs) {
  for (const std::vector<std::string>& args :
       {std::vector<std::string>{"ls"}, {"inspect", "job"}, {"run", "-n", "job", "--", "true"}}) {
    const Outcome outcome = use(args, {"HOLDFAST_URL=redis://127.0.0.1:" + std::to_string(server_.port())});
    EXPECT_EQ(outcome.status, exited(69));
    EXPECT_THAT(outcome.err, HasSubstr(" (no password was given: put it into HOLDFAST_PASSWORD, or a file for "
                                       "--password-file)\n"));
  }
}

class NoServer : public CliTest {
 protected:
  /// Whether there is one at the default.
  static bool default_listens() {
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(6379);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const bool listens = ::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    close(socket);
    return listens;
  }
};

TEST_F(NoServer, WasGivenAndNoneListensIsSaidAtOnce) {
  if (default_listens()) GTEST_SKIP() << "there is a server at the default port";
  Process process = start({"run", "job", "--", "true"}, {"HOLDFAST_URL", "HOLDFAST_ETC=" + folder_.path().string()});
  EXPECT_EQ(process.read_error_line(),
            "holdfast: no server was given: redis://127.0.0.1:6379 is assumed, and nothing listens there; --url, "
            "HOLDFAST_URL or /etc/holdfast/url names another");
  process.signal(SIGTERM);
  process.finish();
}

class LeftBehind : public CliTest {};

TEST_F(LeftBehind, ProcessesOfTheCommandAreNotEndedWithoutAWord) {
  const Outcome outcome = use({"run", "job", "--", "sh", "-c", "sleep 1000 & echo started"});
  EXPECT_EQ(outcome.status, exited(0));
  EXPECT_EQ(outcome.err, "holdfast: the command left processes behind; sending them SIGTERM\n");
  EXPECT_EQ(use({"run", "-q", "job", "--", "sh", "-c", "sleep 1000 & echo started"}).err, "");
}

class Ticketed : public CliTest {};

TEST_F(Ticketed, AHealthyHoldWithoutAConnectionIsNotCalledDead) {
  const auto shown = [&] { return use({"inspect", "job"}).out; };
  const std::string what = "\nwho    a Holdfast client without a connection (a ticket, --at-least, cut off, or dead); ";
  const std::string ticket = use({"acquire", "--lease", "1h", "job"}).out;
  EXPECT_THAT(shown(), AllOf(HasSubstr(what + "the lease ends in "), Not(HasSubstr("it may be dead"))));
  EXPECT_EQ(use({"release", ticket.substr(0, ticket.size() - 1)}).status, exited(0));
  EXPECT_EQ(use({"run", "--at-least", "1h", "job", "--", "true"}).status, exited(0));
  EXPECT_THAT(shown(), HasSubstr(what + "the lease ends in "));
}

/// What is there when nobody says which kind it is.
struct Kind {
  const char* name;
  std::vector<std::vector<std::string>> commands;
  std::string owner;
};
void PrintTo(const Kind& kind, std::ostream* out) { *out << kind.name; }

class FoundKind : public CliTest, public testing::WithParamInterface<Kind> {
 protected:
  FoundKind() {
    for (const std::vector<std::string>& command : GetParam().commands) raw_.send(command);
  }
};
const std::string kId = "ABCDEFGHIJKLMNOP";  // of a permit, and as it is shown
const std::string kPermit = "4142434445464748494a4b4c4d4e4f50";
INSTANTIATE_TEST_SUITE_P(
    Kinds, FoundKind,
    testing::Values(
        Kind{"permit", {{"SET", "job", "0"}, {"ZADD", "{job}:timeout", "9223372036854775807", kId}}, kPermit},
        Kind{"simple", {{"SET", "job", "a token", "PX", "3600000"}}, "a token"},
        Kind{"read-write",
             {{"HSET", "job", "mode", "write", kSomebody + ":write", "1"}, {"PEXPIRE", "job", "3600000"}},
             kSomebody}));

TEST_P(FoundKind, IsShownByInspectWithoutBeingNamed) {
  const Outcome outcome = use({"inspect", "job"});
  EXPECT_EQ(outcome.status, exited(0)) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("name   job\nkind   " + std::string(GetParam().name)));
  EXPECT_THAT(outcome.out, HasSubstr("owner  " + GetParam().owner + "\n"));
  EXPECT_EQ(use({"inspect", "-q", "job"}).status, exited(0));
  EXPECT_THAT(use({"inspect", "--json", "job"}).out, HasSubstr("\"kind\":\"" + std::string(GetParam().name) + "\""));
  EXPECT_EQ(use({"inspect", "--kind", "lock", "job"}).status, exited(69)) << "that is what was asked";
}

class UnknownKind : public CliTest {};

TEST_F(UnknownKind, OfANumberIsLeftToTheUser) {
  raw_.command("SET", "job", "3");
  const Outcome outcome = use({"inspect", "job"});
  EXPECT_EQ(outcome.status, exited(69));
  EXPECT_THAT(outcome.err, HasSubstr(" (--kind simple, permit, semaphore or latch; run takes a permit with --max)\n"));
}

TEST_F(UnknownKind, OfAStringThatMayBeAnythingIsNotShown) {
  raw_.command("SET", "job", "precious");
  const Outcome outcome = use({"inspect", "job"});
  EXPECT_EQ(outcome.status, exited(69));
  EXPECT_THAT(outcome.out + outcome.err, Not(HasSubstr("precious")));
}

}  // namespace
}  // namespace holdfast::test::wrong_input_test
