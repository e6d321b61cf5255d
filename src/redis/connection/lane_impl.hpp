// The inside of a lane. Connection and login are in lane_connection.cpp, commands and time limits in lane_commands.cpp.
#pragma once

#include <deque>
#include <list>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <boost/intrusive/set.hpp>

#include <holdfast/error.hpp>

#include "redis/connection/backoff.hpp"
#include "redis/connection/lane.hpp"
#include "redis/connection/login.hpp"
#include "redis/connection/op.hpp"
#include "redis/connection/session.hpp"
#include "redis/connection/tls.hpp"
#include "timing/timer.hpp"

namespace holdfast::redis {

/// Everything runs on the loop. down -> connecting -> ready (-> leaving) -> down ..., and closed from any of them.
struct Lane::Impl final : Session::Owner, std::enable_shared_from_this<Impl> {
  /// leaving: the gate is closed, and what was sent is answered before the session ends.
  enum class State { down, connecting, ready, leaving, closed };
  using ErrorCode = Session::ErrorCode;
  using Timer = timing::Timer;
  using OpPtr = std::shared_ptr<Op>;
  using Replies = std::vector<base::Reply>;

  Impl(boost::asio::any_io_executor the_loop, const Config& user_config, Channels& hub, LaneEvents lane_events);
  /// For handlers: keeps the owner alive as well, if there is one.
  std::shared_ptr<Impl> self();
  std::shared_ptr<Session::Owner> keep() override { return self(); }

  // --- connection: lane_connection.cpp ---
  void connect();
  void connect_at(base::TimePoint time);
  /// Sends commands ahead of everything else; only while the gate is closed.
  void login_step(const std::vector<base::Command>& commands, void (Impl::*then)(const Replies&));
  void on_hello(const Replies& replies);
  void on_earlier_client(const Replies& replies);
  void open_gate(const Replies& replies);
  void fail_connection(std::error_code error, std::string cause);
  void on_connect_timeout();
  void on_open() override;
  void on_end(const Session::Ending& ending) override;
  void leave_if_demoted(const Op& op);
  void end_leaving();
  std::string why_not_connected() const;
  void recover();
  void arm_health_check();
  void on_push(const base::Reply& message) override;
  void arm_idle_sweep();
  void give_back_idle();
  void close();

  // --- commands: lane_commands.cpp ---
  void accept(const OpPtr& op);
  std::string overload() const;
  void limit(Op& op);
  void leave_gate(Op& op);
  void fail_gate(bool pointless);
  void send(const OpPtr& op) noexcept;
  void encode_request(const OpPtr& op);
  void expect(const OpPtr& op, std::size_t replies);
  bool on_node(const Session::Node& node) override;
  void on_reply() override;
  void on_confirmed(const std::string& channel, bool left);
  void on_refused(Op& op);
  void on_done(const OpPtr& op);
  void on_cut(const OpPtr& op) noexcept;
  void finish(const OpPtr& op, Result result) noexcept;
  void arm_op_timer();
  void on_op_timer();

  // Constant after construction.
  const Config config;
  Channels& channels;
  const LaneEvents events;
  const TlsRefusal tls_refusal = std::make_shared<std::string>();
  std::optional<boost::asio::ssl::context> tls;
  const boost::asio::any_io_executor executor;
  std::weak_ptr<void> owner;  // set by start()

  Resolver resolver;
  std::shared_ptr<Session> session;    // the latest
  std::set<const base::Script*> told;  // scripts whose text this session has sent
  std::deque<OpPtr> in_flight;         // sent on it, in order; their replies come in this order
  Timer op_timer, connect_timer, idle_timer, health_timer;
  Backoff backoff;
  std::minstd_rand random;

  State state = State::down;
  bool ever_connected = false;
  bool login_pointless = false;  // the login was refused for good
  bool failing = false;          // `down_error` and `down_cause` are set already
  bool hopeless = false;         // the latest connection was refused, or there has never been one
  bool demoted = false;          // the latest connection was left because the server takes no writes
  base::TimePoint last_attempt{};
  base::TimePoint connecting_since{};
  base::TimePoint ready_since{};
  std::optional<Endpoint> useless;  // the address of the latest connection, if it served nobody
  std::error_code down_error = Errc::unreachable;
  std::string down_cause;

  OpPtr login;  // the step of the login under way
  void (Impl::*after_login)(const Replies&) = nullptr;
  std::int64_t client = 0;       // the latest connection's client id, also after its end
  std::int64_t next_client = 0;  // the id of the connection that is being logged in
  bool idle_armed = false;
  bool unsubscribe_refused = false;

  std::list<OpPtr> gate;  // waiting for a login
  boost::intrusive::multiset<Op, boost::intrusive::constant_time_size<false>>
      deadlines;  // all that are not finished, by their time limits
  bool op_timer_armed = false;
  bool pinged = false;  // since something was heard
};

}  // namespace holdfast::redis
