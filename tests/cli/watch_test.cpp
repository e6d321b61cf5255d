// SPDX-License-Identifier: Apache-2.0
// `holdfast watch`: told by the server or looking for itself, over lost connections, and how it ends.
#include <chrono>
#include <csignal>
#include <functional>
#include <set>

#include <boost/json.hpp>

#include "cli_fixture.hpp"
#include "support/terminals.hpp"

namespace holdfast::test::watch_test {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

const std::string kTime = "[0-9-]+T[0-9:]+\\.[0-9]+Z  ";
const std::string kOther = "11111111-2222-4333-8444-555555555555:7";

class WatchTest : public CliTest {
 protected:
  explicit WatchTest(ServerOptions options = {}) : CliTest(std::move(options)) {}

  /// Once it has looked: `how` is in the line that says how it watches.
  Process start_watch(std::vector<std::string> args, const std::string& how = "tells of each change") {
    args.insert(args.begin(), "watch");
    hold("first" + first_, 3'600'000);
    Process process = start(std::move(args));
    const std::optional<std::string> said = process.read_error_line();
    EXPECT_THAT(said.value_or(""), HasSubstr(how));
    EXPECT_THAT(process.read_line().value_or(""), HasSubstr("held")) << process.errors();
    return process;
  }
  static std::string line(Process& process) {
    const std::optional<std::string> line = process.read_line();
    EXPECT_TRUE(line) << process.errors();
    return line.value_or("");
  }
  static boost::json::object event(Process& process) {
    const std::string text = line(process);
    return text.empty() ? boost::json::object() : boost::json::parse(text).as_object();
  }
  /// `taken job`, and `?` if it was seen late.
  static std::string short_event(Process& process) {
    const boost::json::object it = event(process);
    if (!it.contains("event")) return "";
    return std::string(it.at("event").as_string()) + " " + std::string(it.at("name").as_string()) +
           (it.at("late").as_bool() ? "?" : "");
  }
  static void end(Process& process, int signal = SIGTERM) {
    process.signal(signal);
    EXPECT_EQ(process.finish(), exited(0)) << process.errors();
  }

