// SPDX-License-Identifier: Apache-2.0
// `holdfast top`: on a terminal, in a pipe, and as JSON.
#include <array>
#include <map>
#include <sys/wait.h>
#include <thread>

#include <boost/json.hpp>

#include "cli_fixture.hpp"
#include "support/terminals.hpp"

namespace holdfast::test::top_test {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kEnter = "\x1b[?1049h";
constexpr const char* kLeave = "\x1b[?7h\x1b[?25h\x1b[?1049l";

class Top : public CliTest {
 protected:
  Process start_top(std::vector<std::string> args) const {
    args.insert(args.begin(), {"top", "-n", "100ms"});
    return start(std::move(args));
  }
  /// The next look, as JSON.
  static boost::json::object next_look(Process& process) {
    const std::optional<std::string> line = process.read_line();
    EXPECT_TRUE(line) << process.errors();
    return line ? boost::json::parse(*line).as_object() : boost::json::object{};
  }
  /// The next look of which this is true.
  static boost::json::object look_where(Process& process, const std::function<bool(const boost::json::object&)>& is) {
    boost::json::object look;
    EXPECT_TRUE(eventually([&] { return is(look = next_look(process)); }));
    return look;
  }
  static const boost::json::object& lock(const boost::json::object& look, std::size_t at = 0) {
    return look.at("locks").at(at).as_object();
  }
  static std::size_t locks(const boost::json::object& look) {
    return look.contains("locks") ? look.at("locks").as_array().size() : 0;
  }
  static void end(Process& process) {
    process.signal(SIGTERM);
    EXPECT_EQ(process.finish(), exited(0));
  }
};

TEST_F(Top, AsJsonSaysOneObjectForEachLook) {
  hold("orders");
  hold("invoices", 60'000);
  Process process = start_top({"--json"});
  const boost::json::object first = next_look(process);
  ASSERT_EQ(locks(first), 2U);
  EXPECT_EQ(lock(first).at("name"), "invoices");
  EXPECT_EQ(lock(first).at("owner").as_string(), kSomebody);
  EXPECT_EQ(lock(first).at("kind"), "lock");
  EXPECT_EQ(lock(first).at("held_longer"), true);
  EXPECT_TRUE(first.at("servers").at(0).at("up").as_bool());
  EXPECT_GT(next_look(process).at("at_ms").as_int64(), first.at("at_ms").as_int64());
  hold("later");
  const boost::json::object with_it = look_where(process, [](const auto& look) { return locks(look) == 3; });
  for (std::size_t i = 0; i < 3; ++i) {
    if (lock(with_it, i).at("name") == "later") {
      EXPECT_EQ(lock(with_it, i).at("held_longer"), false);
    }
  }
  raw_.command("DEL", "later");
  look_where(process, [](const auto& look) { return locks(look) == 2; });
  end(process);
}

TEST_F(Top, CountsFromTheFirstLookAtAHolder) {
  hold("orders");
  Process process = start_top({"--json", "orders"});
  look_where(process, [](const auto& look) { return locks(look) == 1 && lock(look).at("held_ms").as_int64() >= 200; });
  hold("orders:other");
  raw_.command("DEL", "orders");
  hold("orders", 60'000, "11111111-2222-4333-8444-555555555555:7");
  const boost::json::object look = look_where(process, [](const auto& it) {
    return locks(it) == 1 && std::string_view(lock(it).at("owner").as_string()).starts_with("11111111");
  });
  EXPECT_LT(lock(look).at("held_ms").as_int64(), 200);
  EXPECT_EQ(lock(look).at("held_longer"), false);
  end(process);
}

TEST_F(Top, ShowsWhoHoldsAndWhoWaits) {
  Process holder = start({"run", "--label", "report", "orders", "--", "sleep", "1000"});
  ASSERT_TRUE(eventually([&] { return raw_.exists("orders"); }));
  Process waiter = start({"run", "orders", "--", "true"});
  Process process = start_top({"--json"});
  const boost::json::object look = look_where(process, [](const auto& it) {
    return locks(it) == 1 && !lock(it).at("listeners").is_null() && lock(it).at("listeners").as_int64() == 1;
  });
  EXPECT_EQ(lock(look).at("holder").at("label"), "report");
  end(process);
  waiter.signal(SIGTERM);
  waiter.finish();
  holder.signal(SIGTERM);
  holder.finish();
}

TEST_F(Top, ShowsTheQueueOfAFairLock) {
  Process holder = start({"run", "--fair", "orders", "--", "sleep", "1000"});
  ASSERT_TRUE(eventually([&] { return raw_.exists("orders"); }));
  Process waiter = start({"run", "--fair", "orders", "--", "true"});
  Process process = start_top({"--json"});
  look_where(process, [](const auto& it) {
    return locks(it) == 1 && lock(it).at("kind") == "fair" && lock(it).at("queued").as_int64() == 1;
  });
  end(process);
  waiter.signal(SIGTERM);
  waiter.finish();
  holder.signal(SIGTERM);
  holder.finish();
}

TEST_F(Top, ShowsEveryKind) {
  hold("plain");
  raw_.command("SET", "cache", "text", "PX", 600'000);
  std::vector<Process> runs;
  for (const std::vector<std::string>& options : {std::vector<std::string>{"--shared", "table"},
                                                  {"--shared", "table"},
                                                  {"--max", "3", "gpus"},
                                                  {"--kind", "simple", "token"}}) {
    std::vector<std::string> args{"run", "--label", "it"};
    args.insert(args.end(), options.begin(), options.end());
    args.insert(args.end(), {"--", "sh", "-c", "echo started; read line"});
    runs.push_back(start(args));
    EXPECT_EQ(runs.back().read_line(), "started") << runs.back().errors();
  }
  Process plain = start_top({"--json"});
  EXPECT_EQ(locks(next_look(plain)), 3U) << "those that have a type of their own";
  end(plain);
  Process all = start_top({"--json", "--kind", "all"});
  const boost::json::object look = next_look(all);
  end(all);
  std::map<std::string, std::string> kinds;
  for (std::size_t i = 0; i < locks(look); ++i) {
    kinds[std::string(lock(look, i).at("name").as_string())] = lock(look, i).at("kind").as_string();
  }
  EXPECT_EQ(kinds, (std::map<std::string, std::string>{
                       {"plain", "lock"}, {"table", "read-write"}, {"gpus", "permit"}, {"token", "simple"}}));
  Process lines = start_top({"--kind", "permit,read-write"});
  EXPECT_THAT(lines.read_line().value_or(""), HasSubstr("KIND"));
  EXPECT_THAT(
      lines.read_line().value_or("") + lines.read_line().value_or(""),
      AllOf(ContainsRegex("gpus +permit .* 1 held, 2 free"), ContainsRegex("table +read-write .* and 1 other")));
  end(lines);
  for (Process& each : runs) {
    each.signal(SIGTERM);
    each.finish();
  }
}

TEST_F(Top, GoesOnWhileAServerIsDown) {
  RedisServer other;
  hold("orders");
  Process process = start_top({"--json", "--url", server_.url(), "--url", other.url()});
  look_where(process, [](const auto& look) { return look.at("servers").at(1).at("up").as_bool(); });
  other.stop();
  const boost::json::object look =
      look_where(process, [](const auto& it) { return !it.at("servers").at(1).at("up").as_bool(); });
  EXPECT_FALSE(look.at("servers").at(1).at("error").as_string().empty());
  EXPECT_EQ(locks(look), 1U);
  end(process);
}

/// A server that accepts and is silent.
TEST_F(Top, GoesOnWhileAServerHangs) {
  RedisServer other;
  hold("orders");
  Process process = start_top({"--json", "--url", server_.url(), "--url", other.url()});
  look_where(process, [](const auto& look) { return look.at("servers").at(1).at("up").as_bool(); });
  other.freeze();
  const auto begun = std::chrono::steady_clock::now();
  for (int i = 0; i < 4; ++i) EXPECT_EQ(locks(next_look(process)), 1U);
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::milliseconds(2500))
      << "the limit of its command is 3 s";
  end(process);  // at once, too
}

TEST_F(Top, InAPipePrintsTableAfterTable) {
  hold("orders");
  Process process = start_top({});
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(process.read_line(),
                testing::Optional(ContainsRegex("^NAME +KIND +HELD FOR +TTL +WAITERS +QUEUE +HOLDER")));
    EXPECT_THAT(process.read_line(), testing::Optional(ContainsRegex("^orders +lock +> 0 s +")));
    EXPECT_EQ(process.read_line(), "");
  }
  end(process);
  EXPECT_THAT(process.output(), Not(HasSubstr("\x1b")));
}

TEST_F(Top, EndsWhenNobodyReads) {
  Process process =
      start_shell("{ \"$tool\" top -n 100ms --url " + server_.url() + "; echo code=$? >&2; } | head -n 1");
  EXPECT_EQ(finish(process).err, "code=0\n");
}

TEST_F(Top, RefusesWhatItDoesNotUnderstand) {
  EXPECT_EQ(use({"top", "-n", "1ms"}).status, exited(64));
  EXPECT_EQ(use({"top", "one", "more"}).status, exited(64));
}

class TopOnTerminal : public Top {
 protected:
  void SetUp() override {
    if (const auto why = why_no_terminal()) GTEST_SKIP() << *why;
  }
  /// On a terminal of its own, whose modes are told before and after.
  Process start_on_terminal() const {
    return start_shell("exec script -qefc 'trap : INT; stty rows 10 cols 60; stty -g; \"$tool\" top -n 100ms --url " +
                       server_.url() + "; echo code=$?; stty -g; echo end' /dev/null");
  }
  static bool shows(Process& process, const std::string& text, std::size_t from = 0) {
    const auto there = [&] { return process.output().find(text, from) != std::string::npos; };
    if (eventually([&] { return there() || !process.running(); }) && there()) return true;
    process.finish();  // what it has written last may not have been read yet
    return there();
  }
  /// The process of the tool itself.
  pid_t tool_below(const Process& process) const {
    pid_t found = 0;
    const auto look = [&](auto&& self, pid_t pid) -> void {
      const std::string id = std::to_string(pid);
      std::ifstream children("/proc/" + id + "/task/" + id + "/children");
      for (pid_t child = 0; children >> child;) {
        if (is_called_as_the_tool(child)) found = child;
        self(self, child);
      }
    };
    EXPECT_TRUE(eventually([&] {
      look(look, process.pid());
      return found != 0;
    }));
    return found;
  }
  /// It has ended, and the terminal is as it was before.
  static void expect_clean(Process& process) {
    ASSERT_TRUE(shows(process, "end\r\n")) << process.output();
    EXPECT_EQ(process.finish(), exited(0));
    const std::string all = process.output();
    const std::size_t enter = all.find(kEnter);
    const std::size_t leave = all.rfind(kLeave);
    ASSERT_NE(enter, std::string::npos);
    ASSERT_NE(leave, std::string::npos);
    const std::string before = all.substr(0, all.find('\r'));
    const std::string rest = all.substr(leave + std::string(kLeave).size());
    EXPECT_EQ(rest, "code=0\r\n" + before + "\r\nend\r\n");
  }
};

TEST_F(TopOnTerminal, ShowsAScreenThatRefreshesAndEndsWithQ) {
  hold("orders");
  Process process = start_on_terminal();
  ASSERT_TRUE(shows(process, "1 held, 0 waiting; every 100 ms; q ends it, ? shows the keys")) << process.output();
  EXPECT_TRUE(shows(process, "orders  lock  > 0 s"));
  hold("invoices");
  EXPECT_TRUE(shows(process, "2 held"));
  process.write("q");
  expect_clean(process);
}

TEST_F(TopOnTerminal, SortsByAnotherColumnAndShowsItsKeys) {
  hold("b", 3'600'000);
  hold("a", 7'200'000);
  Process process = start_on_terminal();
  ASSERT_TRUE(shows(process, "WAITERS")) << process.output();
  process.write("s");
  EXPECT_TRUE(shows(process, "HELD FOR*"));
  process.write("s");
  EXPECT_TRUE(shows(process, "TTL*"));
  process.write("s");
  EXPECT_TRUE(shows(process, "NAME*"));
  process.write("?");
  EXPECT_TRUE(shows(process, "s: sort by the next column"));
  process.write("q");
  expect_clean(process);
}

TEST_F(TopOnTerminal, DrawsNoMoreLinesThanThereAre) {
  for (int i = 0; i < 30; ++i) hold("orders:" + std::to_string(i));
  Process process = start_on_terminal();
  ASSERT_TRUE(shows(process, "30 held")) << process.output();
  process.write("q");
  expect_clean(process);
  const std::string all = process.output();
  const std::size_t home = all.find("\x1b[H", all.find("\x1b[2J"));
  const std::string page = all.substr(home, all.find("\x1b[J", home) - home);
  EXPECT_EQ(std::count(page.begin(), page.end(), '\n'), 9);
}

TEST_F(TopOnTerminal, LeavesItCleanAfterTheInterruptKey) {
  Process process = start_on_terminal();
  ASSERT_TRUE(shows(process, "0 held"));
  process.write("\x03");
  expect_clean(process);
}

TEST_F(TopOnTerminal, LeavesItCleanAfterASignal) {
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGQUIT}) {
    Process process = start_on_terminal();
    ASSERT_TRUE(shows(process, "0 held"));
    const pid_t tool = tool_below(process);
    ASSERT_GT(tool, 0);
    kill(tool, signal);
    expect_clean(process);
  }
}

TEST_F(TopOnTerminal, LeavesItCleanWhileItIsStopped) {
  Process process = start_shell("exec script -qefc 'bash --norc -i' /dev/null");
  process.write("stty rows 10; \"$tool\" top -n 100ms --url " + server_.url() + "\n");
  ASSERT_TRUE(shows(process, "0 held")) << process.output();
  process.write("\x1a");
  ASSERT_TRUE(shows(process, "Stopped")) << process.output();
  const std::size_t stopped = process.output().find("Stopped");
  EXPECT_NE(process.output().rfind(kLeave, stopped), std::string::npos);
  process.write("echo $((20 + 3)); fg\n");
  EXPECT_TRUE(shows(process, "23\r\n", stopped));
  EXPECT_TRUE(shows(process, kEnter, stopped)) << process.output();
  EXPECT_TRUE(shows(process, "0 held", process.output().find(kEnter, stopped)));
  process.write("q");
  const std::size_t at = process.output().size();
  EXPECT_TRUE(shows(process, kLeave, stopped + 1));
  process.write("exit 0\nexit 0\n");
  EXPECT_TRUE(process.finish());
  EXPECT_GT(process.output().size(), at);
}

}  // namespace
}  // namespace holdfast::test::top_test
