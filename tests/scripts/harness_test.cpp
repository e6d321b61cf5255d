// SPDX-License-Identifier: Apache-2.0
// What the suites stand on: that servers, listeners and processes of tests/support do what they say.
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <set>
#include <thread>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/listen.hpp"
#include "support/process.hpp"
#include "support/raw.hpp"
#include "support/redis_server.hpp"
#include "support/server_program.hpp"
#include "support/temp_dir.hpp"

namespace holdfast::test::harness_test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

bool process_exists(pid_t pid) { return ::kill(pid, 0) == 0; }

/// Gone, or a zombie that nobody reaps (in a container without an init).
bool ended(pid_t pid) {
  std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  return !std::getline(stat, text) || text.find(") Z") != std::string::npos;
}

TEST(Process, talks_over_its_input_and_output_and_tells_its_exit_code) {
  Process cat("sh", {"-c", "read line; echo \"got $line\"; echo oops >&2; exit 7"});
  EXPECT_TRUE(cat.write_line("hello"));
  EXPECT_EQ(cat.read_line(), "got hello");
  EXPECT_EQ(cat.read_error_line(), "oops");
  EXPECT_EQ(cat.finish(), (ExitStatus{7, 0}));
  EXPECT_EQ(cat.read_line(), std::nullopt);
  EXPECT_EQ(cat.output(), "got hello\n");
  EXPECT_FALSE(cat.running());
}

TEST(Process, reading_a_line_gives_up_when_the_time_is_over) {
  Process cat("cat", {});
  EXPECT_EQ(cat.read_line(milliseconds(20)), std::nullopt);
  EXPECT_TRUE(cat.running());
  cat.close_stdin();
  EXPECT_EQ(cat.wait(), ExitStatus{});
}

TEST(Process, a_signal_that_ends_it_is_told) {
  Process sleeper("sleep", {"1000"});
  sleeper.signal(SIGTERM);
  EXPECT_EQ(sleeper.wait(), (ExitStatus{0, SIGTERM}));
  EXPECT_FALSE(sleeper.write("nobody reads"));
}

TEST(Process, gets_the_environment_and_the_folder_asked_for) {
  const TempDir folder;
  ::setenv("HOLDFAST_TEST_GONE", "1", 1);
  Process shell("sh", {"-c", "echo $HOLDFAST_TEST_NEW-${HOLDFAST_TEST_GONE-none}; pwd"},
                {.env = {"HOLDFAST_TEST_NEW=new", "HOLDFAST_TEST_GONE"}, .working_dir = folder.path().string()});
  EXPECT_EQ(shell.read_line(), "new-none");
  EXPECT_EQ(shell.read_line(), folder.path().string());
}

TEST(Process, a_program_that_does_not_exist_is_an_error) {
  EXPECT_THROW(Process("/no/such/program", {}), std::system_error);
}

TEST(Process, does_not_survive_the_object_nor_do_its_children_in_its_group) {
  pid_t shell = 0;
  pid_t child = 0;
  {
    Process process("sh", {"-c", "sleep 1000 & echo $!; wait"}, {.own_group = true});
    shell = process.pid();
    child = std::stoi(process.read_line().value());
    EXPECT_TRUE(process_exists(child));
  }
  EXPECT_FALSE(process_exists(shell));
  EXPECT_TRUE(eventually([&] { return ended(child); }));
}

TEST(Process, dies_with_the_process_that_started_it) {
  if (std::getenv("HOLDFAST_TEST_TO_BE_KILLED") != nullptr) {
    // This is the tester that the test below starts and kills.
    const Process sleeper("sleep", {"1000"});
    std::cout << "sleeper " << sleeper.pid() << std::endl;
    while (true) pause();
  }
  Process tester(std::filesystem::read_symlink("/proc/self/exe").string(),
                 {"--gtest_filter=Process.dies_with_the_process_that_started_it"},
                 {.env = {"HOLDFAST_TEST_TO_BE_KILLED=1"}});
  pid_t sleeper = 0;
  while (sleeper == 0) {
    const std::optional<std::string> line = tester.read_line();
    ASSERT_TRUE(line.has_value());
    if (line->starts_with("sleeper ")) sleeper = std::stoi(line->substr(8));
  }
  EXPECT_FALSE(ended(sleeper));
  tester.signal(SIGKILL);
  EXPECT_TRUE(eventually([&] { return ended(sleeper); }));
}