  const std::string first_ = ":of:all";
};

TEST_F(WatchTest, SaysWhatHappensALineForEachEvent) {
  Process process = start_watch({});
  Process run = start({"run", "--label", "nightly", "job", "--", "cat"});
  EXPECT_THAT(line(process), MatchesRegex(kTime + "taken +lock +job  .*, process [0-9]+, label nightly"));
  run.close_stdin();
  EXPECT_EQ(run.finish(), exited(0));
  EXPECT_THAT(line(process), MatchesRegex(kTime + "released +lock +job  .*, process [0-9]+, label nightly"));
  hold("job", 1500);
  EXPECT_THAT(line(process), MatchesRegex(kTime + "taken +lock +job  " + kSomebody));
  EXPECT_THAT(line(process), MatchesRegex(kTime + "expired +lock +job  " + kSomebody));
  hold("job");
  EXPECT_THAT(line(process), HasSubstr("taken"));
  raw_.command("EVAL", "redis.call('DEL', KEYS[1]) redis.call('HSET', KEYS[1], ARGV[1], 1)", 1, "job", kOther);
  EXPECT_THAT(line(process), MatchesRegex(kTime + "changed-hands +lock +job  " + kSomebody + " -> " + kOther));
  EXPECT_EQ(use({"break", "--yes", "job"}).status, exited(0));
  EXPECT_THAT(line(process), MatchesRegex(kTime + "released +lock +job  " + kOther));
  end(process);
  EXPECT_EQ(process.output().find('\x1b'), std::string::npos);
}

TEST_F(WatchTest, AsJsonSaysWhoHasItAndWhoHadIt) {
  Process process = start_watch({"--json"});
  hold("job", 60'000);
  boost::json::object it = event(process);
  EXPECT_EQ(it.at("event"), "taken");
  EXPECT_EQ(it.at("kind"), "lock");
  EXPECT_EQ(it.at("name"), "job");
  EXPECT_EQ(it.at("owner").as_string(), kSomebody);
  EXPECT_GT(it.at("remaining_ms").as_int64(), 50'000);
  EXPECT_TRUE(it.at("before").is_null());
  EXPECT_FALSE(it.at("late").as_bool());
  EXPECT_EQ(it.at("node").as_string(), server_.socket_path());
  const auto now =
      std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch());
  EXPECT_NEAR(static_cast<double>(it.at("at_ms").as_int64()), static_cast<double>(now.count()), 30'000);
  raw_.command("EVAL", "redis.call('DEL', KEYS[1]) redis.call('HSET', KEYS[1], ARGV[1], 1)", 1, "job", kOther);
  it = event(process);
  EXPECT_EQ(it.at("event"), "changed-hands");
  EXPECT_EQ(it.at("owner").as_string(), kOther);
  EXPECT_EQ(it.at("before").at("owner").as_string(), kSomebody);
  raw_.command("DEL", "job");
  it = event(process);
  EXPECT_EQ(it.at("event"), "released");
  EXPECT_EQ(it.at("owner").as_string(), kOther);
  EXPECT_TRUE(it.at("remaining_ms").is_null());
  end(process);
}

TEST_F(WatchTest, ARenewalIsNoEvent) {
  Process process = start_watch({"--json"});
  Process run = start({"run", "-v", "--lease", "2s", "job", "--", "sh", "-c", "echo started; read line"});
  expect_renewals(run, "job");
  EXPECT_EQ(short_event(process), "taken job");
  EXPECT_EQ(short_event(process), "released job");
  end(process);
}

TEST_F(WatchTest, ShowsEachKind) {
  Process process = start_watch({"--json", "--kind", "all"});
  raw_.command("SET", "cache", "text", "PX", 600'000);
  for (const std::vector<std::string>& options : {std::vector<std::string>{"read-write", "--shared", "table"},
                                                  {"read-write", "--kind", "read-write", "table"},
                                                  {"permit", "--max", "3", "gpus"},
                                                  {"simple", "--kind", "simple", "token"},
                                                  {"lock", "--fair", "line"}}) {
    std::vector<std::string> args{"run"};
    args.insert(args.end(), options.begin() + 1, options.end());
    args.insert(args.end(), {"--", "cat"});
    Process run = start(args);
    for (const char* what : {"taken", "released"}) {
      const boost::json::object it = event(process);
      ASSERT_TRUE(it.contains("event"));
      EXPECT_EQ(it.at("event"), what) << options.back();
      EXPECT_EQ(it.at("kind").as_string(), options.front());
      EXPECT_EQ(it.at("name").as_string(), options.back());
      run.close_stdin();
    }
    EXPECT_EQ(run.finish(), exited(0));
  }
  end(process);
}

/// No key changes at the end of a permit's lease.
TEST_F(WatchTest, APermitThatIsNotGivenBackExpires) {
  Process process = start_watch({"--json"});
  Process run =
      start({"run", "--max", "2", "--lease", "700ms", "gpus", "--", "sh", "-c", "echo started; exec sleep 1000"});
  ASSERT_EQ(run.read_line(), "started");
  EXPECT_EQ(short_event(process), "taken gpus");
  run.signal(SIGKILL);
  EXPECT_EQ(short_event(process), "expired gpus");
  end(process);
}

TEST_F(WatchTest, APatternLimitsItAsInLs) {
  Process process = start_watch({"--json", "*:all*"});
  hold("other");
  hold("x:all:1");
  EXPECT_EQ(short_event(process), "taken x:all:1");
  end(process);
  url_ += "?name_prefix=team:";
  hold("team:a:all");
  Process prefixed = start({"watch", "--json", "a:*"});
  EXPECT_EQ(short_event(prefixed), "held a:all");
  hold("a:all:1");
  hold("team:a:all:1");
  EXPECT_EQ(short_event(prefixed), "taken a:all:1");
  end(prefixed);
}

TEST_F(WatchTest, WhereTheServerDoesNotTellItLooks) {
  raw_.command("ACL", "SETUSER", "app", "on", ">secret", "~*", "+@all", "-client");
  for (const auto& [url, how] : std::vector<std::pair<std::string, std::string>>{
           {server_.url() + "?protocol=2",
            "does not tell of changes (it speaks RESP2), so there is a look every 100 ms"},
           {"unix://app:secret@" + server_.socket_path(), "does not tell of changes (NOPERM"}}) {
    raw_.flushall();
    url_ = url;
    Process process = start_watch({"--json", "-n", "100ms"}, how);
    hold("job", 1500);
    EXPECT_EQ(short_event(process), "taken job");
    EXPECT_EQ(short_event(process), "expired job");
    hold("job");
    EXPECT_EQ(short_event(process), "taken job");
    raw_.command("DEL", "job");
    EXPECT_EQ(short_event(process), "released job");
    end(process);
  }
}

TEST_F(WatchTest, WhatHappensWithoutAConnectionIsSeenLate) {
  Process process = start_watch({"--json"});
  hold("stays", 3'600'000);
  EXPECT_EQ(short_event(process), "taken stays");
  hold("goes");
  EXPECT_EQ(short_event(process), "taken goes");
  raw_.command("MULTI");  // so that nobody is back before all of it
  raw_.command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
  raw_.command("DEL", "goes");
  raw_.command("HSET", "comes", kOther, 1);
  raw_.command("EXEC");
  EXPECT_EQ(short_event(process), "ended goes?");
  EXPECT_EQ(short_event(process), "taken comes?");
  EXPECT_THAT(process.read_error_line().value_or(""), HasSubstr("connection lost; looked again"));
  raw_.command("DEL", "comes");
  EXPECT_EQ(short_event(process), "released comes");
  end(process);
}

TEST_F(WatchTest, OutlivesTheServer) {
  Process process = start_watch({"--json"});
  server_.stop();
  EXPECT_THAT(process.read_error_line().value_or(""), HasSubstr("; trying again"));
  server_.restart(Data::lose);
  EXPECT_EQ(short_event(process), "ended first" + first_ + "?");
  hold("job");
  EXPECT_THAT(short_event(process), ContainsRegex("^taken job[?]?$"));
  end(process);
}

TEST_F(WatchTest, AfterAFlushItLooksAgain) {
  Process process = start_watch({"--json"});
  hold("job");
  EXPECT_EQ(short_event(process), "taken job");
  raw_.flushall();
  EXPECT_EQ(short_event(process), "ended first" + first_ + "?");
  EXPECT_EQ(short_event(process), "ended job?");
  hold("job");
  EXPECT_EQ(short_event(process), "taken job");
  end(process);
}

/// More names than are kept to be looked at.
TEST_F(WatchTest, OfManyChangesAtOnceNoneIsLost) {
  Process process = start_watch({"--json"});
  raw_.command("EVAL", "for i = 1, 25000 do redis.call('HSET', 'many:' .. i, ARGV[1], 1) end", 0, kSomebody);
  std::set<std::string> names;
  for (int i = 0; i < 25'000; ++i) {
    const boost::json::object it = event(process);
    ASSERT_TRUE(it.contains("event")) << i;
    EXPECT_EQ(it.at("event"), "taken");
    names.emplace(it.at("name").as_string());
  }
  EXPECT_EQ(names.size(), 25'000U);
  end(process);
}

TEST_F(WatchTest, SeveralServersAreWatchedEachByItself) {
  RedisServer other;
  Raw there(other);
  Process process = start_watch({"--json", "--url", server_.url(), "--url", other.url()});
  hold("here");
  boost::json::object it = event(process);
  EXPECT_EQ(it.at("name"), "here");
  EXPECT_EQ(it.at("node").as_string(), server_.socket_path());
  there.command("HSET", "there", kSomebody, 1);
  it = event(process);
  EXPECT_EQ(it.at("name"), "there");
  EXPECT_EQ(it.at("node").as_string(), other.socket_path());
  other.stop();
  hold("later");
  EXPECT_EQ(short_event(process), "taken later");
  end(process);
}

TEST_F(WatchTest, EndsByASignal) {
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGQUIT}) {
    Process process = start_watch({});
    end(process, signal);
  }
}

TEST_F(WatchTest, EndsWhenNobodyReadsThoughNothingHappens) {
  hold("job");
  Process process = start_shell("{ \"$tool\" watch -q --url " + server_.url() + "; echo code=$? >&2; } | head -n 1");
  EXPECT_EQ(finish(process).err, "code=0\n");
}

TEST_F(WatchTest, EndsWithItsTerminal) {
  if (const auto why = why_no_terminal()) GTEST_SKIP() << *why;
  hold("job");
  Process process = start_shell("exec script -qefc 'trap : INT; \"$tool\" watch --url " + server_.url() +
                                "; echo code=$?' /dev/null");
  ASSERT_TRUE(eventually([&] { return process.output().find("held") != std::string::npos; })) << process.output();
  process.write("\x03");
  EXPECT_TRUE(eventually([&] { return process.output().find("code=0") != std::string::npos; })) << process.output();
  process.finish();
}

/// The server would keep what it does not read.
TEST_F(WatchTest, TheSuspendKeyDoesNotStopIt) {
  if (const auto why = why_no_terminal()) GTEST_SKIP() << *why;
  hold("job");
  Process process = start_shell("exec script -qefc 'bash --norc -i' /dev/null");
  const auto shows = [&](const std::string& text) {
    return eventually([&] { return process.output().find(text) != std::string::npos; });
  };
  process.write("\"$tool\" watch --url " + server_.url() + "\n");
  ASSERT_TRUE(shows("held ")) << process.output();
  process.write("\x1a");
  hold("later");
  EXPECT_TRUE(shows("later")) << process.output();
  process.write("\x03");
  process.write("echo $((20 + 3)); exit 0\n");
  EXPECT_TRUE(shows("23\r\n")) << process.output();
  EXPECT_TRUE(process.finish());
}

TEST_F(WatchTest, EndsIfTheServerRefuses) {
  raw_.command("ACL", "SETUSER", "app", "on", ">secret", "~*", "+@all", "-scan");
  const Outcome outcome = use({"watch"}, {"HOLDFAST_URL=unix://app:secret@" + server_.socket_path()});
  EXPECT_EQ(outcome.status, exited(69));
  EXPECT_THAT(outcome.err, HasSubstr("the server refuses access"));
}

TEST_F(WatchTest, RefusesWhatItDoesNotUnderstand) {
  for (const auto& [args, says] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"-n", "1ms"}, "--interval: 1ms is out of range: from 100 ms"},
           {{"one", "more"}, "one argument too many: more"},
           {{"--kind", "semaphore"}, "holdfast ls --kind semaphore shows its number"},
           {{"--kind", "lock,latch"}, "holdfast ls --kind latch shows its number"},
           {{"--kind", "locks"}, "--kind: locks is not one of"},
           {{"--follow"}, "unknown option --follow"}}) {
    std::vector<std::string> all{"watch"};
    all.insert(all.end(), args.begin(), args.end());
    const Outcome outcome = use(all);
    EXPECT_EQ(outcome.status, exited(64));
    EXPECT_THAT(outcome.err, HasSubstr(says));
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  }
}

class WatchInACluster : public WatchTest {
 protected:
  WatchInACluster() : WatchTest({.cluster = true}) {
    url_ = "redis+cluster" + server_.url().substr(server_.url().find(':'));
  }
};

TEST_F(WatchInACluster, ItLooks) {
  Process process = start_watch({"--json", "-n", "100ms"}, "does not tell of changes (it is a cluster)");
  hold("job");
  EXPECT_EQ(short_event(process), "taken job");
  raw_.command("DEL", "job");
  EXPECT_EQ(short_event(process), "released job");
  end(process);
}

class WatchOverTls : public WatchTest {
 protected:
  WatchOverTls() : WatchTest({.listen = ServerOptions::Listen::tls}) {}
};

TEST_F(WatchOverTls, TheServerTells) {
  Process process = start_watch({"--json"});
  hold("job");
  // Where connecting takes seconds, the first one may be found by the look that follows it, and is marked late.
  EXPECT_THAT(short_event(process), testing::StartsWith("taken job"));
  raw_.command("DEL", "job");
  EXPECT_EQ(short_event(process), "released job");
  end(process);
}

}  // namespace
}  // namespace holdfast::test::watch_test
