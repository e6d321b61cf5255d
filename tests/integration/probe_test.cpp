// SPDX-License-Identifier: Apache-2.0
// probe() at real servers, each with a fault planted.
#include <boost/asio/io_context.hpp>

#include <holdfast/async.hpp>
#include <holdfast/probe.hpp>

#include "faults.hpp"
#include "support/deployment.hpp"
#include "support/server_program.hpp"

namespace holdfast::test::probe_test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::Not;

constexpr const char* kSecret = "s3cret";

Config probing(const RedisServer& server) { return Config::from_url(server.url()); }

Config probing_as_app(const RedisServer& server) {
  Config config = probing(server);
  config.username = "app";
  config.password = kSecret;
  return config;
}

ProbeReport probe(Config config) { return probe(Client(std::move(config))); }

/// `severity id` of all that is worse than ok.
std::vector<std::string> faults(const ProbeReport& report) {
  std::vector<std::string> found;
  for (const Finding& finding : report.findings) {
    if (finding.severity != Severity::ok) found.push_back(to_string(finding.severity) + (" " + finding.id));
  }
  return found;
}

/// The worst one with this id; empty if there is none.
Finding finding(const ProbeReport& report, const std::string& id) {
  const auto found = std::ranges::find(report.findings, id, &Finding::id);
  return found == report.findings.end() ? Finding{} : *found;
}

/// All that it says.
std::string all_of(const ProbeReport& report) {
  std::string text;
  for (const ProbedNode& node : report.nodes) text += node.address + " " + node.problem + "\n";
  for (const Finding& each : report.findings) text += each.node + " " + each.text + " " + each.advice + "\n";
  return text;
}

TEST(Probe, AHealthyServerGetsNoWarning) {
  const RedisServer server({.password = kSecret, .persistent = true});
  Config config = probing(server);
  config.password = kSecret;
  const ProbeReport report = probe(config);
  EXPECT_LE(report.worst(), Severity::note) << all_of(report);
  EXPECT_TRUE(report.reached());
  ASSERT_EQ(report.nodes.size(), 1U);
  const ProbedNode& node = report.nodes.front();
  EXPECT_THAT(node.software, testing::AnyOf("Redis", "Valkey"));
  EXPECT_FALSE(node.version.empty());
  EXPECT_EQ(node.role, "master");
  EXPECT_EQ(node.run_id.size(), 40U);
  EXPECT_EQ(node.keeps, ProbedNode::Keeps::all);
  EXPECT_TRUE(node.round_trip_p50 && node.round_trip_p99 && *node.round_trip_p50 <= *node.round_trip_p99);
  ASSERT_TRUE(node.clock_ahead);
  EXPECT_LE(std::chrono::abs(*node.clock_ahead), node.clock_error + 1ms) << "it is the same clock";
  for (const char* id : {"connection", "version", "role", "permissions", "wait", "tracking", "eviction", "memory",
                         "persistence", "maxclients", "idle_timeout", "pubsub_buffer", "round_trip", "slow_scripts",
                         "tls", "password", "eternal_locks", "replicas", "clock"}) {
    EXPECT_EQ(finding(report, id).id, id);
    EXPECT_EQ(finding(report, id).severity, Severity::ok) << id;
  }
}

TEST(Probe, NothingIsChanged) {
  const RedisServer server;
  Raw raw(server);
  raw.command("HSET", "lock", "99999999-2222-4333-8444-555555555555:7", 1);
  raw.command("SET", "text", "value", "PX", 3'600'000);
  raw.command("RPUSH", "list", "a", "b");
  const auto dump = [&] {
    std::vector<std::string> all;
    for (const char* key : {"lock", "text", "list"}) all.push_back(raw.command("DUMP", key).text);
    all.push_back(raw.info("persistence", "rdb_changes_since_last_save"));
    all.push_back(raw.info("keyspace", "db0").substr(0, 16));
    return all;
  };
  const std::vector<std::string> before = dump();
  raw.command("CONFIG", "RESETSTAT");
  probe(probing(server));
  EXPECT_EQ(dump(), before);

  std::istringstream stats(raw.command("INFO", "commandstats").text);
  std::size_t commands = 0;
  for (std::string line; std::getline(stats, line);) {
    if (!line.starts_with("cmdstat_")) continue;
    ++commands;
    const std::string name = line.substr(8, line.find(':') - 8);
    const Reply info = raw.command("COMMAND", "INFO", name);
    ASSERT_FALSE(info.elements.empty() || info.elements[0].elements.size() < 3) << name;
    for (const Reply& flag : info.elements[0].elements[2].elements) EXPECT_NE(flag.text, "write") << name;
    EXPECT_THAT((std::vector<std::string>{"publish", "spublish", "subscribe", "script|load", "config|set",
                                          "client|kill", "acl|setuser"}),
                Not(Contains(name)));
  }
  EXPECT_GT(commands, 10U);
}