TEST(Process, does_not_die_with_the_thread_that_started_it) {
  std::optional<Process> cat;
  std::thread([&] { cat.emplace("cat", std::vector<std::string>{}); }).join();
  cat->write_line("still here");
  EXPECT_EQ(cat->read_line(), "still here");
}

TEST(RedisServer, is_gone_with_its_folder_after_the_test) {
  pid_t pid = 0;
  std::string socket;
  {
    const RedisServer server;
    pid = server.pid();
    socket = server.socket_path();
    EXPECT_EQ(server.url(), "unix://" + socket);
    EXPECT_EQ(Raw(server).command("PING").text, "PONG");
  }
  EXPECT_FALSE(process_exists(pid));
  EXPECT_FALSE(std::filesystem::exists(std::filesystem::path(socket).parent_path()));
}

TEST(RedisServer, keeps_or_loses_its_data_over_a_restart_on_the_same_port) {
  RedisServer server({.listen = ServerOptions::Listen::tcp, .persistent = true});
  Endpoint tcp;
  tcp.port = server.port();
  Raw raw(tcp);
  raw.command("SET", "key", "value");
  server.kill();
  EXPECT_THROW(raw.command("GET", "key"), std::runtime_error);
  server.restart(Data::keep);
  EXPECT_EQ(raw.command("GET", "key").text, "value");
  server.restart(Data::lose);
  EXPECT_FALSE(raw.exists("key"));
  EXPECT_EQ(server.url(), "redis://127.0.0.1:" + std::to_string(tcp.port));
}

TEST(RedisServer, frozen_answers_nobody_until_thawed) {
  RedisServer server;
  server.freeze();
  EXPECT_THROW(Raw(Endpoint::of(server), milliseconds(50)).command("PING"), std::runtime_error);
  server.thaw();
  EXPECT_EQ(Raw(server).command("PING").text, "PONG");
  server.freeze();
  server.stop();
}

TEST(RedisServer, knows_its_users_and_support_code_gets_in_anyway) {
  const RedisServer server({.listen = ServerOptions::Listen::tcp,
                            .password = "pass word",
                            .users = {"app on >secret ~lock:* +get", "default off"}});
  EXPECT_EQ(server.url("app", "s/e@c"), "redis://app:s%2Fe%40c@127.0.0.1:" + std::to_string(server.port()));
  EXPECT_EQ(Raw(server).command("PING").text, "PONG");
  Endpoint app{.host = "127.0.0.1", .port = server.port(), .user = "app", .password = "secret"};
  EXPECT_TRUE(Raw(app).command("GET", "lock:1").is_null());
  EXPECT_THAT(Raw(app).command("SET", "lock:1", "x").text, HasSubstr("NOPERM"));
  app.password = "wrong";
  EXPECT_THROW(Raw{app}, std::runtime_error);
}

TEST(RedisServer, takes_commands_away_and_limits_memory) {
  const RedisServer server({.maxmemory = "1", .renamed_commands = {{"EVAL", ""}, {"EVALSHA", "RUN"}}});
  Raw raw(server);
  EXPECT_THAT(raw.command("EVAL", "return 1", 0).text, HasSubstr("unknown command"));
  EXPECT_THAT(raw.command("RUN", "0123", 0).text, HasSubstr("NOSCRIPT"));
  EXPECT_THAT(raw.command("SET", "key", "value").text, HasSubstr("OOM"));
}

TEST(RedisServer, a_replica_follows_its_primary_and_refuses_writes) {
  const RedisServer primary({.listen = ServerOptions::Listen::tcp, .password = "secret"});
  const RedisServer replica({.replica_of = &primary});
  Raw(primary).command("SET", "key", "value");
  Raw raw(replica);
  EXPECT_TRUE(eventually([&] { return raw.exists("key"); }));
  EXPECT_THAT(raw.command("SET", "key", "other").text, HasSubstr("READONLY"));
}

