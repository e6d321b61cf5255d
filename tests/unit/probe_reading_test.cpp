// SPDX-License-Identifier: Apache-2.0
// What servers' replies are read as, odd ones among them.
#include <fstream>
#include <set>
#include <sstream>

#include "probe_story.hpp"
#include "support/paths.hpp"

namespace holdfast::probing::probe_reading_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::IsSubsetOf;
using testing::Pair;
using testing::UnorderedElementsAre;

/// Puts one question of a server, and gives it these replies.
void answer(NodeFacts& node, std::string_view question, const std::vector<base::Reply>& replies) {
  for (const Question& each : questions_for_server()) {
    if (each.name == question) each.read(node, replies);
  }
}

TEST(ProbeReading, Info) {
  EXPECT_THAT(read_info("# Server\r\nredis_version:7.0.15\r\n\r\nempty:\r\n:odd\r\nno colon\r\nlast:1:2"),
              UnorderedElementsAre(Pair("redis_version", "7.0.15"), Pair("empty", ""), Pair("last", "1:2")));
  EXPECT_THAT(read_info(""), IsEmpty());
  EXPECT_EQ(number_of(read_info("a:12\r\nb:x"), "a"), 12);
  EXPECT_EQ(number_of(read_info("a:12\r\nb:x"), "b"), std::nullopt);
}

TEST(ProbeReading, Roles) {
  const Role primary = read_role(list(
      {text("master"), number(42), list({list({text("10.0.0.2"), text("6380"), text("40")}), list({}), number(1)})}));
  EXPECT_EQ(primary.name, "master");
  EXPECT_EQ(primary.offset, 42);
  ASSERT_EQ(primary.replicas.size(), 1U);
  EXPECT_EQ(primary.replicas[0].port, 6380);
  EXPECT_EQ(primary.replicas[0].offset, 40);
  const Role replica = read_role(list({text("slave"), text("10.0.0.1"), number(6379), text("connect"), number(-1)}));
  EXPECT_EQ(replica.primary_host, "10.0.0.1");
  EXPECT_EQ(replica.primary_port, 6379);
  EXPECT_EQ(read_role(error("ERR unknown command")).name, "");
  EXPECT_EQ(read_role(list({})).name, "");
  EXPECT_EQ(read_role(list({text("master")})).name, "master");
}

TEST(ProbeReading, WhetherACommandIsThereAndPermitted) {
  const std::vector<std::pair<base::Reply, Access>> replies{
      {text("OK"), Access::allowed},
      {number(0), Access::allowed},
      {text("This user has no permissions to run the 'hdel' command"), Access::denied},
      {text("User app has no permissions to run the 'client|kill' command"), Access::denied},
      {text("This user has no permissions to access the 'k' key"), Access::other_names},
      {text("This user has no permissions to access the 'c' channel"), Access::other_names},
      {text("ERR The user executing the script can't run this command or subcommand"), Access::denied},
      {text("ERR The user executing the script can't publish to the channel mentioned in the command"),
       Access::other_names},
      {text("ERR ACL failure in script: User app has no permissions to run the 'hset' command"), Access::denied},
      {text("ERR ACL failure in script: No permissions to access a key"), Access::other_names},
      {text("ERR ACL failure in script: No permissions to access a channel"), Access::other_names},
      {error("NOPERM this user has no permissions to run the 'get' command or its subcommand"), Access::denied},
      {error("NOPERM this user has no permissions to access one of the keys used as arguments"), Access::other_names},
      {error("NOPERM User app has no permissions to run the 'wait' command"), Access::denied},
      {error("ERR unknown command `WAITAOF`, with args beginning with: `0` `0` `0` "), Access::missing},
      {error("ERR Command 'WAITAOF' not found"), Access::missing},
      {error("ERR unknown subcommand 'TRACKING'. Try CLIENT HELP."), Access::missing},
      {error("ERR Unknown subcommand or wrong number of arguments for 'TRACKING'. Try CLIENT HELP"), Access::missing},
      {error("ERR Could not find scripting engine 'lua'"), Access::missing},
      {error("NOSCRIPT No matching script. Please use EVAL."), Access::allowed},
      {error("ERR WAIT cannot be used with replica instances. Please also note..."), Access::allowed},
      {error("WRONGTYPE Operation against a key holding the wrong kind of value"), Access::allowed},
      {error("ERR syntax error"), Access::allowed},
  };
  for (const auto& [reply, access] : replies) EXPECT_EQ(read_access(reply), access) << reply.text;
}

