// SPDX-License-Identifier: Apache-2.0
// Wrong command lines, wrong servers and their like: one line that says what is wrong, and an exit code of its own.
#include <fstream>
#include <iterator>
#include <sys/stat.h>

#include "cli_fixture.hpp"
#include "support/paths.hpp"

namespace holdfast::test::usage_test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

/// One line, by the tool.
MATCHER(IsOneLine, "is one line that begins with the tool's name") {
  return arg.rfind("holdfast: ", 0) == 0 && std::count(arg.begin(), arg.end(), '\n') == 1 && arg.back() == '\n';
}

class Usage : public CliTest {};

struct WrongLine {
  std::vector<std::string> args;
  std::string says;
};

TEST_F(Usage, WrongCommandLinesAreRefusedBeforeAnythingIsSent) {
  const std::vector<WrongLine> lines{
      {{"frobnicate"}, "no such verb: frobnicate"},
      {{"rredis://u:secret://redis://a@b"}, "no such verb: rredis://*** (see holdfast help)"},
      {{"-V"}, "unknown option -V before the verb (see holdfast help)"},
      {{"--foo"}, "unknown option --foo before the verb (see holdfast help)"},
      {{"-q", "--foo=bar"}, "unknown option --foo before the verb (see holdfast help)"},
      {{"run"}, "the name of the lock is missing"},
      {{"run", "job"}, "the command is missing"},
      {{"run", "job", "--"}, "the command is missing"},
      {{"run", "job", "true"}, "put -- between the name and the command: holdfast run job -- true"},
      {{"run", "a", "b", "true"}, "put -- between the name and the command: holdfast run a -- b"},
      {{"run", "a", "b", "--"}, "the command is missing"},
      {{"run", "--kind", "hash", "job", "--", "true"}, "--kind: hash is not one of lock, fenced, fair, simple"},
      {{"ls", "--owner", "simple"}, "unknown option --owner"},
      {{"run", "--frob", "job", "--", "true"}, "unknown option --frob"},
      {{"run", "-n", "-w", "1", "job", "--", "true"}, "exclude each other"},
      {{"run", "-w", "soon", "job", "--", "true"}, "--wait: soon is neither a number of seconds nor a number with its"},
      {{"run", "-w", "-1", "job", "--", "true"}, "--wait: -1 is neither a number of seconds nor"},
      {{"run", "-w", "nan", "job", "--", "true"}, "--wait: nan is neither a number of seconds nor"},
      {{"run", "-w", "3 s", "job", "--", "true"}, "--wait: 3 s is neither"},
      {{"run", "-w", "1e300", "job", "--", "true"}, "--wait: 1e300 is out of range: from 0 ms to 10 years (3650d)"},
      {{"run", "--wait", "4e8", "job", "--", "true"}, "--wait: 4e8 is out of range: from 0 ms to 10 years (3650d)"},
      {{"wait", "-w", "4000d", "job"}, "--wait: 4000d is out of range"},
      {{"run", "--lease", "1e9", "job", "--", "true"}, "--lease: 1e9 is out of range: from 10 ms to 10 years (3650d)"},
      {{"run", "--lease", "0", "job", "--", "true"}, "--lease: 0 is out of range: from 10 ms"},
      {{"run", "--lease", "5ms", "job", "--", "true"}, "--lease: 5ms is out of range: from 10 ms"},
      {{"run", "--at-least", "0", "job", "--", "true"}, "--at-least: 0 is out of range: from 1 ms"},
      {{"run", "--max-hold", "0", "job", "--", "true"}, "--max-hold: 0 is out of range: from 1 ms"},
      {{"run", "--kill-after", "16s", "job", "--", "true"}, "--kill-after 16.0 s is taken out of the end of the lease"},
      {{"run", "--max-hold", "4", "--kill-after", "3", "job", "--", "true"}, "so it can be at most 2.0 s"},
      {{"run", "--on-lost", "panic", "job", "--", "true"}, "--on-lost: panic is not one of term, kill, warn"},
      {{"run", "-E", "256", "job", "--", "true"}, "--conflict-exit-code: 256 is not a number from 0 to 255"},
      {{"run", "-c", "true", "job", "--", "true"}, "either --command or a command after --"},
      {{"run", "--status-fd", "99", "job", "--", "true"}, "--status-fd 99 is not open"},
      {{"run", "", "--", "true"}, "the lock's name is empty"},
      {{"ls", "a", "b"}, "one argument too many: b"},
      {{"doctor", "a"}, "doctor: one argument too many: a"},
      {{"inspect"}, "the name of the lock is missing"},
      {{"inspect", ""}, "the lock's name is empty"},
      {{"wait"}, "the name of the lock is missing"},
      {{"wait", "-n", "-w", "1", "job"}, "exclude each other"},
      {{"break"}, "the name of the lock is missing"},
      {{"break", "job"}, "standard input is not a terminal; give --yes"},
      {{"ls", "--url", "http://127.0.0.1"}, "the scheme \"http\" is unknown"},
      {{"ls", "--url-file", "/no/such/file"}, "cannot read the URL from /no/such/file: No such file or directory"},
      {{"ls", "--password-file", "/no/such/file"}, "cannot read the password from /no/such/file"},
  };
  raw_.command("CONFIG", "RESETSTAT");
  for (const WrongLine& line : lines) {
    const Outcome outcome = use(line.args);
    EXPECT_EQ(outcome.status, exited(64)) << line.says;
    EXPECT_THAT(outcome.err, HasSubstr(line.says));
    EXPECT_THAT(outcome.err, IsOneLine());
    EXPECT_THAT(outcome.out, IsEmpty());
  }
  EXPECT_EQ(raw_.command("DBSIZE").integer, 0);
  EXPECT_EQ(raw_.calls("eval") + raw_.calls("evalsha"), 0);
}

