// SPDX-License-Identifier: Apache-2.0
// `--json`: every result and every failure is one JSON value.
#include <boost/json.hpp>

#include "cli_fixture.hpp"

namespace holdfast::test::json_test {
namespace {

namespace json = boost::json;
using testing::HasSubstr;

/// The text as one value on one line; null, and a failed test, if it is not.
json::value parsed(const std::string& text) {
  boost::system::error_code error;
  json::value value = json::parse(text, error);
  EXPECT_FALSE(error) << text;
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << text;
  return error ? json::value() : value;
}

std::string last_line(const std::string& text) {
  const std::size_t begin = text.rfind('\n', text.size() - 2);
  return begin == std::string::npos ? text : text.substr(begin + 1);
}

class Json : public CliTest {};

TEST_F(Json, LsIsAnArray) {
  EXPECT_EQ(parsed(use({"ls", "--json"}).out), json::array());
  hold("b", 60'000);
  hold("a", 60'000);
  const json::array locks = parsed(use({"ls", "--json"}).out).as_array();
  ASSERT_EQ(locks.size(), 2U);
  EXPECT_EQ(locks[0].at("name"), "a");
  EXPECT_EQ(locks[1].at("name"), "b");
  EXPECT_EQ(locks[1].at("owner").as_string(), kSomebody);
  EXPECT_EQ(locks[1].at("holds"), 1);
  EXPECT_GT(locks[1].at("remaining_ms").as_int64(), 50'000);
}

TEST_F(Json, NamesOfAnyBytesSurvive) {
  const std::string text("tab\t\"quote\" nul\0 käse\n", 24);
  const std::string bytes("\xff\x00\xfe", 3);
  hold(text);
  hold(bytes);
  const json::array locks = parsed(use({"ls", "--json"}).out).as_array();
  ASSERT_EQ(locks.size(), 2U);
  EXPECT_EQ(locks[0].at("name").as_string(), text);
  EXPECT_FALSE(locks[0].as_object().contains("name_base64"));
  EXPECT_EQ(locks[1].at("name"), "\"\\xff\\x00\\xfe\"");
  EXPECT_EQ(locks[1].at("name_base64"), "/wD+");
}

TEST_F(Json, InspectTellsHeldFromFree) {
  Outcome outcome = use({"inspect", "--json", "job"});
  EXPECT_EQ(outcome.status, exited(1));
  json::value value = parsed(outcome.out);
  EXPECT_EQ(value.at("held"), false);
  EXPECT_TRUE(value.at("owner").is_null());
  EXPECT_TRUE(value.at("remaining_ms").is_null());
  EXPECT_EQ(value.at("node").as_string(), server_.socket_path());

  hold("job", 60'000);
  outcome = use({"inspect", "--json", "job"});
  EXPECT_EQ(outcome.status, exited(0));
  value = parsed(outcome.out);
  EXPECT_EQ(value.at("held"), true);
  EXPECT_EQ(value.at("owner").as_string(), kSomebody);
}

TEST_F(Json, WaitTellsHowLongAndForWhom) {
  EXPECT_EQ(parsed(use({"wait", "--json", "job"}).out).at("free"), true);
  hold("job", 60'000);
  const json::value value = parsed(use({"wait", "--json", "-w", "0.5", "job"}).out);
  EXPECT_EQ(value.at("free"), false);
  EXPECT_EQ(value.at("waited_for").as_string(), kSomebody);
  EXPECT_GE(value.at("waited_ms").as_int64(), 500);
}

TEST_F(Json, BreakTellsFromWhom) {
  EXPECT_EQ(parsed(use({"break", "--yes", "--json", "job"}).out).at("broken"), false);
  hold("job", 60'000);
  const json::value value = parsed(use({"break", "--yes", "--json", "job"}).out);
  EXPECT_EQ(value.at("broken"), true);
  EXPECT_EQ(value.at("owner").as_string(), kSomebody);
}

TEST_F(Json, RunReportsToStandardErrorAtTheEnd) {
  const Outcome outcome = use({"run", "--json", "job", "--", "sh", "-c", "echo out; echo err >&2; exit 7"});
  EXPECT_EQ(outcome.status, exited(7));
  EXPECT_EQ(outcome.out, "out\n");
  EXPECT_THAT(outcome.err, HasSubstr("err\n"));
  const json::value report = parsed(last_line(outcome.err));
  EXPECT_EQ(report.at("name"), "job");
  EXPECT_EQ(report.at("names"), json::array({"job"}));
  EXPECT_EQ(report.at("node").as_string(), server_.socket_path());
  EXPECT_EQ(report.at("nodes"), json::array({server_.socket_path()}));
  EXPECT_EQ(report.at("acquired"), true);
  EXPECT_TRUE(report.at("owner").is_string());
  EXPECT_TRUE(report.at("waited_for").is_null());
  EXPECT_EQ(report.at("command").at("exit_code"), 7);
  EXPECT_TRUE(report.at("command").at("signal").is_null());
  EXPECT_EQ(report.at("lost"), false);
  EXPECT_EQ(report.at("release"), "released");
  EXPECT_EQ(report.at("exit_code"), 7);
  EXPECT_FALSE(report.as_object().contains("error"));
}

TEST_F(Json, RunReportsEveryNameAsItWasGiven) {
  const json::value report = parsed(last_line(use({"run", "--json", "b", "k\xff", "--", "true"}).err));
  EXPECT_EQ(report.at("names"), json::array({"b", "\"k\\xff\""}));
  EXPECT_EQ(report.at("name_base64"), "Yiwga/8=");
}

TEST_F(Json, RunReportsToADescriptorThatTheCommandDoesNotGet) {
  const std::string file = folder_.file("status");
  Process process = start_shell("exec 5>'" + file + "'; \"$tool\" run --status-fd 5 job -- " +
                                "sh -c 'kill -9 $$; test -e /proc/$$/fd/5 && echo leaked'");
  const Outcome outcome = finish(process);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.err, "");
  std::ifstream stream(file);
  const std::string text{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  const json::value report = parsed(text);
  EXPECT_EQ(report.at("command").at("signal"), SIGKILL);
  EXPECT_EQ(report.at("exit_code"), 128 + SIGKILL);
}

TEST_F(Json, RunTellsItsOwnExitCodesFromTheCommands) {
  hold("job");
  const json::value busy = parsed(last_line(use({"run", "--json", "-n", "job", "--", "true"}).err));
  EXPECT_EQ(busy.at("acquired"), false);
  EXPECT_TRUE(busy.at("command").is_null());
  EXPECT_EQ(busy.at("waited_for").as_string(), kSomebody);
  EXPECT_EQ(busy.at("error").at("code"), "busy");
  EXPECT_EQ(busy.at("exit_code"), 1);

  const json::value timed_out = parsed(last_line(use({"run", "--json", "-w", "0.1", "job", "--", "true"}).err));
  EXPECT_EQ(timed_out.at("error").at("code"), "timed_out");
  EXPECT_GE(timed_out.at("waited_ms").as_int64(), 100);

  const json::value not_found = parsed(last_line(use({"run", "--json", "free", "--", "no-such-command"}).err));
  EXPECT_EQ(not_found.at("error").at("code"), "not_found");
  EXPECT_EQ(not_found.at("release"), "released");
  EXPECT_EQ(not_found.at("exit_code"), 127);
}

TEST_F(Json, RunReportsALoss) {
  Process process = start({"run", "--json", "--lease", "1", "job", "--", "sh", "-c", "echo started; exec sleep 1000"});
  ASSERT_EQ(process.read_line(), "started");
  raw_.flushall();
  const Outcome outcome = finish(process);
  EXPECT_EQ(outcome.status, exited(75));
  const json::value report = parsed(last_line(outcome.err));
  EXPECT_EQ(report.at("lost"), true);
  EXPECT_EQ(report.at("loss_reason"), "taken");
  EXPECT_EQ(report.at("command").at("signal"), SIGTERM);
  EXPECT_EQ(report.at("error").at("code"), "lost");
}

TEST_F(Json, RunReportsALossThatTheServersSilenceBrings) {
  Process process = start({"run", "--json", "--lease", "2", "job", "--", "sh", "-c", "echo $$; exec sleep 1000"});
  const pid_t command = read_pid(process);
  server_.freeze();
  ASSERT_TRUE(eventually([&] { return !runs(command); }));
  const auto ended = std::chrono::steady_clock::now();
  const Outcome outcome = finish(process);
  // Nobody waits for what cannot come.
  EXPECT_LT(std::chrono::steady_clock::now() - ended, std::chrono::seconds(2));
  server_.thaw();
  EXPECT_EQ(outcome.status, exited(75));
  const json::value report = parsed(last_line(outcome.err));
  EXPECT_EQ(report.at("lost"), true);
  EXPECT_EQ(report.at("loss_reason"), "expired");
  EXPECT_LE(report.at("held_ms").as_int64(), 2000);
  EXPECT_EQ(report.at("release"), "unknown");
  EXPECT_EQ(report.at("error").at("code"), "lost");
}

TEST_F(Json, RunReportsTheEndOfMaxHold) {
  const Outcome outcome = use({"run", "--json", "--max-hold", "1", "job", "--", "sleep", "1000"});
  EXPECT_EQ(outcome.status, exited(75));
  const json::value report = parsed(last_line(outcome.err));
  EXPECT_EQ(report.at("lost"), true);
  EXPECT_EQ(report.at("loss_reason"), "max_hold");
  EXPECT_LE(report.at("held_ms").as_int64(), 1000);
  EXPECT_EQ(report.at("release"), "released");
}

TEST_F(Json, RunReportsWhyOfALossThatShowsAtTheRelease) {
  Process process = start({"run", "--json", "--lease", "300", "job", "--", "sh", "-c", "echo started; read line"});
  ASSERT_EQ(process.read_line(), "started");
  raw_.flushall();
  process.write_line("");
  const Outcome outcome = finish(process);
  EXPECT_EQ(outcome.status, exited(75));
  const json::value report = parsed(last_line(outcome.err));
  EXPECT_EQ(report.at("lost"), true);
  EXPECT_EQ(report.at("loss_reason"), "taken");
  EXPECT_EQ(report.at("release"), "was_lost");
}

TEST_F(Json, ARunWhoseReportCannotBeWrittenFails) {
  for (const std::string line :
       {"\"$tool\" run --status-fd 3 job -- true 3>/dev/full", "\"$tool\" run --json job -- true 2>/dev/full"}) {
    Process process = start_shell(line);
    EXPECT_EQ(finish(process).status, exited(70)) << line;
    EXPECT_FALSE(raw_.exists("job"));
  }
}

TEST_F(Json, FailuresNameCodeKeyAndNode) {
  raw_.command("SET", "job", "x");
  Outcome outcome = use({"inspect", "--json", "job"});
  EXPECT_EQ(outcome.status, exited(69));
  json::value error = parsed(outcome.out).at("error");
  EXPECT_EQ(error.at("code"), "wrong_type");
  EXPECT_EQ(error.at("key"), "job");
  EXPECT_EQ(error.at("node").as_string(), server_.socket_path());
  EXPECT_THAT(std::string(error.at("message").as_string()), HasSubstr("another type"));

  outcome = use({"run", "--json", "job", "--", "true"});
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(parsed(last_line(outcome.err)).at("error").at("code"), "wrong_type");

  outcome = use({"ls", "--json", "--url", "redis://127.0.0.1:1"});
  EXPECT_EQ(outcome.status, exited(69));
  error = parsed(outcome.out).at("error");
  EXPECT_EQ(error.at("code"), "unreachable");
  EXPECT_TRUE(error.at("key").is_null());
}

TEST_F(Json, WrongCommandLinesAreFailuresToo) {
  Outcome outcome = use({"ls", "--json", "--frob"});
  EXPECT_EQ(outcome.status, exited(64));
  EXPECT_EQ(parsed(outcome.out).at("error").at("code"), "usage");
  outcome = use({"run", "--json", "job"});
  EXPECT_EQ(outcome.status, exited(64));
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(parsed(last_line(outcome.err)).at("error").at("code"), "usage");
}

}  // namespace
}  // namespace holdfast::test::json_test