struct Planted {
  ServerOptions server;
  std::string fault;
};

TEST(Probe, EachPlantedFaultIsFound) {
  const std::vector<Planted> planted{
      {{.config = {"maxmemory 100mb", "maxmemory-policy allkeys-lru"}}, "danger eviction"},
      {{.config = {"maxmemory 100mb", "maxmemory-policy volatile-ttl"}}, "danger eviction"},
      {{.config = {"maxmemory-policy allkeys-lru"}}, "note eviction"},
      {{}, "note persistence"},
      {{.config = {"appendonly yes", "appendfsync everysec"}}, "note persistence"},
      {{.config = {"save 3600 1"}}, "note persistence"},
      {{.config = {"min-replicas-to-write 1"}}, "danger min_replicas"},
      {{.config = {"timeout 5"}}, "warning idle_timeout"},
      {{.config = {"client-output-buffer-limit pubsub 4096 1024 10"}}, "warning pubsub_buffer"},
      {{}, "note password"},
      {{.config = {"bind *"}}, "danger password"},
      {{.renamed_commands = {{"EVALSHA", ""}}}, "danger commands"},
      {{.renamed_commands = {{"HDEL", "X"}}}, "danger commands"},
      {{.renamed_commands = {{"WAIT", ""}}}, "note wait"},
      {{.renamed_commands = {{"HELLO", ""}}}, "note protocol"},
      {{.renamed_commands = {{"INFO", ""}}}, "unknown version"},
      {{.renamed_commands = {{"CONFIG", ""}}}, "unknown refused"},
      {{.cluster = true}, "danger cluster"},
  };
  for (const auto& [options, fault] : planted) {
    EXPECT_THAT(faults(probe(probing(RedisServer(options)))), Contains(fault));
  }
}

