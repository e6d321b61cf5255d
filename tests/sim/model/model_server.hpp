// SPDX-License-Identifier: Apache-2.0
// A server: keys, scripts, notices of change, and what a primary tells its replicas.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "sim/model/node.hpp"

namespace holdfast::test {

/// What one command has changed, as replicas are told of it.
struct Changes {
  struct Key {
    std::string name;
    std::optional<Keyspace::Value> value;  // empty: it is gone
  };
  struct Message {
    Channel kind = Channel::plain;
    std::string channel, text;
  };
  std::uint64_t offset = 0;  // with them
  std::vector<Key> keys;
  std::vector<Message> messages;
  bool all_gone = false;  // first of all, FLUSHALL
};

enum class AppendOnly { off, every_second, always };

struct ServerSettings : NodeSettings {
  AppendOnly append_only = AppendOnly::off;
  bool cluster = false;
  int databases = 16;
};

/// What a cluster says to a command before it is carried out.
class ClusterGate {
 public:
  ClusterGate() = default;
  virtual ~ClusterGate() = default;
  ClusterGate(const ClusterGate&) = delete;
  ClusterGate& operator=(const ClusterGate&) = delete;

  /// Throws Refused: MOVED and so on. `there`: which of the keys the node has; empty: they are sharded channels.
  virtual void check(Args keys, bool asking, const std::function<bool(std::string_view)>& there) const = 0;
  virtual void execute(Args command, std::string& out) const = 0;  // CLUSTER
  /// It was published here; other nodes are to hear it too.
  virtual void spread(Channel kind, std::string_view channel, std::string_view text) = 0;
};

class ModelServer final : public ModelNode, private ScriptHost {
 public:
  enum class Restored { kept, lost, older };

  explicit ModelServer(Time& time, ServerSettings settings = {});
  ~ModelServer() override;

  // ---- to be looked at ----
  /// The fields of a lock, which are its owners.
  std::vector<std::string> owners(std::string_view key);
  /// The elements of a list.
  std::vector<std::string> waiting(std::string_view key);
  Keyspace& keyspace() override { return keyspace_; }
  /// What has ended by now goes.
  Keyspace& keyspace_now();
  std::uint64_t offset() const { return offset_; }
  bool is_primary() const { return !primary_; }

  // ---- what can happen to it ----
  /// What an older state is, from now on.
  void save();
  void restart(Restored data);
  void forget_scripts() { loaded_.clear(); }
  /// FLUSHALL.
  void lose_all();
  void move_clock(base::Duration by) { skew_ += by; }
  void fill_memory(bool full);
  /// MISCONF, NOREPLICAS and so on; empty: it takes writes again.
  void refuse_writes(const std::string& error);
  /// Nothing more gets to the disk, or again.
  void hold_disk(bool held) { disk_held_ = held; }

  /// It does this instead of what the script says. For tests that are to notice it.
  void plant(const base::Script& script, Transition instead) { planted_[script.sha1] = instead; }

  // ---- replication: see replication.hpp ----
  struct Replica {
    Place place;
    std::uint64_t acked = 0;
    std::function<void(const std::shared_ptr<const Changes>&)> tell;
  };
  using ReplicaId = std::list<Replica>::iterator;
  ReplicaId add_replica(Replica replica) { return replicas_.insert(replicas_.end(), std::move(replica)); }
  void remove_replica(ReplicaId replica) { replicas_.erase(replica); }
  void on_ack(ReplicaId replica, std::uint64_t offset);
  std::size_t replicas() const { return replicas_.size(); }
  void follow(const Place& primary);
  void lead();
  void apply(const Changes& changes);
  void copy_from(const ModelServer& primary);
  /// Called when it has come up, and when it has gone down.
  void on_process(std::function<void()> changed) { process_changed_ = std::move(changed); }

  // ---- a cluster: see cluster.hpp ----
  void set_gate(ClusterGate* gate) { gate_ = gate; }
  /// As a command does, so that all are told who are to know.
  void change(const std::function<void(Keyspace&)>& how);
  std::int64_t hear(Channel kind, std::string_view channel, std::string_view text);
  /// These leave: whoever listens to them is told. `moves` says which.
  void give_away(const std::function<bool(std::string_view channel)>& moves);
  void die();

 private:
  using Handler = void (ModelServer::*)(Session& session, Args command, std::string& out);
  struct Verb;
  struct Waiting {
    SessionPtr session{};
    std::uint64_t offset = 0;
    std::size_t replicas = 0;
    bool file = false;  // WAITAOF: and the append-only file
    Time::Id limit{};
    bool limited = false;
  };

