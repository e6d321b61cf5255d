// SPDX-License-Identifier: Apache-2.0
// A server that refuses, in each way that can be provoked.
#pragma once

#include <deque>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>

#include "support/cluster.hpp"
#include "support/raw.hpp"
#include "support/redis_server.hpp"
#include "support/server_program.hpp"
#include "support/wait.hpp"
#include "user_without.hpp"

namespace holdfast::test {

/// Each provokes one, and returns it. One of them for one object.
class Refusals {
 public:
  using Provoke = Reply (Refusals::*)();

  // ---- for now ----
  Reply loading() {
    Raw raw = plain({"loading-process-events-interval-bytes 1024"});
    raw.command("DEBUG", "POPULATE", 60'000, "filler", 100);  // a minute
    raw.command("CONFIG", "SET", "key-load-delay", 1000);
    in_background("DEBUG", "RELOAD");
    const Reply refusal = until_refused(raw, "EXISTS", "key");
    servers_.front().kill();
    return refusal;
  }
  Reply busy() {
    Raw raw = plain({"lua-time-limit 10"});
    in_background("EVAL", "while true do end", "0");
    const Reply refusal = until_refused(raw, "EXISTS", "key");
    raw.command("SCRIPT", "KILL");
    return refusal;
  }
  Reply killed_script() {
    Raw raw = plain({"lua-time-limit 10"});
    in_background("EVAL", "while true do end", "0");
    until_refused(raw, "EXISTS", "key");
    raw.command("SCRIPT", "KILL");
    background_.back().join();
    return answer_;
  }
  Reply unkillable() {
    Raw raw = plain({"lua-time-limit 10"});
    in_background("EVAL", "redis.call('SET', KEYS[1], 1) while true do end", "1", "key");
    until_refused(raw, "EXISTS", "key");
    const Reply refusal = raw.command("SCRIPT", "KILL");
    servers_.front().kill();
    return refusal;
  }
  Reply masterdown() {
    Raw raw = plain({"replica-serve-stale-data no"});
    raw.command("REPLICAOF", "127.0.0.1", "1");
    return raw.command("EXISTS", "key");
  }
  Reply stale_in_script() {
    Raw raw = plain({"replica-serve-stale-data no"});
    raw.command("REPLICAOF", "127.0.0.1", "1");
    return raw.command("EVAL", "#!lua flags=no-writes,allow-stale\nreturn redis.call('GET', KEYS[1])", 1, "key");
  }
  Reply noreplicas() { return plain({"min-replicas-to-write 1"}).command("SET", "key", 1); }
  Reply noreplicas_in_script() { return plain({"min-replicas-to-write 1"}).send(kSet); }
  Reply misconf() { return broken_disk().command("SET", "key", 1); }
  Reply misconf_in_script() { return broken_disk().send(kSet); }
  Reply unblocked() {
    Raw raw = plain();
    in_background("BLPOP", "key", "0");
    eventually([&] { return raw.info("clients", "blocked_clients") == "1"; });
    raw.command("REPLICAOF", "127.0.0.1", "1");
    background_.back().join();
    return answer_;
  }
  Reply noscript() { return plain().command("EVALSHA", std::string(40, '0'), 0); }
  Reply maxclients() {
    Raw raw = plain();
    raw.command("CONFIG", "SET", "maxclients", 1);
    return Raw(servers_.front()).unasked();  // it hangs up at once, perhaps before anything could be sent
  }

  // ---- a replica ----
  Reply readonly() { return replica().command("SET", "key", 1); }
  Reply readonly_in_script() { return replica().send(kSet); }
  Reply redirect() {
    Raw raw = replica();
    raw.command("CLIENT", "CAPA", "redirect");
    return raw.command("SET", "key", 1);
  }
  Reply wait_at_replica() { return replica().command("WAIT", 1, 10); }

  // ---- permissions ----
  Reply noperm_command() { return user("-set").command("SET", "key", 1); }
  Reply noperm_key() { return user("resetkeys ~other").command("SET", "key", 1); }
  Reply noperm_channel() { return user("resetchannels").command("PUBLISH", "channel", 1); }
  Reply noperm_command_in_script() { return user("-set").send(kSet); }
  Reply noperm_key_in_script() {
    return user("resetkeys ~key").command("EVAL", "return redis.call('SET', 'other', 1)", 1, "key");
  }
  Reply noperm_channel_in_script() {
    return user("resetchannels").command("EVAL", "return redis.call('PUBLISH', 'channel', 1)", 1, "key");
  }
  Reply noauth() { return with_password().command("EXISTS", "key"); }
  Reply noauth_hello() { return with_password().command("HELLO", 3); }
  Reply wrongpass() { return with_password().command("AUTH", "default", "wrong"); }

  // ---- what it cannot do ----
  Reply oom() { return full().command("SET", "key", 1); }
  Reply oom_in_script() { return full().send(kSet); }
  Reply noproto() { return plain().command("HELLO", 9); }
  Reply wrongtype() {
    Raw raw = plain();
    raw.command("LPUSH", "key", 1);
    return raw.command("GET", "key");
  }
  Reply wrongtype_in_script() {
    Raw raw = plain();
    raw.command("LPUSH", "key", 1);
    return raw.command("EVAL", "return redis.call('GET', KEYS[1])", 1, "key");
  }
  Reply execabort() {
    Raw raw = plain();
    raw.command("MULTI");
    raw.command("SET", "key");
    return raw.command("EXEC");
  }
  Reply unknown_command() { return plain().command("NOSUCH", "1"); }
  Reply unknown_hello() { return without("HELLO").command("HELLO", 3); }
  Reply unknown_evalsha() { return without("EVALSHA").command("EVALSHA", "1", "0"); }
  Reply unknown_in_script() { return plain().command("EVAL", "return redis.call('NOSUCH')", 0); }
  Reply compiling() { return plain().command("EVAL", "this is no Lua", 0); }
  Reply error_of_script() { return plain().command("EVAL", "error('boom')", 0); }
  Reply waitaof() { return plain().command("WAITAOF", 1, 0, 10); }
  Reply no_such_database() { return plain().command("SELECT", 99); }
  Reply no_integer() { return plain().command("PEXPIRE", "key", "soon"); }

  // ---- clusters ----
  Reply no_cluster() { return plain().command("CLUSTER", "SLOTS"); }
  Reply cluster_database() { return one_node().command("SELECT", 1); }
  Reply crossslot() { return one_node().command("MGET", "a", "b"); }
  Reply crossslot_in_script() { return one_node().command("EVAL", "return redis.call('MGET', 'a', 'b')", 1, "a"); }
  Reply moved() { return Raw(to()).command("GET", name()); }
  Reply not_served() {
    servers_.emplace_back(ServerOptions{.cluster_member = true, .config = {"cluster-require-full-coverage no"}});
    Raw raw(servers_.front());
    raw.command("CLUSTER", "ADDSLOTS", slot_of(raw, "a"));
    eventually([&] { return raw.command("CLUSTER", "INFO").text.find("cluster_state:ok") != std::string::npos; });
    return raw.command("GET", "b");
  }
  Reply down() { return down_node().command("GET", "a"); }
  Reply down_in_script() { return down_node().command("EVAL", "return redis.call('GET', 'a')", 0); }
  Reply down_write_in_script() {
    return down_node("cluster-allow-reads-when-down yes").command("EVAL", "return redis.call('SET', 'a', 1)", 0);
  }
  Reply elsewhere_in_script() {
    return Raw(from()).command("EVAL", "return redis.call('GET', ARGV[1])", 1, name(), cluster().name_on(to()));
  }
  Reply ask() { return Raw(slot_leaves()).command("GET", gone()); }
  Reply leaves_some() { return Raw(slot_leaves()).command("MGET", here(), gone()); }
  Reply leaves_key_in_script() {
    return Raw(slot_leaves()).command("EVAL", "return redis.call('GET', ARGV[1])", 1, here(), gone());
  }
  Reply leaves_some_in_script() {
    return Raw(slot_leaves()).command("EVAL", "return redis.call('MGET', KEYS[1], ARGV[1])", 1, here(), gone());
  }
  Reply comes_unasked() { return slot_comes(false).command("GET", gone()); }
  Reply comes_some() { return slot_comes().command("MGET", here(), gone()); }
  Reply comes_some_in_script() {
    return slot_comes().command("EVAL", "return redis.call('MGET', KEYS[1], ARGV[1])", 1, gone(), here());
  }

  ~Refusals() {
    for (RedisServer& each : servers_) {
      if (each.up()) each.kill();
    }
    for (std::thread& each : background_) {
      if (each.joinable()) each.join();
    }
  }
  Refusals() = default;
  Refusals(const Refusals&) = delete;
  Refusals& operator=(const Refusals&) = delete;

 private:
  inline static const std::vector<std::string> kSet{"EVAL", "return redis.call('SET', KEYS[1], 1)", "1", "key"};

  Raw plain(std::vector<std::string> config = {}) {
    if (server_like_redis(7, 0)) config.emplace_back("enable-debug-command yes");
    servers_.emplace_back(ServerOptions{.config = std::move(config)});
    return Raw(servers_.back());
  }
  Raw without(const std::string& command) {
    servers_.emplace_back(ServerOptions{.renamed_commands = {{command, ""}}});
    return Raw(servers_.back());
  }
  /// The user `default` has a password, and this connection has not logged in.
  Raw with_password() {
    Raw raw = plain();
    raw.command("CONFIG", "SET", "requirepass", "secret");
    Endpoint endpoint = Endpoint::of(servers_.back());
    return Raw(endpoint);
  }
  Raw user(const std::string& rights) {
    Raw raw = plain();
    return user_without(servers_.back(), raw, rights);
  }
  Raw full() {
    Raw raw = plain();
    raw.command("CONFIG", "SET", "maxmemory", 1);
    return raw;
  }
  Raw replica() {
    Raw raw = plain();
    raw.command("REPLICAOF", "127.0.0.1", "1");
    return raw;
  }
  /// Its latest snapshot has failed, since a folder has the file's name.
  Raw broken_disk() {
    Raw raw = plain({"save 3600 1"});
    const std::string file = servers_.back().data_folder() + "/dump.rdb";
    std::filesystem::remove(file);
    std::filesystem::create_directories(file + "/in-the-way");
    eventually([&] {
      raw.command("BGSAVE");
      return raw.info("persistence", "rdb_last_bgsave_status") == "err";
    });
    return raw;
  }

  template <class... Args>
  void in_background(const Args&... args) {
    background_.emplace_back([this, words = std::vector<std::string>{args...}] {
      try {
        answer_ = Raw(servers_.front()).send(words);
      } catch (const std::runtime_error&) {
        // The server was killed meanwhile.
      }
    });
  }
  template <class... Args>
  static Reply until_refused(Raw& raw, const Args&... args) {
    Reply reply;
    eventually([&] { return (reply = raw.command(args...)).is_error(); });
    return reply;
  }

  static std::int64_t slot_of(Raw& raw, const std::string& key) {
    return raw.command("CLUSTER", "KEYSLOT", key).integer;
  }
  Raw one_node() {
    servers_.emplace_back(ServerOptions{.cluster = true});
    return Raw(servers_.back());
  }
  /// It serves some slots only, and a cluster that does not serve all is down.
  Raw down_node(const std::string& more = "cluster-require-full-coverage yes") {
    servers_.emplace_back(ServerOptions{.cluster_member = true, .config = {more}});
    Raw raw(servers_.back());
    raw.command("CLUSTER", "ADDSLOTS", slot_of(raw, "a"));
    return raw;
  }

  Cluster& cluster() {
    if (!cluster_) cluster_.emplace(ClusterOptions{.replicas = 0});
    return *cluster_;
  }
  RedisServer& from() { return cluster().node(0); }
  RedisServer& to() { return cluster().node(1); }
  std::string name() { return cluster().name_on(from()); }
  std::string here() { return "{" + name() + "}:here"; }
  std::string gone() { return "{" + name() + "}:gone"; }
  /// The slot of both is under way, and one has gone.
  RedisServer& slot_leaves() {
    Raw raw(from());
    raw.command("SET", here(), 1);
    raw.command("SET", gone(), 1);
    cluster().begin_move(cluster().slot_of(here()), to());
    cluster().move_key(gone(), to());
    return from();
  }
  Raw slot_comes(bool asking = true) {
    slot_leaves();
    Raw raw(to());
    if (asking) raw.command("ASKING");
    return raw;
  }

  std::deque<RedisServer> servers_;
  std::optional<Cluster> cluster_;
  Reply answer_;
  std::deque<std::thread> background_;
};

}  // namespace holdfast::test