TEST_F(Usage, WithoutAVerbTheToolExplainsItself) {
  const Outcome outcome = use({});
  EXPECT_EQ(outcome.status, exited(64));
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, HasSubstr("holdfast run NAME -- COMMAND..."));
}

TEST_F(Usage, EveryHelpTextIsOnStandardOutputAndFitsAScreen) {
  for (const std::vector<std::string>& args : std::vector<std::vector<std::string>>{{"--help"},
                                                                                    {"-h"},
                                                                                    {"run", "--help"},
                                                                                    {"ls", "-h"},
                                                                                    {"inspect", "--help"},
                                                                                    {"wait", "--help"},
                                                                                    {"break", "--help"},
                                                                                    {"doctor", "--help"},
                                                                                    {"exporter", "--help"},
                                                                                    {"top", "--help"},
                                                                                    {"watch", "--help"},
                                                                                    {"run", "job", "--help"},
                                                                                    {"help"},
                                                                                    {"help", "run"},
                                                                                    {"--json", "run", "-h"}}) {
    const Outcome outcome = use(args);
    EXPECT_EQ(outcome.status, exited(0));
    EXPECT_EQ(outcome.err, "");
    EXPECT_THAT(outcome.out, HasSubstr("holdfast"));
    EXPECT_THAT(outcome.out, HasSubstr("--url"));
    EXPECT_THAT(outcome.out, HasSubstr("Examples"));
    std::istringstream lines(outcome.out);
    int count = 0;
    for (std::string line; std::getline(lines, line); ++count) EXPECT_LE(line.size(), 120U) << line;
    EXPECT_LE(count, 60);
  }
}

TEST_F(Usage, HelpIsAVerbToo) {
  EXPECT_EQ(use({"help"}).out, use({"--help"}).out);
  for (const char* verb : {"run", "elect", "acquire", "renew", "release", "ls", "inspect", "wait", "break", "doctor"}) {
    EXPECT_EQ(use({"help", verb}).out, use({verb, "--help"}).out);
  }
  EXPECT_THAT(use({"help", "frob"}).err, HasSubstr("no such verb: frob"));
  EXPECT_EQ(use({"help", "frob"}).status, exited(64));
}