  static const std::unordered_map<std::string_view, Verb>& verbs();
  const Verb& verb_of(const Session& session, Args command);
  void check_to_queue(Session& session, Args command) override;
  void execute(Session& session, Args command, std::string& out) override;
  void check_channels(const Session& session, Args channels) override;
  void on_command_done(Session& session) override;
  void on_session_ended(Session& session) override;
  std::string_view mode() const override { return settings_.cluster ? "cluster" : "standalone"; }
  std::string_view role() const override { return is_primary() ? "master" : "replica"; }

  Keyspace::Millis millis() const;
  Args keys_of(const Verb& verb, Args command) const;
  void check_keys(const Session& session, const Verb& verb, Args keys);

  // commands: data_commands.cpp
  void get(Session&, Args command, std::string& out);
  void strlen(Session&, Args command, std::string& out);
  void set(Session&, Args command, std::string& out);
  void del(Session&, Args command, std::string& out);
  void exists(Session&, Args command, std::string& out);
  void type(Session&, Args command, std::string& out);
  void pttl(Session&, Args command, std::string& out);
  void pexpire(Session&, Args command, std::string& out);
  void hset(Session&, Args command, std::string& out);
  void hdel(Session&, Args command, std::string& out);
  void hget(Session&, Args command, std::string& out);
  void hlen(Session&, Args command, std::string& out);
  void hexists(Session&, Args command, std::string& out);
  void hgetall(Session&, Args command, std::string& out);
  void rpush(Session&, Args command, std::string& out);
  void lrange(Session&, Args command, std::string& out);
  void zrange(Session&, Args command, std::string& out);
  void zscore(Session&, Args command, std::string& out);
  void zadd(Session&, Args command, std::string& out);
  void scan(Session&, Args command, std::string& out);
  void dbsize(Session&, Args command, std::string& out);
  void flushall(Session&, Args command, std::string& out);
  // commands: server_commands.cpp
  void select(Session&, Args command, std::string& out);
  void info(Session&, Args command, std::string& out);
  void role_of(Session&, Args command, std::string& out);
  void clock_of(Session&, Args command, std::string& out);
  void wait(Session& session, Args command, std::string& out);
  void wait_aof(Session& session, Args command, std::string& out);
  void publish_plain(Session&, Args command, std::string& out);
  void publish_sharded(Session&, Args command, std::string& out);
  void asking(Session& session, Args command, std::string& out);
  void cluster(Session&, Args command, std::string& out);
  void script(Session&, Args command, std::string& out);
  void evalsha(Session&, Args command, std::string& out);
  void eval(Session&, Args command, std::string& out);
  void run_script(const KnownScript& script, Args command, std::string& out);

  // what scripts do
  std::int64_t publish(Channel kind, std::string_view channel, std::string_view text) override;
  std::int64_t listeners(Channel kind, std::string_view channel) override;
  bool has_all(Args keys) override;
  bool may(std::string_view command) const override { return !forbidden(command); }

  void on_changed(std::string_view key);
  void remember(Session& session, Args keys);
  void tell_trackers();
  void spread_changes();

  std::size_t acked(std::uint64_t offset) const;
  bool answered(const Waiting& waiting) const;
  void begin_wait(Session& session, Waiting waiting, std::int64_t limit, std::string& out);
  void put_acks(const Waiting& waiting, std::string& out) const;
  void end_waits(const std::function<bool(const Waiting&)>& which);
  void refuse_waits();
  void write_to_disk();

  const ServerSettings settings_;
  Keyspace keyspace_;
  std::unordered_set<std::string_view> loaded_;  // SHA-1s of scripts
  std::map<std::string_view, Transition> planted_;
  base::Duration skew_{};

  std::unordered_map<std::string, std::vector<std::int64_t>, Keyspace::Hash, std::equal_to<>> trackers_;
  std::vector<std::string> changed_;  // of those that are tracked
  bool all_changed_ = false;

  std::optional<Place> primary_;
  std::list<Replica> replicas_;
  std::uint64_t offset_ = 0, on_disk_ = 0;
  bool disk_held_ = false, to_be_written_ = false;
  std::vector<std::string> written_;  // keys
  std::vector<Changes::Message> told_;
  bool all_gone_ = false;
  std::list<Waiting> waiting_;
  std::function<void()> process_changed_;

  ClusterGate* gate_ = nullptr;
  Keyspace saved_;
};

}  // namespace holdfast::test