TEST(Probe, MemoryThatIsUsedUp) {
  const RedisServer server;
  Raw raw(server);
  // Not as one value, which a server's buffers keep for a while.
  for (int i = 0; i < 200; ++i) raw.command("SET", std::to_string(i), std::string(100'000, 'x'));
  raw.command("CONFIG", "SET", "maxmemory", std::stoll(raw.info("memory", "used_memory")) + 1'000'000);
  EXPECT_THAT(faults(probe(probing(server))), Contains("warning memory"));
  raw.command("CONFIG", "SET", "maxmemory", 1);
  EXPECT_THAT(faults(probe(probing(server))), Contains("danger memory"));
}

TEST(Probe, PermissionsThatAreMissing) {
  const RedisServer server;
  Raw raw(server);
  if (raw.command("ACL", "DRYRUN", "default", "PING").is_error()) GTEST_SKIP() << "no ACL DRYRUN before Redis 7.0";
  raw.command("ACL", "SETUSER", "app", "on", ">s3cret", "~*", "&*", "+@all", "-publish", "-pubsub", "-hset");
  const Config config = probing_as_app(server);
  ProbeReport report = probe(config);
  EXPECT_THAT(faults(report), IsSupersetOf({"danger permissions", "note permissions"}));
  EXPECT_THAT(finding(report, "permissions").advice, HasSubstr("ACL SETUSER app +hset +publish"));
  EXPECT_THAT(faults(report), Not(Contains("note names")));
  raw.command("ACL", "SETUSER", "app", "+publish", "+hset", "resetkeys", "~orders:*", "resetchannels");
  report = probe(config);
  EXPECT_THAT(finding(report, "names").text, HasSubstr("keys ~orders:*, but not with the channels"));
  EXPECT_THAT(faults(report), Not(Contains("danger permissions")));
  raw.command("ACL", "SETUSER", "app", "&redisson_lock__channel:{orders:*}");
  EXPECT_EQ(finding(probe(config), "names").severity, Severity::note);

  // It may not ask about itself: a script can, but nobody knows which names are permitted.
  raw.command("ACL", "SETUSER", "app", "-acl", "-@write");
  report = probe(config);
  EXPECT_THAT(faults(report), IsSupersetOf({"danger permissions", "warning untried"}));
  EXPECT_THAT(finding(report, "permissions").advice, HasSubstr("+hset +pexpire +hdel"));
  raw.command("ACL", "SETUSER", "app", "+@write");
  EXPECT_THAT(faults(probe(config)), Not(Contains("danger permissions")));
  EXPECT_THAT(faults(probe(Client(config), "orders:42")), Not(Contains("warning untried")));
  EXPECT_THAT(faults(probe(Client(config), "order")), Contains("danger names"));
  EXPECT_THAT(all_of(report), Not(HasSubstr(kSecret)));
}

TEST(Probe, AUserWhoCanTakeNoLockAndMayAskNothing) {
  const RedisServer server;
  if (!server_like_redis(7, 0)) GTEST_SKIP() << "no acl_check_cmd before Redis 7.0";
  Raw raw(server);
  raw.command("ACL", "SETUSER", "app", "on", ">s3cret", "~lock:*", "+evalsha", "+eval", "+pttl", "+hexists", "+ping");
  const Config config = probing_as_app(server);
  EXPECT_THAT(finding(probe(config), "permissions").advice, HasSubstr("+hset +pexpire +hdel +publish"));
}

TEST(Probe, AServerThatRefusesAllButPing) {
  const RedisServer server;
  Raw(server).command("ACL", "SETUSER", "app", "reset", "on", ">s3cret", "+ping");
  const Config config = probing_as_app(server);
  const ProbeReport report = probe(config);
  EXPECT_TRUE(report.reached());
  EXPECT_THAT(faults(report), IsSupersetOf({"danger permissions", "unknown version", "unknown role"}));
  EXPECT_THAT(all_of(report), Not(HasSubstr(kSecret)));
}

TEST(Probe, AServerWithoutAnyOfTheQuestions) {
  ServerOptions options;
  for (const char* command :
       {"INFO", "CONFIG", "ROLE", "CLIENT", "ACL", "COMMAND", "SLOWLOG", "TIME", "SCAN", "EVAL"}) {
    options.renamed_commands.emplace_back(command, "");
  }
  // Support code asks INFO of nobody but replicas.
  const RedisServer server(options);
  const ProbeReport report = probe(probing(server));
  EXPECT_TRUE(report.reached());
  EXPECT_THAT(faults(report), IsSupersetOf({"danger commands", "unknown version", "unknown role", "unknown refused"}));
}

TEST(Probe, AWrongPassword) {
  const RedisServer server({.password = kSecret});
  Config config = probing(server);
  config.password = "wr0ng";
  const ProbeReport report = probe(config);
  EXPECT_FALSE(report.reached());
  EXPECT_THAT(faults(report), testing::ElementsAre("danger connection"));
  EXPECT_THAT(all_of(report), testing::AllOf(Not(HasSubstr(kSecret)), Not(HasSubstr("wr0ng"))));
}

TEST(Probe, NobodyThere) {
  RedisServer server({.listen = ServerOptions::Listen::tcp});
  server.kill();
  const ProbeReport report = probe(probing(server));
  EXPECT_FALSE(report.reached());
  EXPECT_EQ(report.worst(), Severity::danger);
  EXPECT_EQ(report.nodes.front().part, ProbedNode::Part::server);
}

TEST(Probe, AFrozenServerCostsSeconds) {
  RedisServer server({.listen = ServerOptions::Listen::tcp});
  Client client(probing(server));
  client.ping();
  server.freeze();
  ProbeReport report;
  const auto took = duration_of([&] { report = probe(client); });
  server.thaw();
  EXPECT_FALSE(report.reached());
  EXPECT_LT(took, kPatience);
}

TEST(Probe, AServerThatFallsSilentCostsSeconds) {
  const RedisServer server;
  Raw raw(server);
  // Commands that write or may write are held back: EVAL is one of them.
  if (raw.command("CLIENT", "PAUSE", 60'000, "WRITE").is_error()) GTEST_SKIP() << "only all or nothing before 6.2";
  Config config = probing(server);
  ProbeReport report;
  const auto took = duration_of([&] { report = probe(config); });
  raw.command("CLIENT", "UNPAUSE");
  EXPECT_TRUE(report.reached());
  EXPECT_LT(took, kPatience);
  EXPECT_EQ(finding(report, "silence").severity, Severity::warning);
  EXPECT_THAT(finding(report, "silence").text, HasSubstr("trial of commands"));
  EXPECT_EQ(finding(report, "version").severity, Severity::ok) << "the rest was asked";
}

TEST(Probe, AServerWhoseConnectionsAreInUse) {
  const RedisServer server({.config = {"maxclients 3"}});
  Raw raw(server);
  ASSERT_TRUE(eventually([&] { return raw.info("clients", "connected_clients") == "1"; }));
  Client client(probing(server));
  client.ping();
  ProbeReport report = probe(client);
  EXPECT_EQ(finding(report, "maxclients").severity, Severity::warning);
  EXPECT_THAT(finding(report, "maxclients").text, HasSubstr("3 of 3 connections are in use"));
  ASSERT_TRUE(eventually([&] { return raw.info("clients", "connected_clients") == "2"; }));
  Raw other(server);
  other.command("PING");
  report = probe(client);
  EXPECT_FALSE(report.reached());
  EXPECT_THAT(finding(report, "connection").text, HasSubstr("max number of clients"));
}

TEST(Probe, AScriptThatDoesNotEnd) {
  const RedisServer server({.config = {"lua-time-limit 10"}});
  Raw raw(server);
  std::thread endless([&] { Raw(server).command("EVAL", "while true do end", 0); });
  EXPECT_TRUE(eventually([&] { return raw.command("PING").text.starts_with("BUSY"); }));
  const ProbeReport report = probe(probing(server));
  raw.command("SCRIPT", "KILL");
  endless.join();
  EXPECT_THAT(faults(report), Contains("danger busy")) << all_of(report);
}

TEST(Probe, SlowScriptsAndKeysLeftBehind) {
  const RedisServer server({.config = {"slowlog-log-slower-than 0"}});
  Raw raw(server);
  raw.command("EVAL", "return 1", 0);
  raw.command("HSET", "app:orders", "99999999-2222-4333-8444-555555555555:7", 1);
  raw.command("HSET", "app:colors", "red", 1);
  raw.command("HSET", "other", "99999999-2222-4333-8444-555555555555:7", 1);
  raw.command("SET", "redisson_unlock_latch:{app:orders}:x", 1);
  Config config = probing(server);
  config.name_prefix = "app:";
  const ProbeReport report = probe(config);
  EXPECT_THAT(faults(report), IsSupersetOf({"warning eternal_locks", "note latches"}));
  EXPECT_GE(finding(report, "slow_scripts").severity, Severity::note);
  EXPECT_THAT(finding(report, "eternal_locks").text, HasSubstr("1 lock without expiry among 4 keys: \"app:orders\""));
}

TEST(Probe, OverTls) {
  const RedisServer server({.listen = ServerOptions::Listen::tls});
  EXPECT_EQ(finding(probe(probing(server)), "tls").text, "the connection is encrypted");
}

TEST(Probe, AReplicaIsLookedAtAsWell) {
  const RedisServer primary({.listen = ServerOptions::Listen::tcp});
  const RedisServer replica({.listen = ServerOptions::Listen::tcp,
                             .replica_of = &primary,
                             .config = {"replica-priority 0", "replica-read-only no"}});
  Raw raw(primary);
  ASSERT_TRUE(eventually([&] { return raw.command("ROLE").elements[2].elements.size() == 1; }));
  const ProbeReport report = probe(probing(primary));
  ASSERT_EQ(report.nodes.size(), 2U);
  EXPECT_EQ(report.nodes[1].part, ProbedNode::Part::replica);
  EXPECT_EQ(report.nodes[1].role, "slave");
  EXPECT_EQ(report.nodes[0].replication_id, report.nodes[1].replication_id);
  EXPECT_THAT(faults(report), IsSupersetOf({"warning persistence", "warning min_replicas", "warning priority",
                                            "warning replica_writes"}));

  const ProbeReport of_replica = probe(probing(replica));
  EXPECT_THAT(faults(of_replica), Contains("danger role"));
  EXPECT_EQ(of_replica.nodes.size(), 2U) << "its primary";
  const std::vector<Finding> both = compare(std::vector{report, of_replica});
  EXPECT_EQ(both.front().id, "not_independent");
}

TEST(Probe, AReplicaThatIsCutOff) {
  const RedisServer primary({.listen = ServerOptions::Listen::tcp});
  RedisServer replica({.listen = ServerOptions::Listen::tcp, .replica_of = &primary});
  Raw raw(primary);
  ASSERT_TRUE(eventually([&] { return raw.command("ROLE").elements[2].elements.size() == 1; }));
  replica.freeze();
  const ProbeReport report = probe(probing(primary));
  replica.thaw();
  EXPECT_TRUE(report.reached());
  EXPECT_THAT(faults(report), Contains("unknown connection"));
}

TEST(Probe, Sentinels) {
  Deployment deployment({.min_replicas_to_write = 1, .down_after = 60s});  // no failover in between
  SentinelConfig sentinels;
  sentinels.primary = deployment.name();
  for (std::size_t i = 0; i < 2; ++i) sentinels.addresses.push_back({"127.0.0.1", deployment.sentinel(i).port()});
  Config config;
  config.server = sentinels;
  ProbeReport report = probe(config);
  EXPECT_EQ(report.nodes.size(), 6U) << "one server, two replicas, two Sentinels, and the one that those know";
  for (const char* id : {"sentinels", "sentinel_agree", "sentinel_quorum", "priority", "replica_lag", "min_replicas"}) {
    EXPECT_EQ(finding(report, id).severity, Severity::ok) << id << ": " << finding(report, id).text;
    EXPECT_FALSE(finding(report, id).text.empty()) << id;
  }
  deployment.sentinel(2).kill();
  report = probe(config);
  EXPECT_THAT(faults(report), Contains("warning connection"));
  deployment.primary().freeze();  // the server is not where it was
  report = probe(config);
  deployment.server(0).thaw();
  EXPECT_FALSE(report.reached());
  EXPECT_EQ(std::ranges::count(report.nodes, ProbedNode::Part::replica, &ProbedNode::part), 2) << "as Sentinels say";
  sentinels.primary = "nobody";
  sentinels.addresses.resize(1);
  config.server = sentinels;
  EXPECT_THAT(faults(probe(config)), IsSupersetOf({"danger sentinel_name", "danger sentinels"}));
}

TEST(Probe, TheClientAndItsHoldsAreLeftAlone) {
  const RedisServer server;
  Client client(quick_config(server.url()));
  const Hold hold = client.lock("job").acquire();
  probe(client);
  EXPECT_EQ(client.counters().connections, 1U);
  EXPECT_EQ(hold.state(), HoldState::held);
  Raw raw(server);
  EXPECT_TRUE(eventually([&] { return raw.info("clients", "connected_clients") == "2"; })) << "the probe's is gone";
}

TEST(Probe, WhoMayNotAsk) {
  const RedisServer server;
  Client client(probing(server));
  client.close();
  EXPECT_EQ(error_of([&] { return probe(client); })->code(), code(Errc::closed));
  boost::asio::io_context context;
  Client guest = client_on(context, probing(server));
  EXPECT_EQ(error_of([&] { return probe(guest); })->code(), code(Errc::would_deadlock));
  guest.close();
  context.run();
}

}  // namespace
}  // namespace holdfast::test::probe_test