TEST(RedisServer, speaks_tls_with_a_certificate_for_localhost_and_asks_for_the_clients) {
  const RedisServer server({.listen = ServerOptions::Listen::tls, .ask_client_certificate = true});
  const Certificates& files = server.certificates();
  EXPECT_THAT(server.url(), HasSubstr("rediss://localhost:" + std::to_string(server.port()) + "?ca_file="));
  const auto ping = [&](const std::string& ca, const std::string& host, const std::string& certificate,
                        const std::string& key) {
    Process client("openssl",
                   {"s_client", "-quiet", "-verify_return_error", "-verify_hostname", host, "-CAfile", ca, "-cert",
                    certificate, "-key", key, "-connect", "127.0.0.1:" + std::to_string(server.port())});
    client.write_line("PING\r");
    return client.read_line() == "+PONG\r";
  };
  EXPECT_TRUE(ping(files.ca_file, "localhost", files.client_certificate_file, files.client_key_file));
  EXPECT_FALSE(ping(files.untrusted_ca_file, "localhost", files.client_certificate_file, files.client_key_file));
  EXPECT_FALSE(ping(files.ca_file, "127.0.0.1", files.client_certificate_file, files.client_key_file));
  EXPECT_FALSE(
      ping(files.ca_file, "localhost", files.untrusted_client_certificate_file, files.untrusted_client_key_file));
}

TEST(RedisServer, many_start_at_the_same_time_on_ports_of_their_own) {
  std::vector<std::unique_ptr<RedisServer>> servers(8);
  std::vector<std::thread> threads;
  for (auto& server : servers) {
    threads.emplace_back(
        [&server] { server = std::make_unique<RedisServer>(ServerOptions{.listen = ServerOptions::Listen::tcp}); });
  }
  for (std::thread& thread : threads) thread.join();
  std::set<std::uint16_t> ports;
  for (const auto& server : servers) ports.insert(server->port());
  EXPECT_EQ(ports.size(), servers.size());
}

TEST(Subscriber, has_seen_everything_published_before_it_is_asked) {
  const RedisServer server;
  Subscriber all(server);
  Subscriber one(server, {"a"});
  EXPECT_THAT(all.messages(), IsEmpty());
  Raw raw(server);
  const std::string bytes("x\0y", 3);
  raw.command("PUBLISH", "a", 1);
  raw.command("PUBLISH", bytes, bytes);
  EXPECT_THAT(all.messages(), ElementsAre(Message{"a", "1"}, Message{bytes, bytes}));
  EXPECT_THAT(one.messages(), ElementsAre(Message{"a", "1"}));
  EXPECT_TRUE(one.wait_for(1));
  EXPECT_FALSE(one.wait_for(2, milliseconds(20)));
  all.clear();
  EXPECT_THAT(all.messages(), IsEmpty());
}

TEST(Monitor, has_seen_every_command_before_it_is_asked_and_tells_scripts_from_clients) {
  const RedisServer server;
  Monitor monitor(server);
  Monitor other(server);
  Raw raw(server);
  std::string key("k\0\"\\\n\xc3\xa4", 7);
  if (server_version().starts_with("Valkey 8.1")) std::erase(key, '"');  // which it leaves as it is
  if (server_version().starts_with("Valkey 8.1")) std::erase(key, '\\');
  raw.command("SET", key, "v");
  raw.command("EVAL", "return redis.call('GET', KEYS[1])", 1, key);
  other.count("");
  const std::vector<MonitorLine> lines = monitor.lines();
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_THAT(lines[0].args, ElementsAre("SET", key, "v"));
  EXPECT_EQ(monitor.count("get", Lines::from_scripts), 1U);
  EXPECT_EQ(monitor.count("\"eval\""), 1U);
  EXPECT_EQ(monitor.count("", Lines::all), 3U);
  EXPECT_EQ(raw.calls("get"), 1);
  EXPECT_EQ(raw.calls("hset"), 0);
  monitor.clear();
  EXPECT_THAT(monitor.lines(Lines::all), IsEmpty());
}

}  // namespace
}  // namespace holdfast::test::harness_test
