// Wrong command lines, wrong servers and their like: one line that says what is wrong, and an exit code of its own.
#include <sys/stat.h>

#include "cli_fixture.hpp"

namespace holdfast::test {
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
      {{"run"}, "the name of the lock is missing"},
      {{"run", "job"}, "the command is missing"},
      {{"run", "job", "--"}, "the command is missing"},
      {{"run", "job", "true"}, "put -- between the name and the command: holdfast run job -- true"},
      {{"run", "a", "b", "true"}, "put -- between the name and the command: holdfast run a -- b"},
      {{"run", "a", "b", "--"}, "the command is missing"},
      {{"run", "--kind", "hash", "job", "--", "true"}, "--kind: hash is none of lock, simple"},
      {{"ls", "--kind", "simple"}, "unknown option --kind"},
      {{"run", "--frob", "job", "--", "true"}, "unknown option --frob"},
      {{"run", "-n", "-w", "1", "job", "--", "true"}, "exclude each other"},
      {{"run", "-w", "soon", "job", "--", "true"}, "--wait: soon is not a number of seconds"},
      {{"run", "-w", "-1", "job", "--", "true"}, "--wait: -1 is not a number of seconds"},
      {{"run", "-w", "nan", "job", "--", "true"}, "--wait: nan is not a number of seconds"},
      {{"run", "-w", "1e300", "job", "--", "true"}, "--wait: 1e300 is not a number of seconds"},
      {{"run", "--lease", "3s", "job", "--", "true"}, "--lease: 3s is not a number of seconds"},
      {{"run", "--lease", "0", "job", "--", "true"}, "a lease of 0 ms"},
      {{"run", "--lease", "0.005", "job", "--", "true"}, "a lease of 5 ms"},
      {{"run", "--max-hold", "0", "job", "--", "true"}, "--max-hold: 0 leaves no time"},
      {{"run", "--kill-after", "16", "job", "--", "true"}, "--kill-after 16.0 s is taken out of the end of the lease"},
      {{"run", "--max-hold", "4", "--kill-after", "3", "job", "--", "true"}, "so it can be at most 2.0 s"},
      {{"run", "--on-lost", "panic", "job", "--", "true"}, "--on-lost: panic is none of term, kill, warn"},
      {{"run", "-E", "256", "job", "--", "true"}, "--conflict-exit-code: 256 is not a number from 0 to 255"},
      {{"run", "-c", "true", "job", "--", "true"}, "either --command or a command after --"},
      {{"run", "--status-fd", "99", "job", "--", "true"}, "--status-fd 99 is not open"},
      {{"run", "", "--", "true"}, "the lock's name is empty"},
      {{"ls", "a", "b"}, "one argument too many: b"},
      {{"inspect"}, "the name of the lock is missing"},
      {{"inspect", ""}, "the lock's name is empty"},
      {{"wait"}, "the name of the lock is missing"},
      {{"wait", "-n", "-w", "1", "job"}, "exclude each other"},
      {{"break"}, "the name of the lock is missing"},
      {{"break", "job"}, "standard input is not a terminal; give --yes"},
      {{"ls", "--url", "http://127.0.0.1"}, "the scheme \"http\" is unknown"},
      {{"ls", "--url-file", "/no/such/file"}, "cannot read the URL from /no/such/file"},
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
                                                                                    {"run", "job", "--help"},
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

TEST_F(Usage, CommonOptionsMayStandBeforeTheVerb) {
  EXPECT_EQ(use({"--json", "--url", url_, "ls"}, {"HOLDFAST_URL=redis://127.0.0.1:1"}).out, "[]\n");
  EXPECT_EQ(use({"-q", "run", "-n", "job", "--", "true"}).status, exited(0));
}

TEST_F(Usage, TheUrlComesFromOptionFileOrEnvironmentInThisOrder) {
  const std::string wrong = "redis://127.0.0.1:1";
  const std::string file = folder_.file("url");
  std::ofstream(file) << url_ << "\n";
  const std::string wrong_file = folder_.file("wrong");
  std::ofstream(wrong_file) << wrong << "\n";
  EXPECT_EQ(use({"ls", "--url", url_, "--url-file", wrong_file}, {"HOLDFAST_URL=" + wrong}).status, exited(0));
  EXPECT_EQ(use({"ls", "--url-file", file}, {"HOLDFAST_URL=" + wrong}).status, exited(0));
  EXPECT_EQ(use({"ls"}, {"HOLDFAST_URL_FILE=" + wrong_file}).status, exited(0));
  EXPECT_EQ(use({"ls"}, {"HOLDFAST_URL=", "HOLDFAST_URL_FILE=" + file}).status, exited(0));
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
    return {
        {"run", "job", "--", "echo", "ran"}, {"ls"}, {"inspect", "job"}, {"wait", "job"}, {"break", "--yes", "job"}};
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

TEST_F(Trouble, ThePasswordComesFromTheEnvironmentOrAFile) {
  const std::string file = folder_.file("password");
  std::ofstream(file) << "open sesame\n";
  EXPECT_EQ(use({"ls"}, {"HOLDFAST_PASSWORD=open sesame"}).status, exited(0));
  EXPECT_EQ(use({"ls"}, {"HOLDFAST_PASSWORD_FILE=" + file}).status, exited(0));
  EXPECT_EQ(use({"ls", "--password-file", file}, {"HOLDFAST_PASSWORD=wrong"}).status, exited(0));
  EXPECT_EQ(use({"ls"}, {"HOLDFAST_URL=" + server_.url("", "open sesame"), "HOLDFAST_PASSWORD=wrong"}).status,
            exited(0));
}

TEST_F(Trouble, APasswordOnTheCommandLineIsAdvisedAgainst) {
  const Outcome outcome = use({"ls", "--url", server_.url("", "open sesame")});
  EXPECT_EQ(outcome.status, exited(0));
  EXPECT_THAT(outcome.err, HasSubstr("can be seen by every user"));
  EXPECT_THAT(outcome.err, Not(HasSubstr("sesame")));
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
}  // namespace holdfast::test
