#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/ssl/error.hpp>

#include "redis/boost_settings.hpp"
#include "redis/lane_impl.hpp"

namespace holdfast::redis {

namespace asio = boost::asio;
using base::Clock;
using base::TimePoint;

void Lane::Impl::connect() {
  if (state == State::closed) return;
  state = State::connecting;
  tls_refusal->clear();
  login_step(login_commands(config), &Impl::on_hello);
  connect_timer.expires_after(config.connect_timeout);
  connect_timer.async_wait([self = shared_from_this()](ErrorCode error) {
    if (error || self->state != State::connecting) return;
    self->fail_connection(Errc::unreachable,
                          "no answer to the login within " + milliseconds(self->config.connect_timeout) + " ms");
  });
  connection.async_run(run_config, [self = shared_from_this()](ErrorCode error) { self->on_disconnected(error); });
}

void Lane::Impl::login_step(const std::vector<base::Command>& commands, void (Impl::*then)(const Replies&)) {
  login = std::make_shared<Op>();
  boost::redis::request::config settings = request_config();
  settings.cancel_if_not_connected = false;  // the first step is written as soon as there is a connection
  login->bytes = boost::redis::request(settings);
  for (const base::Command& command : commands) append(login->bytes, command, false);
  connection.async_exec(login->bytes, adapter(login),
                        asio::bind_cancellation_slot(login->cancel.slot(), [self = shared_from_this(), op = login,
                                                                            then](ErrorCode error, std::size_t) {
                          if (!error && op == self->login) (self.get()->*then)(op->builder.replies);
                        }));
}

void Lane::Impl::on_hello(const Replies& replies) {
  const LoginOutcome outcome = judge_login(config, replies);
  if (outcome.error) {
    login_pointless = outcome.pointless;
    fail_connection(outcome.error, outcome.cause);
    return;
  }
  next_client = outcome.client;
  if (client == 0) {
    open_gate({});
  } else {
    login_step({find_client(client)}, &Impl::on_earlier_client);
  }
}

void Lane::Impl::on_earlier_client(const Replies& replies) {
  // A server that was restarted gives the same ids to strangers: only a client as old as our earlier connection is it.
  const auto age = std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - client_since);
  if (replies.size() == 1 && is_client(replies.front(), config, age)) {
    login_step({kill_client(client)}, &Impl::open_gate);
  } else {
    open_gate({});
  }
}

void Lane::Impl::open_gate(const Replies&) {
  connect_timer.cancel();
  login.reset();
  client = next_client;
  client_since = Clock::now();
  state = State::ready;
  ever_connected = true;
  backoff.reset();
  events.connected();
  while (!gate.empty()) {
    const OpPtr op = gate.front();
    leave_gate(*op);
    send(op);
  }
}

void Lane::Impl::fail_connection(std::error_code error, std::string cause) {
  if (failing) return;
  failing = true;
  down_error = error;
  down_cause = std::move(cause);
  connection.cancel(boost::redis::operation::run);
}

void Lane::Impl::on_disconnected(ErrorCode error) {
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
    if (error == boost::redis::error::ssl_handshake_timeout) {
      down_cause = "no answer to the TLS handshake within " + milliseconds(run_config.ssl_handshake_timeout) + " ms";
    }
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
  connect_at(last_attempt + backoff.next(std::generate_canonical<double, 32>(random)));
}

void Lane::Impl::connect_at(TimePoint time) {
  connect_timer.expires_at(time);
  connect_timer.async_wait([self = shared_from_this()](ErrorCode error) {
    if (!error && self->state == State::down) self->connect();
  });
}

void Lane::Impl::receive() {
  connection.async_receive2([self = shared_from_this()](ErrorCode error) {
    if (!error) self->receive();
  });
}

void Lane::Impl::on_push(const base::Reply& message) {
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

void Lane::Impl::arm_idle_sweep() {
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

void Lane::Impl::give_back_idle() {
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

void Lane::Impl::close() {
  if (state == State::closed) return;
  state = State::closed;
  down_error = Errc::closed;
  down_cause.clear();
  fail_gate(true);
  for (Timer* timer : {&op_timer, &connect_timer, &idle_timer}) timer->cancel();
  connection.cancel(boost::redis::operation::all);
}

}  // namespace holdfast::redis
