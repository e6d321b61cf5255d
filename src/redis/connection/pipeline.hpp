// The requests of a lane: at the gate, in flight, answered, timed out.
#pragma once

#include <deque>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include <holdfast/config.hpp>

#include "redis/connection/connection.hpp"
#include "redis/connection/interlock.hpp"
#include "redis/connection/lane_events.hpp"
#include "redis/connection/lifeline.hpp"
#include "redis/connection/loaded_scripts.hpp"
#include "redis/connection/op.hpp"
#include "redis/connection/subscriptions.hpp"
#include "redis/connection/time_limits.hpp"
#include "redis/connection/traffic.hpp"
#include "timing/alarm.hpp"

namespace holdfast::redis {

/// Everything runs on the loop. Requests in flight were sent in the connection's latest session, and their replies come
/// in that order.
class Pipeline final : public Traffic {
 public:
  /// The references outlive it; the connection may be constructed later.
  Pipeline(timing::Schedule& schedule, const Config& config, Subscriptions& subscriptions, const LaneEvents& events,
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
  const LaneEvents& events_;
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