TEST(ProbeReading, ErrorsAreShownWithoutArguments) {
  EXPECT_EQ(in_words("ERR unknown command 'X', with args beginning with: 'secret'"), "ERR unknown command 'X'");
  EXPECT_EQ(in_words("ERR two\r\nlines"), "ERR two");
}

TEST(ProbeReading, NumbersThatNobodyCountsToAreNone) {
  for (const char* each :
       {"9223372036854775807", "-9223372036854775808", "10000000000000001", "99999999999999999999"}) {
    EXPECT_EQ(number_of(read_info(std::string("a:") + each), "a"), std::nullopt) << each;
    EXPECT_EQ(read_role(list({text("master"), text(each), list({})})).offset, 0) << each;
  }
  EXPECT_EQ(number_of(read_info("a:10000000000000000"), "a"), 10'000'000'000'000'000);
  const base::Reply entry = list({number(1), number(2), number(INT64_MAX), list({text("EVAL")})});
  EXPECT_EQ(read_slow_log(list({entry})).longest, microseconds(0));
}

TEST(ProbeReading, SlowScripts) {
  const auto entry = [](std::int64_t us, const char* command) {
    return list({number(1), number(1'700'000'000), number(us), list({text(command), text("x")})});
  };
  const SlowScripts slow = read_slow_log(
      list({entry(500, "EVALSHA"), entry(90'000, "KEYS"), entry(700, "eval"), list({number(1)}), text("?")}));
  EXPECT_EQ(slow.count, 2U);
  EXPECT_EQ(slow.longest, microseconds(700));
}

TEST(ProbeReading, Addresses) {
  EXPECT_EQ(host_port("10.0.0.1", 6379), "10.0.0.1:6379");
  EXPECT_EQ(host_port("::1", 6379), "[::1]:6379");
  EXPECT_EQ(to_port("6379"), 6379);
  EXPECT_EQ(to_port("0"), 0);
  EXPECT_EQ(to_port("70000"), 0);
  EXPECT_EQ(to_port("x"), 0);
}

TEST(ProbeReading, Times) {
  EXPECT_EQ(read_time(list({text("1700000000"), text("42")})), std::chrono::seconds(1'700'000'000) + microseconds(42));
  EXPECT_EQ(read_time(list({text("x"), text("42")})), std::nullopt);
  EXPECT_EQ(read_time(error("NOPERM")), std::nullopt);
  EXPECT_EQ(read_time(list({text("9223372036854775807"), text("42")})), std::nullopt);
  EXPECT_EQ(read_time(list({text("253402300800"), text("42")})), std::nullopt);
  EXPECT_EQ(read_time(list({text("-1"), text("42")})), std::nullopt);
  EXPECT_EQ(read_time(list({text("1700000000"), text("1000000")})), std::nullopt);
  std::vector<microseconds> hundred;
  for (int i = 100; i > 0; --i) hundred.emplace_back(i);
  EXPECT_EQ(summarize(hundred).p50, microseconds(50));
  EXPECT_EQ(summarize(hundred).p99, microseconds(99));
  EXPECT_EQ(summarize({microseconds(7)}).p99, microseconds(7));
}

TEST(ProbeReading, ADryRunThatIsRefusedSaysNothingOfTheCommands) {
  NodeFacts node;
  answer(node, "ACL DRYRUN",
         std::vector<base::Reply>(needed_commands().size(), error("NOPERM no permissions to run 'acl|dryrun'")));
  EXPECT_FALSE(node.dry_run);
  EXPECT_THAT(node.access, IsEmpty());
}

TEST(ProbeReading, WithoutADryRunTheWholeOfTheRightsCounts) {
  NodeFacts node;
  std::vector<base::Reply> replies;
  for (const NeededCommand& command : needed_commands()) {
    if (command.harmless) replies.push_back(text("OK"));
  }
  answer(node, "trial of commands", replies);
  EXPECT_EQ(node.access["hset"], Access::untested);
  EXPECT_EQ(node.access["hexists"], Access::allowed);
  answer(node, "ACL GETUSER", {list({text("flags"), list({text("on")}), text("commands"), text("+@all")})});
  answer(node, "trial of commands", replies);
  EXPECT_EQ(node.access["hset"], Access::allowed);
}

TEST(ProbeReading, WhichKeysAUserMayUse) {
  const auto user = [](base::Reply keys, std::vector<base::Reply> selectors = {}) {
    return read_key_patterns(list({text("flags"), list({text("on")}), text("keys"), std::move(keys), text("selectors"),
                                   list(std::move(selectors))}));
  };
  using Patterns = std::vector<std::string>;
  EXPECT_EQ(user(text("~lock:* %R~seen:* %RW~both")), (Patterns{"lock:*", "both"}));
  EXPECT_EQ(user(list({text("lock:*"), text("x")})), (Patterns{"lock:*", "x"})) << "before Redis 7";
  EXPECT_EQ(user(text("")), Patterns{});
  EXPECT_EQ(user(text("~a[12]*")), std::nullopt) << "not simply";
  EXPECT_EQ(user(text("~a"), {list({text("keys")})}), std::nullopt);
  EXPECT_EQ(read_key_patterns(error("NOPERM")), std::nullopt);
  EXPECT_EQ(name_like("lock:*:?"), "lock:holdfast:doctor:x");
}

TEST(ProbeReading, ANameIsTriedThatTheUserMayUse) {
  const auto tried = [](const NodeFacts& node, const char* prefix, const char* lock = "") {
    Settings settings;
    settings.name_prefix = prefix;
    settings.lock = lock;
    for (const Question& question : questions_for_server()) {
      if (question.name != "ACL DRYRUN") continue;
      for (const base::Command& command : question.commands(node, settings)) {
        if (command.args[3] == "pttl") return command.args[4];
      }
    }
    return std::string();
  };
  NodeFacts node;
  node.user = "app";
  EXPECT_EQ(tried(node, ""), "holdfast:doctor");
  node.key_patterns = {{"app:seen", "lock:*"}};
  EXPECT_EQ(tried(node, "lock:"), "lock:holdfast:doctor");
  EXPECT_EQ(tried(node, "x:"), "x:holdfast:doctor");
  EXPECT_EQ(tried(node, "x:", "job"), "x:job");
}

TEST(ProbeReading, WhatAScriptSaysOfItsOwnUser) {
  const auto said = [](const std::string& publish) {
    NodeFacts node;
    std::vector<base::Reply> replies;
    for (const NeededCommand& command : needed_commands()) {
      const bool subscribes = command.name.ends_with("subscribe");
      replies.push_back(text(command.name == "publish"   ? publish
                             : subscribes                ? "ERR This Redis command is not allowed from script"
                             : command.name == "hset"    ? "ERR The user executing the script can't run this command"
                             : command.name == "waitaof" ? "unknown command"
                                                         : "OK"));
    }
    answer(node, "ACL check", {list(std::move(replies))});
    return node.access;
  };
  std::map<std::string, Access> access = said("OK");
  EXPECT_EQ(access["pttl"], Access::allowed);
  EXPECT_EQ(access["hset"], Access::denied);
  EXPECT_EQ(access["waitaof"], Access::missing);
  EXPECT_EQ(access["subscribe"], Access::denied) << "the channel is permitted, so it is the command that is not";
  EXPECT_EQ(access["unsubscribe"], Access::denied);
  access = said("ERR The user executing the script can't publish to the channel mentioned in the command");
  EXPECT_EQ(access["publish"], Access::other_names);
  EXPECT_EQ(access["subscribe"], Access::other_names);
  access = said("ERR The user executing the script can't run this command or subcommand");
  EXPECT_EQ(access["publish"], Access::denied);
  EXPECT_EQ(access["subscribe"], Access::untested);
  NodeFacts older;
  answer(older, "ACL check", {list({})});
  answer(older, "ACL check", {error("NOPERM")});
  EXPECT_THAT(older.access, IsEmpty());
}

TEST(ProbeReading, NothingThatIsSentHasAnEffect) {
  NodeFacts node;
  node.user = "app";
  const std::set<std::string> harmless{"INFO",
                                       "ROLE",
                                       "CLIENT INFO",
                                       "ACL WHOAMI",
                                       "ACL GETUSER",
                                       "ACL DRYRUN",
                                       "CONFIG GET",
                                       "COMMAND INFO",
                                       "SLOWLOG GET",
                                       "CLIENT LIST",
                                       "CLIENT TRACKING",
                                       "EVAL",
                                       "EVALSHA",
                                       "PTTL",
                                       "HELLO",
                                       "HEXISTS",
                                       "PING",
                                       "GET",
                                       "TYPE",
                                       "HLEN",
                                       "HGETALL",
                                       "TIME",
                                       "EXISTS",
                                       "LINDEX",
                                       "LRANGE",
                                       "ZSCORE",
                                       "ZRANK",
                                       "ZRANGE",
                                       "LLEN",
                                       "ZRANGEBYSCORE",
                                       "ZCOUNT",
                                       "ZCARD",
                                       "STRLEN",
                                       "HGET",
                                       "HSCAN",
                                       "SCAN",
                                       "PUBSUB NUMSUB",
                                       "WAIT",
                                       "WAITAOF",
                                       "SENTINEL GET-MASTER-ADDR-BY-NAME",
                                       "SENTINEL MASTER",
                                       "SENTINEL SLAVES",
                                       "SENTINEL SENTINELS",
                                       "SENTINEL CKQUORUM"};
  std::set<std::string> sent;
  for (const auto questions : {questions_for_server(), questions_for_sentinel()}) {
    for (const Question& question : questions) {
      for (const base::Command& command : question.commands(node, {})) {
        std::string name = command.args[0];
        const bool is_long = command.args.size() > 1 && harmless.contains(name + " " + command.args[1]);
        if (is_long) name += " " + command.args[1];
        std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
        if (!harmless.contains(name) && command.args.size() > 1) {
          std::string second = command.args[1];
          std::ranges::transform(second, second.begin(),
                                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
          name += " " + second;
        }
        sent.insert(name);
      }
    }
  }
  EXPECT_THAT(sent, IsSubsetOf(harmless));
}

/// Whatever docs/least-acl.acl grants, or mentions, is looked at.
TEST(ProbeReading, EveryPermissionOfTheDocumentIsAskedFor) {
  // A login that may not do the first fails; the others are for RESP2.
  std::set<std::string> known{"select", "client|id", "client|setname"};
  for (const NeededCommand& command : needed_commands()) {
    std::string name(command.name);
    std::ranges::replace(name, ' ', '|');
    known.insert(name);
    known.insert(name.substr(0, name.find('|')));
  }
  std::ifstream file(test::source_path("docs/least-acl.acl"));
  std::set<std::string> granted;
  for (std::string word; file >> word;) {
    word.erase(std::remove_if(word.begin(), word.end(), [](char c) { return c == '`' || c == ',' || c == ';'; }),
               word.end());
    if (word.starts_with('+') && word.find("…") == word.npos) granted.insert(word.substr(1));
  }
  EXPECT_THAT(granted, testing::Contains("hset"));
  EXPECT_THAT(granted, IsSubsetOf(known));
}

TEST(ProbeKeys, AWalkFindsLocksWithoutExpiry) {
  KeyWalk walk("app:");
  EXPECT_THAT(walk.commands()[0].args, ElementsAre("SCAN", "0", "COUNT", "500"));
  ASSERT_TRUE(walk.on_replies({list({text("7"), list({text("app:a"), text("other"), text("app:b"),
                                                      text("redisson_unlock_latch:{x}:y"), text("app:c")})})}));
  EXPECT_EQ(walk.commands().size(), 4U) << "one is not ours";
  ASSERT_TRUE(walk.on_replies({number(-1), number(5000), number(-1), number(-1)}));
  EXPECT_THAT(walk.commands()[0].args, ElementsAre("TYPE", "app:a"));
  ASSERT_TRUE(walk.on_replies({text("hash"), text("string"), text("hash")}));
  EXPECT_THAT(walk.commands()[1].args, ElementsAre("HSCAN", "app:c", "0", "COUNT", "2"));
  const auto fields = [](const char* field) { return list({text("0"), list({text(field), text("1")})}); };
  ASSERT_TRUE(walk.on_replies({fields("99999999-2222-4333-8444-555555555555:7"), fields("color")}));
  EXPECT_THAT(walk.commands()[0].args, ElementsAre("SCAN", "7", "COUNT", "500"));
  EXPECT_FALSE(walk.seen().all);
  ASSERT_FALSE(walk.on_replies({list({text("0"), list({})})}));
  EXPECT_EQ(walk.seen().eternal, 1U);
  EXPECT_THAT(walk.seen().eternal_names, ElementsAre("app:a"));
  EXPECT_EQ(walk.seen().latches, 1U);
  EXPECT_EQ(walk.seen().looked_at, 5U);
  EXPECT_TRUE(walk.seen().all);
}

TEST(ProbeKeys, AWalkEndsAtItsBoundOrWhenItIsRefused) {
  KeyWalk walk("x");
  std::size_t pages = 1;
  while (walk.on_replies({list({text("1"), list(std::vector<base::Reply>(500, text("k")))})})) ++pages;
  EXPECT_EQ(pages, KeyWalk::kMostKeys / 500);
  EXPECT_FALSE(walk.seen().all);
  KeyWalk refused("");
  EXPECT_FALSE(refused.on_replies({error("NOPERM this user has no permissions to run the 'scan' command")}));
  EXPECT_FALSE(refused.refused().empty());
}

}  // namespace
}  // namespace holdfast::probing::probe_reading_test
