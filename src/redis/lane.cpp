#include "redis/lane.hpp"

#include <list>
#include <map>
#include <random>

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/redis/connection.hpp>

#include <holdfast/error.hpp>

#include "redis/backoff.hpp"
#include "redis/errors.hpp"
#include "redis/login.hpp"
#include "redis/reply_builder.hpp"
#include "redis/tls.hpp"

namespace holdfast::redis {
namespace {

namespace asio = boost::asio;
using base::Clock;
using base::TimePoint;
using ErrorCode = boost::system::error_code;
using Timer = asio::basic_waitable_timer<Clock>;
using Node = boost::redis::resp3::node_view;
using Event = boost::redis::any_adapter::parse_event;

/// How long a refused SUBSCRIBE is believed before it is tried again.
constexpr std::chrono::seconds kDenialLasts{5};

struct Op {
  Request request;
  Lane::Handler handler;
  boost::redis::request bytes;
  ReplyBuilder builder;
  asio::cancellation_signal cancel;
  TimePoint sent_at{};
  std::multimap<TimePoint, std::shared_ptr<Op>>::iterator deadline;
  std::list<std::shared_ptr<Op>>::iterator waiting;  // valid while at the gate
  bool at_gate = false;
  bool timed_out = false;
  bool full_text = false;    // the server does not know the script's hash
  bool subscribing = false;  // SUBSCRIBE goes first
  bool must_pong = false;    // UNSUBSCRIBE goes before a PING
  std::string refused;       // why it was not confirmed
};

/// Collects the nodes of a push message and hands on whole ones: (kind, channel).
class PushSink {
 public:
  explicit PushSink(std::function<void(const base::Reply&)> deliver) : deliver_(std::move(deliver)) {}
  void on_init() {}
  void on_node(const Node& node, ErrorCode&) { builder_.add(node); }
  void on_done() {
    builder_.finish();
    const std::vector<base::Reply> replies = std::move(builder_.replies);
    builder_.replies.clear();
    for (const base::Reply& reply : replies) deliver_(reply);
  }

 private:
  std::function<void(const base::Reply&)> deliver_;
  ReplyBuilder builder_;
};

struct PushSinkRef {
  PushSink* sink;
  void on_init() const { sink->on_init(); }
  void on_node(const Node& node, ErrorCode& error) const { sink->on_node(node, error); }
  void on_done() const { sink->on_done(); }
};
PushSinkRef boost_redis_adapt(PushSink& sink) { return {&sink}; }

void push(boost::redis::request& bytes, const std::vector<std::string_view>& args) {
  if (args.size() == 1) {
    bytes.push(args.front());
  } else {
    bytes.push_range(args.front(), args.begin() + 1, args.end());
  }
}

void push(boost::redis::request& bytes, const base::Command& command, bool full_text) {
  std::vector<std::string_view> args;
  args.reserve(command.args.size() + 2);
  if (command.script != nullptr) {
    args.emplace_back(full_text ? "EVAL" : "EVALSHA");
    args.emplace_back(full_text ? command.script->text : command.script->sha1);
  }
  for (const std::string& arg : command.args) args.emplace_back(arg);
  push(bytes, args);
}

boost::redis::request::config request_config() {
  boost::redis::request::config config;
  config.cancel_on_connection_lost = true;
  config.cancel_if_not_connected = true;
  config.cancel_if_unresponded = true;
  return config;
}

boost::redis::config connection_config(const Config& config) {
  boost::redis::config to;
  to.use_ssl = config.tls.enabled && config.unix_socket.empty();
  to.addr = {config.host, std::to_string(config.port)};
  to.unix_socket = config.unix_socket;
  to.resolve_timeout = to.connect_timeout = config.connect_timeout;
  to.ssl_handshake_timeout = config.connect_timeout * 3 / 4;  // before the limit on all of it, so that it is named
  to.health_check_interval =
      std::clamp<Clock::duration>(config.lease / 10, std::chrono::seconds(1), std::chrono::seconds(10));
  to.reconnect_wait_interval = {};  // reconnecting, with back-off and jitter, is done here
  to.use_setup = true;              // and so is the login, whose replies matter
  to.setup.clear();
  return to;
}

}  // namespace

struct Lane::Impl : std::enable_shared_from_this<Impl> {
  enum class State { down, connecting, ready, closed };

