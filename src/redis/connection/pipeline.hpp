// The requests of a lane: at the gate, in flight, answered, timed out.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <boost/intrusive/set.hpp>

#include <holdfast/config.hpp>

#include "base/resp.hpp"
#include "redis/connection/connection.hpp"
#include "redis/connection/interlock.hpp"
#include "redis/connection/lane_events.hpp"
#include "redis/connection/op.hpp"
#include "redis/connection/subscriptions.hpp"
#include "redis/protocol/encode.hpp"
#include "timing/alarm.hpp"

namespace holdfast::redis {

/// Which scripts were loaded in one session. A script is loaded before its first use in a session: after a NOSCRIPT,
/// later commands would overtake the resent one.
class LoadedScripts {
 public:
  /// For a new session.
  void clear() { loaded_.clear(); }

  /// Writes commands that load the missing scripts. Returns how many replies they get.
  std::size_t load(const std::vector<base::Command>& commands, std::string& out) {
    std::size_t loads = 0;
    for (const base::Command& command : commands) {
      if (command.script == nullptr || !loaded_.insert(command.script).second) continue;
      encode(out, "SCRIPT", {"LOAD", std::string(command.script->text)});
      ++loads;
    }
    return loads;
  }

 private:
  std::set<const base::Script*> loaded_;
};

// Commands whose script the server did not know: only those are resent, with the script's text.

/// If commands of this request, just answered for the first time, were refused because the server does not know their
/// script, notes which must be resent. The server refuses them before it does anything.
inline bool begin_resending(Op& op) {
  if (!op.resent.empty()) return false;
  const std::vector<base::Reply>& replies = op.builder.replies;
  for (std::size_t i = 0; i < replies.size(); ++i) {
    const bool script = op.request.commands[i].script != nullptr;
    if (script && replies[i].is_error() && replies[i].text.starts_with("NOSCRIPT")) op.resent.push_back(i);
  }
  if (op.resent.empty()) return false;
  op.answered = std::move(op.builder.replies);
  return true;
}

/// Only some commands were resent; the others were executed the first time.
inline bool resends_a_part(const Op& op) { return !op.resent.empty() && op.resent.size() < op.request.commands.size(); }

/// Everything is answered: replaces the refusals by the replies to the resent commands.
inline void end_resending(Op& op) {
  if (op.resent.empty()) return;
  for (std::size_t i = 0; i < op.resent.size(); ++i) {
    op.answered[op.resent[i]] = std::move(op.builder.replies[i]);
  }
  op.builder.replies = std::move(op.answered);
}

/// The time limits of all requests of a lane, with one alarm. On the loop. A finished request unlinks itself.
class TimeLimits {
 public:
  /// `on_over` is called for each request that has timed out, and must finish it. The lifeline outlives this.
  TimeLimits(timing::Schedule& schedule, const Lifeline& lifeline,
             std::function<void(const std::shared_ptr<Op>&)> on_over);

  /// Its time starts now.
  void add(Op& op);
  void cancel() { alarm_.cancel(); }
  void forget_all() { deadlines_.clear(); }

 private:
  void set_alarm() noexcept;
  void on_time();

  const Lifeline& lifeline_;
  const std::function<void(const std::shared_ptr<Op>&)> on_over_;
  boost::intrusive::multiset<Op, boost::intrusive::constant_time_size<false>> deadlines_;
  timing::Alarm alarm_;
};

/// Everything runs on the loop. Requests in flight were sent in the connection's latest session, and their replies come
/// in that order.
class Pipeline final : public Traffic {
 public:
  /// The references outlive it; the connection may be constructed later.
  Pipeline(timing::Schedule& schedule, const Config& config, Subscriptions& subscriptions, LaneEvents& events,
           const Lifeline& lifeline, Connection& connection);

  void submit(Request&& request, ResultHandler&& handler);
  /// The requests that wait for a connection go to `misdirected`, except those for this node only.
  void reroute() noexcept;
  /// The connection is closed for good.
  void close();
  /// The loop is gone: drops all requests without calling their handlers.
  void drop();

  // For the connection.
  void on_begin() override;
  void send_login(const std::vector<base::Command>& commands) override;
  void on_login(bool clustered) override { subscriptions_.on_login(clustered); }
  void open_gate() override;
  void send_auth(const base::Command& command) override;
  void ping() override;
  bool idle() const override { return in_flight_.empty(); }
  void on_cut() override;
  bool waited_for() const override { return !gate_.empty(); }
  void give_up() override;
  bool on_node(const Session::Node& node) override;
  void on_reply(const ReplyLimits& length) override;
  ReplyLimits room() const override;
  void on_push(const base::Reply& message) override;

 private:
  using OpPtr = std::shared_ptr<Op>;

  void accept(const OpPtr& op);
  void leave_gate(Op& op);
  void send(const OpPtr& op) noexcept;
  void encode_request(Op& op);
  void expect(const OpPtr& op, std::size_t replies);
  void on_done(const OpPtr& op);
  void part_with(Op& op, Result& result);
  void misdirect(const OpPtr& op, Result result) noexcept;
  void cut(const OpPtr& op) noexcept;
  void finish(const OpPtr& op, Result result) noexcept;
  Result not_connected(std::string cause, bool pointless) const;
  void on_time_over(const OpPtr& op);

  Subscriptions& subscriptions_;
  LaneEvents& events_;
  Connection& connection_;

  std::list<OpPtr> gate_;        // waiting for a login
  std::deque<OpPtr> in_flight_;  // sent, in order
  OpPtr login_;                  // the pending step of the login
  OpPtr auth_;                   // the pending AUTH after the login
  LoadedScripts loaded_;
  Interlock interlock_;
  TimeLimits limits_;  // of all unfinished requests
};

}  // namespace holdfast::redis
