// SPDX-License-Identifier: Apache-2.0
// What is made of one server: one fault at a time.
#include "probe_story.hpp"

namespace holdfast::probing::probe_judge_test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::UnorderedElementsAre;

TEST(ProbeJudge, AServerWithoutFaultsHasNone) {
  EXPECT_THAT(ProbeStory().faults(), IsEmpty());
  EXPECT_EQ(judge(ProbeStory().facts).worst(), Severity::ok);
}

TEST(ProbeJudge, NobodyThere) {
  ProbeStory story;
  story.server() = {};
  story.server().address = "10.0.0.1:6379";
  story.server().problem = "cannot reach the server: Connection refused";
  story.server().trouble = Errc::unreachable;
  EXPECT_THAT(story.faults(), ElementsAre("danger connection"));
  EXPECT_FALSE(judge(story.facts).reached());
}

struct InfoFault {
  std::vector<std::pair<const char*, const char*>> info;
  std::string fault;
  std::string says;
};

TEST(ProbeJudge, WhatInfoShows) {
  const std::vector<InfoFault> faults{
      {{{"redis_version", "5.0.14"}}, "danger version", "Redis 5.0.14 is too old"},
      {{{"keydb_version", "6.3.4"}}, "note version", "KeyDB 6.3.4"},
      {{{"mvcc_depth", "0"}}, "note version", "KeyDB 8.8.0"},
      {{{"dragonfly_version", "df-v1.23"}}, "note version", "Dragonfly df-v1.23"},
      {{{"redis_mode", "cluster"}, {"cluster_enabled", "1"}}, "danger cluster", "is that of a single server"},
      {{{"redis_mode", "sentinel"}}, "danger role", "it is a Sentinel"},
      {{{"maxmemory_policy", "allkeys-lru"}, {"maxmemory", "5000"}, {"evicted_keys", "7"}},
       "danger eviction",
       "so far 7 keys"},
      {{{"maxmemory_policy", "volatile-ttl"}, {"maxmemory", "5000"}}, "danger eviction", "locks that are held"},
      {{{"maxmemory_policy", "volatile-lrm"}, {"maxmemory", "5000"}}, "danger eviction", "volatile-lrm"},
      {{{"maxmemory_policy", "volatile-lru"}}, "note eviction", "as long as maxmemory is 0"},
      {{{"maxmemory", "1100"}}, "warning memory", "90 % of maxmemory is used"},
      {{{"maxmemory", "1"}, {"used_memory", "1647888"}},
       "danger memory",
       "no memory left for new keys: 1.6 MB are used, and maxmemory is 1 byte; locks are refused (OOM)"},
      {{{"maxmemory", "900"}}, "danger memory", "1000 bytes are used, and maxmemory is 900 bytes"},
      {{{"maxmemory", "900"}, {"mem_not_counted_for_evict", "150"}}, "warning memory", "all of maxmemory is used"},
      {{{"rdb_last_bgsave_status", "err"}}, "warning disk", "MISCONF"},
      {{{"aof_last_write_status", "err"}}, "warning disk", "MISCONF"},
      {{{"aof_enabled", "0"}}, "note persistence", "a restart forgets all locks"},
      {{{"connected_clients", "9100"}}, "warning maxclients", "9100 of 10000"},
  };
  for (const InfoFault& fault : faults) {
    ProbeStory story;
    for (const auto& [name, value] : fault.info) story.server().info[name] = value;
    EXPECT_THAT(story.faults(), ElementsAre(fault.fault));
    EXPECT_THAT(story.finding(fault.fault.substr(fault.fault.find(' ') + 1)).text, HasSubstr(fault.says));
  }
}

TEST(ProbeJudge, AValkeyIsOneAlthoughItSaysRedisToo) {
  ProbeStory story;
  story.server().info["redis_version"] = "7.2.4";
  story.server().info["valkey_version"] = "8.1.9";
  EXPECT_THAT(story.faults(), IsEmpty());
  EXPECT_EQ(story.finding("version").text, "Valkey 8.1.9");
}