  Impl(asio::io_context& context, const Config& user_config, Channels& hub, LaneEvents lane_events)
      : config(user_config),
        channels(hub),
        events(std::move(lane_events)),
        run_config(connection_config(config)),
        connection(context.get_executor(), make_tls_context(config, tls_refusal),
                   boost::redis::logger{boost::redis::logger::level::disabled}),
        op_timer(context),
        connect_timer(context),
        idle_timer(context),
        executor(context.get_executor()),
        backoff(config.reconnect_min, config.reconnect_max),
        random(std::random_device{}()) {
    connection.set_receive_response(push_sink);
  }

  // Constant after construction.
  const Config config;
  Channels& channels;
  const LaneEvents events;
  const boost::redis::config run_config;
  const TlsRefusal tls_refusal = std::make_shared<std::string>();  // the string: io_context's thread

  // Everything below belongs to the io_context's thread.
  boost::redis::connection connection;
  Timer op_timer, connect_timer, idle_timer;
  asio::io_context::executor_type executor;
  Backoff backoff;
  std::minstd_rand random;
  State state = State::down;
  bool ever_connected = false;
  bool idle_armed = false;
  bool unsubscribe_refused = false;
  bool op_timer_armed = false;
  std::int64_t client = 0;
  std::error_code down_error = Errc::unreachable;
  std::string down_cause = "not connected yet";
  std::shared_ptr<Op> login;
  std::list<std::shared_ptr<Op>> gate;
  std::multimap<TimePoint, std::shared_ptr<Op>> deadlines;
  PushSink push_sink{[this](const base::Reply& message) { on_push(message); }};

  // --- connection ---

  void connect() {
    if (state == State::closed) return;
    state = State::connecting;
    tls_refusal->clear();
    login = std::make_shared<Op>();
    login->bytes = boost::redis::request({true, false, true, true});
    for (const base::Command& command : login_commands(config, client)) push(login->bytes, command, false);
    connection.async_exec(login->bytes, adapter(login),
                          asio::bind_cancellation_slot(login->cancel.slot(), [self = shared_from_this(), op = login](
                                                                                 ErrorCode error, std::size_t) {
                            if (!error && op == self->login) self->on_login(op->builder.replies);
                          }));
    connect_timer.expires_after(config.connect_timeout);
    connect_timer.async_wait([self = shared_from_this()](ErrorCode error) {
      if (error || self->state != State::connecting) return;
      self->fail_connection(Errc::unreachable, "no answer to the login within " +
                                                   std::to_string(self->config.connect_timeout.count()) + " ms");
    });
    connection.async_run(run_config, [self = shared_from_this()](ErrorCode error) { self->on_disconnected(error); });
  }

  void on_login(const std::vector<base::Reply>& replies) {
    const LoginOutcome outcome = judge_login(config, replies);
    if (outcome.error) {
      login_pointless = outcome.pointless;
      fail_connection(outcome.error, outcome.cause);
      return;
    }
    connect_timer.cancel();
    client = outcome.client;
    state = State::ready;
    ever_connected = true;
    backoff.reset();
    events.connected();
    while (!gate.empty()) {
      const std::shared_ptr<Op> op = gate.front();
      leave_gate(*op);
      send(op);
    }
  }

  bool login_pointless = false;
  bool failing = false;  // `down_error` and `down_cause` are set already

  void fail_connection(std::error_code error, std::string cause) {
    if (failing) return;
    failing = true;
    down_error = error;
    down_cause = std::move(cause);
    connection.cancel(boost::redis::operation::run);
  }

  void on_disconnected(ErrorCode error) {
    connect_timer.cancel();
    if (login) {
      login->cancel.emit(asio::cancellation_type::terminal);
      login.reset();
    }
    if (!failing) {
      const bool tls =
          error.category() == asio::error::get_ssl_category() || error == boost::redis::error::ssl_handshake_timeout;
      down_error = tls ? Errc::tls : Errc::unreachable;
      down_cause = error.message();
      if (!tls_refusal->empty()) down_cause += ": " + *tls_refusal;
    }
    failing = false;
    channels.on_disconnected();
    if (state == State::closed) return;
    state = State::down;
    events.disconnected(down_cause);

    // A refusal, or a server that was never there, will not go away while the callers wait.
    const bool pointless = login_pointless || down_error == Errc::tls || !ever_connected;
    login_pointless = false;
    if (pointless) fail_gate(true);

    connect_timer.expires_after(backoff.next(random_share()));
    connect_timer.async_wait([self = shared_from_this()](ErrorCode wait_error) {
      if (!wait_error) self->connect();
    });
  }

  double random_share() { return std::generate_canonical<double, 32>(random); }

  void fail_gate(bool pointless) {
    while (!gate.empty()) {
      const std::shared_ptr<Op> op = gate.front();
      finish(op, failure(Delivery::not_sent, down_error, down_cause, pointless));
    }
  }

