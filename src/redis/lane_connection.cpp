#include <boost/asio/ssl/error.hpp>

#include "redis/encode.hpp"
#include "redis/lane_impl.hpp"

namespace holdfast::redis {

namespace asio = boost::asio;
using base::Clock;
using base::TimePoint;

void Lane::Impl::connect() {
  if (state == State::closed) return;
  state = State::connecting;
  tls_refusal->clear();
  told.clear();
  session = std::make_shared<Session>(executor, config, tls, *this);
  connect_timer.expires_after(config.connect_timeout);
  connect_timer.async_wait([self = self()](ErrorCode error) {
    if (!error && self->state == State::connecting) self->on_connect_timeout();
  });
  session->open();
}

void Lane::Impl::on_connect_timeout() {
  const std::string within = " within " + milliseconds(config.connect_timeout) + " ms";
  switch (session->phase()) {
    case Session::Phase::resolving:
      return fail_connection(Errc::unreachable, "no address was found for the host" + within);
    case Session::Phase::connecting:
      return fail_connection(Errc::unreachable, "no connection" + within);
    case Session::Phase::shaking_hands:
      return fail_connection(Errc::tls, "no answer to the TLS handshake" + within);
    case Session::Phase::open:
      return fail_connection(Errc::unreachable, "no answer to the login" + within);
  }
}

void Lane::Impl::on_open() { login_step(login_commands(config), &Impl::on_hello); }

void Lane::Impl::login_step(const std::vector<base::Command>& commands, void (Impl::*then)(const Replies&)) {
  login = std::make_shared<Op>(Request{}, Handler{});
  after_login = then;
  for (const base::Command& command : commands) encode(session->out(), command, false);
  expect(login, commands.size());
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
  arm_health_check();
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
  session->end(asio::error::operation_aborted);
}

void Lane::Impl::on_end(ErrorCode error) {
  connect_timer.cancel();
  health_timer.cancel();
  if (!failing) {
    down_error = error.category() == asio::error::get_ssl_category() ? Errc::tls : Errc::unreachable;
    down_cause = error.message();
    if (!tls_refusal->empty()) down_cause += ": " + *tls_refusal;
  }
  failing = false;
  channels.on_disconnected();
  if (state != State::closed) state = State::down;  // what the cut ones ask for next waits for the next connection
  const std::deque<OpPtr> cut = std::exchange(in_flight, {});
  for (const OpPtr& op : cut) on_cut(op);
  login.reset();
  if (state == State::closed) return;
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
  connect_timer.async_wait([self = self()](ErrorCode error) {
    if (!error && self->state == State::down) self->connect();
  });
}

/// A server that is gone without a word is noticed by a PING that it does not answer. Replies and messages are a sign
/// of life as well.
void Lane::Impl::arm_health_check() {
  const base::Duration interval =
      std::clamp<base::Duration>(config.lease / 10, std::chrono::seconds(1), std::chrono::seconds(10));
  health_timer.expires_after(interval);
  health_timer.async_wait([self = self(), interval](ErrorCode error) {
    if (error || self->state != State::ready) return;
    if (self->session->heard()) {
      self->pinged = false;
    } else if (self->pinged) {
      return self->fail_connection(Errc::unreachable,
                                   "nothing was heard of the server for " + milliseconds(interval * 2) + " ms");
    } else {
      self->pinged = true;
      const auto ping = std::make_shared<Op>(Request{}, Handler{});
      ping->finished = true;  // nobody waits for it
      encode(self->session->out(), {{"PING"}}, false);
      self->expect(ping, 1);
    }
    self->arm_health_check();
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
  idle_timer.async_wait([self = self()](ErrorCode error) {
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
  // The PING's reply proves that the UNSUBSCRIBE was taken: see `on_node`.
  const auto op = std::make_shared<Op>(Request{{{{"PING"}}}, config.command_timeout, {}}, [](const Result&) {});
  op->must_pong = true;
  limit(*op);
  encode(session->out(), "UNSUBSCRIBE", idle);
  encode(session->out(), op->request.commands.front(), false);
  expect(op, 1);
}

void Lane::Impl::close() {
  if (state == State::closed) return;
  state = State::closed;
  down_error = Errc::closed;
  down_cause.clear();
  fail_gate(true);
  for (Timer* timer : {&op_timer, &connect_timer, &idle_timer, &health_timer}) timer->cancel();
  if (session) session->end(asio::error::operation_aborted);
}

}  // namespace holdfast::redis