TEST(ProbeJudge, WhatConfigShows) {
  const std::vector<InfoFault> faults{
      {{{"appendfsync", "everysec"}}, "note persistence", "about the last second (appendfsync everysec)"},
      {{{"timeout", "5"}}, "warning idle_timeout", "idle for 5 s are closed"},
      {{{"client-output-buffer-limit", "normal 0 0 0 slave 1 1 60 pubsub 65536 8192 60"}},
       "warning pubsub_buffer",
       "more than 65536 bytes"},
  };
  for (const InfoFault& fault : faults) {
    ProbeStory story;
    for (const auto& [name, value] : fault.info) story.server().config[name] = value;
    EXPECT_THAT(story.faults(), ElementsAre(fault.fault));
    EXPECT_THAT(story.finding(fault.fault.substr(fault.fault.find(' ') + 1)).text, HasSubstr(fault.says));
  }
}

TEST(ProbeJudge, ASnapshotIsNotMuch) {
  ProbeStory story;
  story.server().info["aof_enabled"] = "0";
  story.server().config["save"] = "3600 1";
  EXPECT_THAT(story.faults(), ElementsAre("note persistence"));
  EXPECT_EQ(judge(story.facts).nodes.front().keeps, ProbedNode::Keeps::snapshot);
}

TEST(ProbeJudge, AReplicaTakesNoLocks) {
  ProbeStory story;
  story.server().role = {.name = "slave", .replicas = {}, .primary_host = "10.0.0.9", .primary_port = 6379, .link = ""};
  EXPECT_THAT(story.faults(), ElementsAre("danger role"));
  EXPECT_THAT(story.finding("role").text, HasSubstr("a replica of 10.0.0.9:6379"));
}

TEST(ProbeJudge, ACommandThatALockNeedsIsNotPermitted) {
  ProbeStory story;
  story.server().access["hdel"] = Access::denied;
  story.server().access["publish"] = Access::denied;
  EXPECT_THAT(story.faults(), ElementsAre("danger permissions"));
  EXPECT_THAT(story.finding("permissions").advice, HasSubstr("ACL SETUSER app +hdel +publish"));
}

TEST(ProbeJudge, ACommandForSomeCallsIsNotPermitted) {
  ProbeStory story;
  story.server().access["client kill"] = Access::denied;
  EXPECT_THAT(story.faults(), ElementsAre("note permissions"));
  EXPECT_THAT(story.finding("permissions").advice, HasSubstr("+client|kill"));
}

TEST(ProbeJudge, ACommandWasRenamed) {
  ProbeStory story;
  story.server().access["evalsha"] = Access::missing;
  EXPECT_THAT(story.faults(), ElementsAre("danger commands"));
  EXPECT_THAT(story.finding("commands").advice, Not(HasSubstr("Lua")));
}

TEST(ProbeJudge, LuaIsAModuleThatIsNotLoaded) {
  ProbeStory story;
  story.server().access["eval"] = read_access(error("ERR Could not find scripting engine 'lua'"));
  EXPECT_THAT(story.faults(), ElementsAre("danger commands"));
  EXPECT_THAT(story.finding("commands").advice, HasSubstr("loadmodule libvalkeylua.so"));
}

TEST(ProbeJudge, HolesOfItsVersionMayHaveBeenMended) {
  struct Version {
    const char* field;
    const char* number;
    std::string holes;
  };
  const std::string both = "CVE-2026-23631, CVE-2026-23479";
  for (const auto& [field, number, holes] : std::initializer_list<Version>{
           {"redis_version", "6.2.14", ""},   {"redis_version", "7.0.15", "CVE-2026-23631"},
           {"redis_version", "7.2.13", both}, {"redis_version", "7.2.14", ""},
           {"redis_version", "7.4.8", both},  {"redis_version", "7.4.9", ""},
           {"redis_version", "8.0.2", both},  {"redis_version", "8.2.5", both},
           {"redis_version", "8.2.6", ""},    {"redis_version", "8.4.2", both},
           {"redis_version", "8.4.10", ""},   {"redis_version", "8.6.2", both},
           {"redis_version", "8.6.3", ""},    {"redis_version", "8.8.0", ""},
           {"redis_version", "10.0.0", ""},   {"redis_version", "255.255.255", ""},
           {"redis_version", "unstable", ""}, {"valkey_version", "7.2.12", both},
           {"valkey_version", "7.2.13", ""},  {"valkey_version", "8.0.8", both},
           {"valkey_version", "8.0.9", ""},   {"valkey_version", "8.1.6", both},
           {"valkey_version", "8.1.7", ""},   {"valkey_version", "9.0.3", both},
           {"valkey_version", "9.0.4", ""},   {"valkey_version", "9.1.0", ""},
           {"keydb_version", "6.3.4", ""},
       }) {
    ProbeStory story;
    story.server().info[field] = number;
    const Finding found = story.finding("holes");
    EXPECT_EQ(found.severity, holes.empty() ? Severity::ok : Severity::unknown) << number;
    if (!holes.empty()) {
      EXPECT_THAT(found.text, HasSubstr("(" + holes + ")")) << number;
    }
  }
}