  // --- pushes ---

  void receive() {
    connection.async_receive2([self = shared_from_this()](ErrorCode error) {
      if (!error) self->receive();
    });
  }

  void on_push(const base::Reply& message) {
    if (!message.is_array() || message.elements.size() < 2) return;
    const std::string& kind = message.elements[0].text;
    const std::string& channel = message.elements[1].text;
    if (kind == "message") {
      events.message();
      channels.on_message(channel);
    } else if (kind == "subscribe") {
      channels.on_subscribed(channel);
      arm_idle_sweep();
    } else if (kind == "unsubscribe") {
      channels.on_unsubscribed(channel);
    }
  }

  void arm_idle_sweep() {
    if (idle_armed) return;
    idle_armed = true;
    idle_timer.expires_after(std::max<Clock::duration>(config.subscription_linger / 2, std::chrono::milliseconds(20)));
    idle_timer.async_wait([self = shared_from_this()](ErrorCode error) {
      self->idle_armed = false;
      if (error || self->state == State::closed) return;
      self->give_back_idle();
      if (self->channels.any_subscribed()) self->arm_idle_sweep();
    });
  }

  void give_back_idle() {
    if (state != State::ready || unsubscribe_refused) return;
    const TimePoint now = Clock::now();
    const std::vector<std::string> idle = channels.take_idle(now - config.subscription_linger, now);
    if (idle.empty()) return;
    // The PING's reply proves that the UNSUBSCRIBE was taken: see `adapter`.
    Request request{{{{"PING"}}}, config.command_timeout, {}};
    const auto op = std::make_shared<Op>();
    op->request = std::move(request);
    op->handler = [](const Result&) {};
    op->must_pong = true;
    op->deadline = deadlines.emplace(Clock::now() + op->request.timeout, op);
    op->bytes = boost::redis::request(request_config());
    std::vector<std::string_view> args{"UNSUBSCRIBE"};
    args.insert(args.end(), idle.begin(), idle.end());
    push(op->bytes, args);
    push(op->bytes, op->request.commands.front(), false);
    execute(op);
    arm_op_timer();
  }

  // --- commands ---

  void accept(const std::shared_ptr<Op>& op) {
    if (state == State::closed) {
      op->handler(failure(Delivery::not_sent, Errc::closed, {}, true));
      return;
    }
    op->deadline = deadlines.emplace(Clock::now() + op->request.timeout, op);
    arm_op_timer();
    if (state == State::ready) {
      send(op);
      return;
    }
    op->at_gate = true;
    op->waiting = gate.insert(gate.end(), op);
  }

  void leave_gate(Op& op) {
    if (!op.at_gate) return;
    op.at_gate = false;
    gate.erase(op.waiting);
  }

  void send(const std::shared_ptr<Op>& op) {
    op->bytes = boost::redis::request(request_config());
    op->builder = {};
    op->subscribing = false;
    const std::string& channel = op->request.subscribe;
    if (!channel.empty() && !channels.subscribed(channel)) {
      const std::string refused = channels.denied(channel, Clock::now());
      if (!refused.empty()) {
        finish(op, failure(Delivery::not_sent, Errc::denied, refused, true));
        return;
      }
      op->subscribing = true;
      push(op->bytes, {"SUBSCRIBE", channel});
    }
    for (const base::Command& command : op->request.commands) {
      push(op->bytes, command, op->full_text);
      events.command();
    }
    op->sent_at = Clock::now();
    execute(op);
  }

  void execute(const std::shared_ptr<Op>& op) {
    connection.async_exec(
        op->bytes, adapter(op),
        asio::bind_cancellation_slot(op->cancel.slot(), [self = shared_from_this(), op](ErrorCode error, std::size_t) {
          self->on_done(op, error);
        }));
  }

  /// A refused SUBSCRIBE or UNSUBSCRIBE is answered by a plain error, which would be taken for the reply of the command
  /// behind it and shift all later replies by one. So that command's reply counts only once the server has confirmed
  /// the channel (or, after UNSUBSCRIBE, if it is the PING's); if not, the parse fails and the connection is dropped
  /// before any reply can reach the wrong command.
  boost::redis::any_adapter adapter(const std::shared_ptr<Op>& op) {
    return boost::redis::any_adapter{[this, op](Event event, const Node& node, ErrorCode& error) {
      if (event == Event::done) op->builder.finish();
      if (event != Event::node) return;
      if (op->subscribing && !channels.subscribed(op->request.subscribe)) {
        op->refused = node.value;
        error = boost::redis::error::invalid_data_type;
        return;
      }
      if (op->must_pong && node.value != "PONG") {
        unsubscribe_refused = true;
        error = boost::redis::error::invalid_data_type;
        return;
      }
      op->builder.add(node);
    }};
  }

