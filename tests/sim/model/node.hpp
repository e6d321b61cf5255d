// SPDX-License-Identifier: Apache-2.0
// What servers and Sentinels have in common: connections, logins, channels, and what can happen to a process.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sim/model/keyspace.hpp"
#include "sim/model/resp3.hpp"
#include "sim/model/time.hpp"
#include "sim/model/transitions.hpp"

namespace holdfast::test {

struct Place {
  std::string host = "10.0.0.1";
  std::uint16_t port = 6379;
  friend auto operator<=>(const Place&, const Place&) = default;
};
std::string to_string(const Place& place);

/// Like which server it is: what it can do, and in which order it says it.
struct Likeness {
  int major = 7, minor = 0;  // of Redis
  bool valkey = false;
  bool refuses_to_leave_nothing = false;  // UNSUBSCRIBE by who listens nowhere, as Valkey 8.0

  bool has_sharded_channels() const { return major >= 7; }
  /// Behind MULTI, with a full memory, what may not want more. Others refuse everything there.
  bool queues_when_full() const { return has_wait_aof(); }
  bool has_wait_aof() const { return major > 7 || (major == 7 && minor >= 2); }
  /// What a connection tells itself comes behind the reply to the command that told it.
  bool pushes_behind_replies() const { return has_wait_aof(); }
};

struct NodeSettings {
  Place place{};
  Likeness likeness{};
  std::string password{};  ///< Of the user `default`.
};

/// RESP3. A connection is connect(), any number of receive(), and disconnect() or being closed.
class ModelNode {
 public:
  using Send = std::function<void(std::string bytes)>;
  using Closed = std::function<void()>;
  struct Session {
    std::int64_t id = 0;
    Send send;
    Closed closed;
    std::string unread, unsent;
    std::string behind;  // goes behind the reply that is being made
    std::string name;
    std::array<std::set<std::string, std::less<>>, 2> channels;  // by Channel
    base::TimePoint since{};
    std::uint64_t written = 0;  // how much the server had written when this session's last command was through
    bool connected = true;
    bool authenticated = true;
    bool resp3 = false;
    bool blocked = false;  // what it sends waits
    bool tracking = false;
    bool asking = false;
    bool closing = false;  // behind the reply
    bool due = false;      // its next command is under way, where commands take time
    bool ready = false;    // and now it has taken it
    std::optional<std::vector<std::vector<std::string>>> queued;  // behind MULTI
    bool spoilt = false;                                          // and one of them was refused
  };
  using SessionPtr = std::shared_ptr<Session>;

  ModelNode(Time& time, NodeSettings settings);
  virtual ~ModelNode();
  ModelNode(const ModelNode&) = delete;
  ModelNode& operator=(const ModelNode&) = delete;

  /// `closed`: the node has closed it. Null: nobody listens there.
  SessionPtr connect(Send send, Closed closed = {});
  void disconnect(Session& session);
  void receive(const SessionPtr& session, std::string_view bytes);

  const Place& place() const { return settings_.place; }
  const Likeness& likeness() const { return settings_.likeness; }
  const std::string& run_id() const { return run_id_; }
  std::uint64_t commands() const { return commands_; }
  std::size_t sessions() const { return sessions_.size(); }

  // ---- what can happen to it ----
  bool up() const { return up_; }
  bool frozen() const { return frozen_; }
  void kill();
  /// Whether a server like this refuses UNSUBSCRIBE by this session, since it listens nowhere.
  static bool refuses_to_leave(const Likeness& like, const Session& session);
  /// Accepts connections and answers nothing, as a process that is stopped.
  void freeze() { frozen_ = true; }
  void thaw();
  /// Closes all connections, as CLIENT KILL TYPE normal and pubsub.
  void close_all();
  void set_latency(base::Duration of_each_command) { latency_ = of_each_command; }
  /// The user may do this command no longer, or again. Lower case.
  void forbid(const std::string& command) { forbidden_.insert(command); }
  void allow(const std::string& command) { forbidden_.erase(command); }
  /// All but logins and PING is answered by this error; empty: as always.
  void answer_with(std::string error) { answer_ = std::move(error); }

