#include "redis/lane.hpp"

#include <random>

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/redis/connection.hpp>

#include <holdfast/error.hpp>

#include "redis/backoff.hpp"
#include "redis/boost_settings.hpp"
#include "redis/errors.hpp"
#include "redis/login.hpp"
#include "redis/op.hpp"
#include "redis/push_sink.hpp"
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
  bool login_pointless = false;  // the login was refused for good
  bool failing = false;          // `down_error` and `down_cause` are set already
  bool hopeless = false;         // the latest connection was refused, or there has never been one
  TimePoint last_attempt{};
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
    for (const base::Command& command : login_commands(config, client)) append(login->bytes, command, false);
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

    hopeless = pointless;
    last_attempt = Clock::now();
    connect_at(last_attempt + backoff.next(random_share()));
  }

  void connect_at(TimePoint time) {
    connect_timer.expires_at(time);
    connect_timer.async_wait([self = shared_from_this()](ErrorCode error) {
      if (!error && self->state == State::down) self->connect();
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
    append(op->bytes, args);
    append(op->bytes, op->request.commands.front(), false);
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
    // Whoever asks while there is little hope gets an answer from a fresh attempt, not from the end of a long pause.
    if (state == State::down && hopeless) connect_at(std::max(Clock::now(), last_attempt + config.reconnect_min));
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
      append(op->bytes, {"SUBSCRIBE", channel});
    }
    for (const base::Command& command : op->request.commands) {
      append(op->bytes, command, op->full_text);
      events.command();
    }
    op->sent_at = Clock::now();
    execute(op);
  }

  void execute(const std::shared_ptr<Op>& op) {
    connection.async_exec(op->bytes, adapter(op), [self = shared_from_this(), op](ErrorCode error, std::size_t) {
      if (!op->finished) self->on_done(op, error);
    });
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
        op->refused = "SUBSCRIBE " + op->request.subscribe + ": " + std::string(node.value);
        channels.deny(op->request.subscribe, op->refused, Clock::now() + kDenialLasts);
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
      finish(op, failure(Delivery::not_sent, Errc::unreachable, down_cause));
      return;
    }
    if (!op->refused.empty()) {
      finish(op, failure(Delivery::unknown, Errc::denied, op->refused));
      return;
    }
    finish(op, failure(Delivery::unknown, Errc::unknown_outcome, "the connection was lost before the reply came"));
  }

  void finish(const std::shared_ptr<Op>& op, Result result) {
    leave_gate(*op);
    deadlines.erase(op->deadline);
    op->finished = true;
    result.sent_at = op->sent_at;
    const Handler handler = std::move(op->handler);  // and with it what it holds, however long the bytes stay
    handler(std::move(result));
  }

  /// One timer for all time limits. It may fire early, for a command that was answered meanwhile, and is then set anew:
  /// cheaper than moving it with every command.
  void arm_op_timer() {
    if (deadlines.empty()) return;
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
      // What was sent stays with the connection, whose replies must go on finding their commands; only nobody waits.
      finish(op, op->at_gate ? failure(Delivery::not_sent, down_error, down_cause)
                             : failure(Delivery::unknown, Errc::unknown_outcome,
                                       "no reply within " + milliseconds(op->request.timeout) + " ms"));
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