  void on_done(const std::shared_ptr<Op>& op, ErrorCode error) {
    if (!error) {
      std::vector<base::Reply>& replies = op->builder.replies;
      const bool script = op->request.commands.size() == 1 && op->request.commands.front().script != nullptr;
      if (script && !op->full_text && replies.size() == 1 && replies.front().is_error() &&
          replies.front().text.starts_with("NOSCRIPT") && state == State::ready) {
        op->full_text = true;
        send(op);
        return;
      }
      Result result;
      result.delivery = Delivery::answered;
      result.replies = std::move(replies);
      result.subscribed = !op->request.subscribe.empty();
      finish(op, std::move(result));
      return;
    }
    if (error == boost::redis::error::not_connected) {
      finish(op, failure(Delivery::not_sent, Errc::unreachable, down_cause, false));
      return;
    }
    if (!op->refused.empty()) {
      const std::string cause = "SUBSCRIBE " + op->request.subscribe + ": " + op->refused;
      channels.deny(op->request.subscribe, cause, Clock::now() + kDenialLasts);
      finish(op, failure(Delivery::unknown, Errc::denied, cause, false));
      return;
    }
    const std::string cause = op->timed_out ? "no reply within " + milliseconds(op->request.timeout) + " ms"
                                            : "the connection was lost before the reply came";
    finish(op, failure(Delivery::unknown, Errc::unknown_outcome, cause, false));
  }

  static std::string milliseconds(base::Duration duration) {
    return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(duration).count());
  }

  static Result failure(Delivery delivery, std::error_code error, std::string cause, bool pointless) {
    Result result;
    result.delivery = delivery;
    result.error = error;
    result.cause = std::move(cause);
    result.pointless = pointless;
    return result;
  }

  void finish(const std::shared_ptr<Op>& op, Result result) {
    leave_gate(*op);
    deadlines.erase(op->deadline);
    result.sent_at = op->sent_at;
    op->handler(std::move(result));
  }

  /// One timer for all time limits. It may fire early, for a command that was answered meanwhile, and is then set anew:
  /// cheaper than moving it with every command.
  void arm_op_timer() {
    if (deadlines.empty() || deadlines.begin()->first == TimePoint::max()) return;
    const TimePoint next = deadlines.begin()->first;
    if (op_timer_armed && op_timer.expiry() <= next) return;
    op_timer_armed = true;
    op_timer.expires_at(next);
    op_timer.async_wait([self = shared_from_this()](ErrorCode error) {
      if (error) return;
      self->op_timer_armed = false;
      self->on_op_timer();
    });
  }

  void on_op_timer() {
    const TimePoint now = Clock::now();
    std::vector<std::shared_ptr<Op>> late;
    for (auto it = deadlines.begin(); it != deadlines.end() && it->first <= now; ++it) late.push_back(it->second);
    for (const std::shared_ptr<Op>& op : late) {
      if (op->at_gate) {
        finish(op, failure(Delivery::not_sent, down_error, down_cause, false));
      } else if (!op->timed_out) {
        // Stays in `deadlines` until its handler has run; moved out of the way so that the timer can go on.
        op->timed_out = true;
        deadlines.erase(op->deadline);
        op->deadline = deadlines.emplace(TimePoint::max(), op);
        op->cancel.emit(asio::cancellation_type::terminal);
      }
    }
    arm_op_timer();
  }

  void close() {
    if (state == State::closed) return;
    state = State::closed;
    down_error = Errc::closed;
    down_cause.clear();
    fail_gate(true);
    for (Timer* timer : {&op_timer, &connect_timer, &idle_timer}) timer->cancel();
    connection.cancel(boost::redis::operation::all);
  }
};

Lane::Lane(asio::io_context& context, const Config& config, Channels& channels, LaneEvents events)
    : impl_(std::make_shared<Impl>(context, config, channels, std::move(events))) {}

Lane::~Lane() = default;

void Lane::start() {
  asio::post(impl_->executor, [impl = impl_] {
    impl->receive();
    impl->connect();
  });
}

void Lane::submit(Request request, Handler handler) {
  auto op = std::make_shared<Op>();
  op->request = std::move(request);
  op->handler = std::move(handler);
  asio::post(impl_->executor, [impl = impl_, op = std::move(op)] { impl->accept(op); });
}

void Lane::close() { impl_->close(); }

}  // namespace holdfast::redis