TEST(ProbeJudge, WhatCouldNotBeTriedIsSaid) {
  ProbeStory story;
  for (const NeededCommand& command : needed_commands()) {
    if (!command.harmless) story.server().access[std::string(command.name)] = Access::untested;
  }
  story.server().refused["ACL DRYRUN"] = "NOPERM";
  EXPECT_THAT(story.faults(), UnorderedElementsAre("warning untried", "unknown spublish"));
  EXPECT_THAT(story.finding("untried").text, HasSubstr("HSET, PEXPIRE, HDEL, PUBLISH, SUBSCRIBE, UNSUBSCRIBE"));
  EXPECT_THAT(story.finding("untried").advice, HasSubstr("doctor --try NAME"));
  EXPECT_EQ(story.finding("permissions").id, "") << "nobody knows";
}

TEST(ProbeJudge, NamesThatTheUserMayUse) {
  ProbeStory story;
  story.server().access["pttl"] = Access::other_names;
  EXPECT_THAT(story.faults(), ElementsAre("warning untried")) << "the user may not ask which";
  story.server().key_patterns = {{"lock:*"}};
  EXPECT_THAT(story.faults(), ElementsAre("danger names")) << "a name of that form was tried";
  EXPECT_THAT(story.finding("names").advice, HasSubstr("&redisson_lock__channel:{lock:*}"));
  story.server().access["pttl"] = Access::allowed;
  EXPECT_THAT(story.faults(), ElementsAre("note names"));
  story.server().key_patterns = {{"x", "*"}};
  EXPECT_THAT(story.faults(), IsEmpty());
  story.server().key_patterns.emplace();
  EXPECT_THAT(story.faults(), ElementsAre("danger names"));
}

TEST(ProbeJudge, TheNameOfALockThatWasGiven) {
  ProbeStory story;
  story.facts.settings.lock = "job";
  EXPECT_THAT(story.faults(), IsEmpty());
  EXPECT_EQ(story.finding("names").severity, Severity::ok);
  story.server().access["publish"] = Access::other_names;
  EXPECT_THAT(story.faults(), ElementsAre("danger names"));
  EXPECT_EQ(story.finding("names").advice, "ACL SETUSER app ~job &redisson_lock__channel:{job}");
}

TEST(ProbeJudge, WaitIsMissedByWhoWantsAcks) {
  ProbeStory story;
  story.server().access["wait"] = Access::missing;
  EXPECT_THAT(story.faults(), ElementsAre("note wait"));
  story.facts.settings.acks = Acks::aof();
  EXPECT_THAT(story.faults(), ElementsAre("note wait"));
  story.server().access["waitaof"] = Access::missing;
  EXPECT_THAT(story.faults(), ElementsAre("warning waitaof", "note wait"));
  story.add_replica();
  story.facts.settings.acks = Acks::majority();
  EXPECT_THAT(story.faults(), ElementsAre("warning wait", "note waitaof"));
}

TEST(ProbeJudge, ManagedServersAnswerLittle) {
  ProbeStory story;
  story.server().info.clear();
  story.server().config.clear();
  story.server().role = {};
  story.server().client.clear();
  story.server().slow.reset();
  story.server().refused = {{"INFO", "NOPERM"}, {"CONFIG", "ERR unknown command 'CONFIG'"}};
  EXPECT_THAT(story.faults(), ElementsAre("unknown refused", "unknown refused", "unknown version", "unknown role"));
}