TEST_F(Usage, TheHelpOfAVerbNamesEveryOptionAndExitCode) {
  const std::string help = use({"run", "--help"}).out;
  for (const char* word : {"-n, --nonblock",
                           "-w, --wait",
                           "-E, --conflict-exit-code",
                           "-c, --command",
                           "--kind",
                           "--lease",
                           "--max-hold",
                           "--on-lost",
                           "--kill-after",
                           "--status-fd",
                           "--url",
                           "--url-file",
                           "--password-file",
                           "--password-command",
                           "--json",
                           "-q, --quiet",
                           "-v, --verbose",
                           "-h, --help",
                           "128+N",
                           "64 ",
                           "69 ",
                           "70 ",
                           "75 ",
                           "126 ",
                           "127 "}) {
    EXPECT_THAT(help, HasSubstr(word));
  }
  EXPECT_THAT(use({"break", "--help"}).out, HasSubstr("-y, --yes"));
  EXPECT_THAT(use({"wait", "--help"}).out, HasSubstr("-w, --wait"));
}

TEST_F(Usage, TheVersionIsOneLine) { EXPECT_THAT(use({"--version"}).out, testing::MatchesRegex("holdfast [0-9.]+\n")); }

TEST_F(Usage, LicencesAreTheFileOfTheSources) {
  std::ifstream file(source_path("COPYRIGHT"));
  EXPECT_EQ(use({"--licences"}).out, std::string(std::istreambuf_iterator<char>(file), {}));
}

TEST_F(Usage, CommonOptionsMayStandBeforeTheVerb) {
  EXPECT_EQ(use({"--json", "--url", url_, "ls"}, {"HOLDFAST_URL=redis://127.0.0.1:1"}).out, "[]\n");
  EXPECT_EQ(use({"-q", "run", "-n", "job", "--", "true"}).status, exited(0));
}

TEST_F(Usage, NoOptionTakesAnEmptyValueOrTheNextArgumentInItsPlace) {
  raw_.command("CONFIG", "RESETSTAT");
  const std::vector<std::pair<std::string, std::string>> options{
      {"-w", "--wait"},          {"-E", "--conflict-exit-code"},
      {"-c", "--command"},       {"", "--kind"},
      {"", "--lease"},           {"", "--max-hold"},
      {"", "--on-lost"},         {"", "--kill-after"},
      {"", "--status-fd"},       {"", "--url"},
      {"", "--url-file"},        {"", "--password-file"},
      {"", "--password-command"}};
  for (const auto& [letter, name] : options) {
    std::vector<std::vector<std::string>> lines{{"run", name + "=", "job", "--", "true"},
                                                {"run", name, "", "job", "--", "true"}};
    if (!letter.empty()) lines.push_back({"run", letter, "", "job", "--", "true"});
    for (const std::vector<std::string>& line : lines) {
      const Outcome outcome = use(line);
      EXPECT_EQ(outcome.status, exited(64)) << name;
      EXPECT_EQ(outcome.err, "holdfast: " + name + ": the value is empty\n");
    }
    EXPECT_EQ(use({"run", "job", name}).err, "holdfast: " + name + ": the value is missing\n");
  }
  EXPECT_EQ(use({"break", "job", "-y", "--owner="}).err, "holdfast: --owner: the value is empty\n");
  EXPECT_EQ(use({"ls", "--json="}).err, "holdfast: --json takes no value\n");
  EXPECT_EQ(use({"ls", "--json=true"}).err, "holdfast: --json takes no value\n");
  EXPECT_EQ(raw_.calls("eval") + raw_.calls("evalsha"), 0);
}

TEST_F(Usage, OfAnOptionGivenTwiceTheLastCounts) {
  hold("job");
  EXPECT_EQ(use({"run", "-n", "-E", "7", "-E", "9", "job", "--", "true"}).status, exited(9));
}

TEST_F(Usage, DurationsHaveUnits) {
  hold("job");
  for (const char* wait : {"400ms", "0.4s", "0.4", "0.007m", "0s"}) {
    EXPECT_EQ(use({"wait", "-w", wait, "job"}).status, exited(1)) << wait;
    EXPECT_EQ(use({"run", "-w", wait, "--lease", "1h", "--max-hold", "1d", "--kill-after", "1.5m", "job", "--", "true"})
                  .status,
              exited(1))
        << wait;
  }
}