 protected:
  /// What a session has sent; the verb first. Puts the reply there, or throws Refused.
  virtual void execute(Session& session, Args command, std::string& out) = 0;
  /// Throws Refused where it would be refused whatever is there: behind MULTI such a command is not taken.
  virtual void check_to_queue(Session&, Args) {}
  /// Throws Refused where these sharded channels are not to be had.
  virtual void check_channels(const Session&, Args) {}
  virtual void on_command_done(Session&) {}
  virtual void on_session_ended(Session&) {}
  virtual std::string_view mode() const = 0;
  virtual std::string_view role() const = 0;
  /// It comes up again, as another process.
  void come_up();

  /// False: it is none of the commands that every node knows.
  bool execute_common(Session& session, Args command, std::string& out);
  std::int64_t tell(Channel kind, std::string_view channel, std::string_view text);
  std::int64_t count_listeners(Channel kind, std::string_view channel) const;
  /// A push to a session, in its place among what else goes there.
  void push(Session& session, std::string_view bytes);
  /// Ends a subscription that the session has not ended: a push says so.
  void take_away(std::string_view channel);
  template <class F>
  void for_each_sharded_channel(F&& use) const {
    for (const auto& [channel, sessions] : listeners_[1]) use(channel);
  }
  /// Sends all that has been made ready. Whatever tells anybody anything ends with it.
  void flush();
  /// It was blocked: its reply is there, and what it has sent meanwhile goes on.
  void unblock(const SessionPtr& session, std::string_view reply);
  void close(Session& session);

  bool forbidden(std::string_view command) const { return !forbidden_.empty() && forbidden_.contains(command); }
  SessionPtr find_session(std::int64_t id) const;
  const std::map<std::int64_t, SessionPtr>& all_sessions() const { return sessions_; }
  const NodeSettings& settings() const { return settings_; }
  Time& time() const { return time_; }
  /// For events: they are of the process as it is now.
  std::uint64_t life() const { return life_; }

 private:
  using Listening = std::unordered_map<std::string, std::vector<Session*>, Keyspace::Hash, std::equal_to<>>;

  void proceed(const SessionPtr& session);
  void run_later(const SessionPtr& session);
  void run(Session& session, Args command);
  void check(Session& session, Args command) const;
  void perform(Session& session, Args command, std::string& out);
  bool in_transaction(Session& session, Args command, std::string& out);
  void exec(Session& session, std::string& out);
  void hello(Session& session, Args command, std::string& out);
  void log_in(Session& session, std::string_view user, std::string_view password) const;
  void client(Session& session, Args command, std::string& out);
  void client_list(Args command, std::string& out) const;
  void client_kill(Session& session, Args command, std::string& out);
  void subscribe(Session& session, Args command, Channel kind, std::string& out);
  void unsubscribe(Session& session, Args command, Channel kind, std::string& out);
  void put_unsubscribed(Session& session, Args channels, Channel kind, std::string& out);
  void pubsub(Args command, std::string& out) const;
  bool leave(Session& session, Channel kind, std::string_view channel);

  Time& time_;
  const NodeSettings settings_;
  std::map<std::int64_t, SessionPtr> sessions_;
  std::array<Listening, 2> listeners_;
  std::vector<SessionPtr> unflushed_;
  Session* running_ = nullptr;
  std::set<std::string, std::less<>> forbidden_;
  std::string answer_, run_id_, reply_;
  base::Duration latency_{};
  base::TimePoint busy_until_{};
  std::int64_t last_id_ = 2;
  std::uint64_t commands_ = 0;
  std::uint64_t life_ = 0;
  bool up_ = true;
  bool frozen_ = false;
};

}  // namespace holdfast::test