TEST(ProbeJudge, FarAwayWithoutTls) {
  ProbeStory story;
  story.facts.settings.host = "10.1.2.3";
  EXPECT_THAT(story.faults(), ElementsAre("note tls"));
  story.facts.settings.host = "redis.example.com";
  EXPECT_THAT(story.faults(), ElementsAre("note tls"));
  story.server().client["laddr"] = "203.0.113.7:6379";
  EXPECT_THAT(story.faults(), ElementsAre("warning tls"));
  story.server().client["laddr"] = "172.20.0.3:6379";
  EXPECT_THAT(story.faults(), ElementsAre("note tls"));
  story.facts.settings.tls = true;
  EXPECT_THAT(story.faults(), IsEmpty());
}

TEST(ProbeJudge, TlsThatTrustsAnybody) {
  ProbeStory story;
  story.facts.settings.tls = true;
  story.facts.settings.verifies = false;
  EXPECT_THAT(story.faults(), ElementsAre("warning tls"));
  story.facts.settings.host = "127.0.0.1";
  EXPECT_THAT(story.faults(), ElementsAre("warning tls")) << "whoever asked for TLS wants it";
}

TEST(ProbeJudge, TlsThatTrustsAnyServerOfItsAuthorities) {
  ProbeStory story;
  story.facts.settings.tls = true;
  story.facts.settings.verifies_host = false;
  EXPECT_THAT(story.faults(), ElementsAre("note tls"));
}

TEST(ProbeJudge, AnOpenDoor) {
  ProbeStory story;
  story.server().default_user_is_open = true;
  EXPECT_THAT(story.faults(), ElementsAre("note password"));
  story.server().config["bind"] = "* -::*";
  EXPECT_THAT(story.faults(), ElementsAre("note password"));
  story.server().config["protected-mode"] = "no";
  EXPECT_THAT(story.faults(), ElementsAre("danger password"));
  story.server().config["bind"] = "127.0.0.1";
  story.facts.settings.host = "10.1.2.3";
  EXPECT_THAT(story.faults(), ElementsAre("danger password", "note tls"));
}

/// A node of a cluster, on Redis 6.0, which does not report its own end of a connection.
TEST(ProbeJudge, ANodeIsAsFarAsTheAddressAtWhichItWasAsked) {
  ProbeStory story;
  story.facts.settings.host.clear();
  story.server().client.erase("laddr");
  story.server().default_user_is_open = true;
  story.server().address = "127.0.0.1:7000";
  EXPECT_THAT(story.faults(), ElementsAre("note password"));
  story.server().address = "[::1]:7000";
  EXPECT_THAT(story.faults(), ElementsAre("note password"));
  story.server().address = "10.1.2.3:7000";
  EXPECT_THAT(story.faults(), ElementsAre("danger password", "note tls"));
}

TEST(ProbeJudge, SlowAndBusy) {
  ProbeStory story;
  story.server().round_trips = RoundTrips{std::chrono::milliseconds(700), std::chrono::milliseconds(1400)};
  story.server().slow = SlowScripts{3, std::chrono::milliseconds(20)};
  story.server().busy = "BUSY Redis is busy running a script";
  EXPECT_THAT(story.faults(), ElementsAre("danger busy", "warning round_trip", "note slow_scripts"));
  EXPECT_THAT(story.finding("round_trip").text, HasSubstr("700.0 ms (p50), 1.4 s (p99)"));
  story.server().slow->longest = std::chrono::milliseconds(120);
  EXPECT_EQ(story.finding("slow_scripts").severity, Severity::warning);
}

TEST(ProbeJudge, KeysThatNobodyEnds) {
  ProbeStory story;
  story.server().keys = KeysSeen{.looked_at = 20'000, .eternal = 5, .eternal_names = {"a", "b\n", "c"}, .latches = 2};
  EXPECT_THAT(story.faults(), ElementsAre("warning eternal_locks", "note latches"));
  EXPECT_THAT(story.finding("eternal_locks").text, HasSubstr("\"a\", \"b\\n\", \"c\", ..."));
  EXPECT_THAT(story.finding("eternal_locks").text, HasSubstr("there are more"));
}

TEST(ProbeJudge, TheWorstComesFirst) {
  ProbeStory story;
  story.server().info["aof_enabled"] = "0";
  story.server().info["maxmemory"] = "1001";
  story.server().info["redis_version"] = "4.0";
  EXPECT_THAT(story.faults(), ElementsAre("danger version", "warning memory", "note persistence"));
}

}  // namespace
}  // namespace holdfast::probing::probe_judge_test