TEST_F(Usage, AUnitThatIsTakenForANameIsPointedOut) {
  const std::string hint =
      "minutes is taken for the name of a lock; a duration has its unit right behind it, such as 5m";
  for (const char* option : {"-w", "--lease", "--max-hold"}) {
    const Outcome outcome = use({"run", option, "5", "minutes", "job", "--", "true"});
    EXPECT_EQ(outcome.status, exited(0)) << "it may be meant";
    EXPECT_EQ(outcome.err, "holdfast: " + hint + "\n") << option;
  }
  EXPECT_THAT(use({"wait", "--wait=5", "minutes"}).err, HasSubstr(hint));
  EXPECT_EQ(use({"run", "-w", "5", "job", "minutes", "--", "true"}).err, "");
  EXPECT_EQ(use({"run", "minutes", "--", "true"}).err, "");
  EXPECT_EQ(use({"run", "-w", "5m", "minutes", "--", "true"}).err, "");
}

TEST_F(Usage, AFullDiskIsNoSuccess) {
  Process process = start_shell("exec \"$tool\" ls >/dev/full");
  const Outcome outcome = finish(process);
  EXPECT_EQ(outcome.status, exited(70));
  EXPECT_THAT(outcome.err, HasSubstr("No space left on device"));
}

class Trouble : public CliTest {
 protected:
  Trouble() : CliTest({.listen = ServerOptions::Listen::tcp, .password = "open sesame"}) {}

  static std::vector<std::vector<std::string>> every_verb() {
    return {{"run", "-n", "job", "--", "echo", "ran"},
            {"ls"},
            {"inspect", "job"},
            {"wait", "-n", "job"},
            {"break", "--yes", "job"}};
  }
};

TEST_F(Trouble, AWrongPasswordIsToldAndNotShown) {
  for (const auto& args : every_verb()) {
    for (const Outcome& outcome : {use(args, {"HOLDFAST_PASSWORD=wrong-secret"}),
                                   use(args, {"HOLDFAST_URL=" + server_.url("", "wrong-secret")})}) {
      EXPECT_EQ(outcome.status, exited(69)) << args[0];
      EXPECT_THAT(outcome.err, IsOneLine());
      EXPECT_THAT(outcome.err, HasSubstr("the server refuses access"));
      EXPECT_THAT(outcome.err, HasSubstr("127.0.0.1:" + std::to_string(server_.port())));
      EXPECT_THAT(outcome.err + outcome.out, Not(HasSubstr("wrong-secret")));
      EXPECT_THAT(outcome.out, IsEmpty());
    }
  }
}

TEST_F(Trouble, AServerThatIsDownIsToldByEveryVerb) {
  server_.stop();
  for (const auto& args : every_verb()) {
    const Outcome outcome = use(args);
    EXPECT_EQ(outcome.status, exited(69)) << args[0];
    EXPECT_THAT(outcome.err, IsOneLine());
    EXPECT_THAT(outcome.err, HasSubstr("cannot reach the server: Connection refused"));
    EXPECT_THAT(outcome.err, HasSubstr("127.0.0.1:" + std::to_string(server_.port())));
    EXPECT_THAT(outcome.out, IsEmpty());
  }
}

class WrongType : public CliTest {};

TEST_F(WrongType, AKeyOfAnotherTypeIsLeftUntouchedByEveryVerb) {
  raw_.command("SET", "job", "precious");
  for (const std::vector<std::string>& args : std::vector<std::vector<std::string>>{
           {"run", "job", "--", "echo", "ran"}, {"inspect", "job"}, {"wait", "job"}, {"break", "--yes", "job"}}) {
    const Outcome outcome = use(args);
    EXPECT_EQ(outcome.status, exited(69)) << args[0];
    EXPECT_THAT(outcome.err, IsOneLine());
    EXPECT_THAT(outcome.err, StartsWith("holdfast: lock \"job\" on " + server_.socket_path()));
    EXPECT_THAT(outcome.err, HasSubstr("a key of another type has this name"));
    EXPECT_THAT(outcome.out, IsEmpty());
  }
  EXPECT_EQ(raw_.command("GET", "job").text, "precious");
}

}  // namespace
}  // namespace holdfast::test::usage_test
