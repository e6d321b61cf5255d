#include <algorithm>

#include <boost/asio/error.hpp>

#include "redis/connection/lane_impl.hpp"
#include "redis/failures/errors.hpp"
#include "redis/protocol/encode.hpp"

namespace holdfast::redis {

namespace asio = boost::asio;
using base::Clock;
using base::TimePoint;

namespace {

/// How long a server that takes no writes may take to answer what was sent before it is left.
constexpr std::chrono::seconds kLeaving{1};

}  // namespace

void Lane::Impl::connect() {
  if (state == State::closed) return;
  state = State::connecting;
  connecting_since = Clock::now();
  tls_refusal->clear();
  told.clear();
  unsubscribe_refused = false;
  session = std::make_shared<Session>(executor, config, tls, resolver, useless, *this);
  connect_timer.expires_after(config.connect_timeout);
  connect_timer.async_wait([self = self()](ErrorCode error) {
    if (!error && self->state == State::connecting) self->on_connect_timeout();
  });
  session->open();
}

void Lane::Impl::on_connect_timeout() {
  session->end(asio::error::timed_out,
               "no " + session->missing() + " within " + milliseconds(config.connect_timeout) + " ms");
}

/// For who has waited at the gate for as long as it may.
std::string Lane::Impl::why_not_connected() const {
  if (state != State::connecting) return down_cause;
  const std::string now =
      "no " + session->missing() + " after " + milliseconds(Clock::now() - connecting_since) + " ms";
  return down_cause.empty() ? now : down_cause + "; since then " + now;
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
  channels.on_login(outcome.clustered);
  if (client == 0 || client == next_client) {  // the first, or of a server that counts anew
    open_gate({});
  } else {
    login_step({find_client(client)}, &Impl::on_earlier_client);
  }
}

void Lane::Impl::on_earlier_client(const Replies& replies) {
  // A server that was restarted gives the same ids to strangers.
  if (replies.size() == 1 && is_client(replies.front(), config)) {
    login_step({kill_client(client)}, &Impl::open_gate);
  } else {
    open_gate({});
  }
}

void Lane::Impl::open_gate(const Replies&) {
  connect_timer.cancel();
  login.reset();
  client = next_client;
  state = State::ready;
  ready_since = Clock::now();
  ever_connected = true;
  session->logged_in();
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

/// A server that takes no writes any more has a successor, whose address may be another one: the session ends once all
/// that was sent on it is answered, and the next one asks for the address again.
void Lane::Impl::leave_if_demoted(const Op& op) {
  if (state != State::ready) return;
  const Replies& replies = op.builder.replies;
  const auto tells = std::ranges::find_if(
      replies, [](const base::Reply& reply) { return reply.is_error() && is_demoted(reply.text); });
  if (tells == replies.end()) return;
  state = State::leaving;
  demoted = true;
  down_error = Errc::read_only;
  down_cause = tells->text;
  health_timer.cancel();
  connect_timer.expires_after(kLeaving);
  connect_timer.async_wait([self = self()](ErrorCode error) {
    if (!error && self->state == State::leaving) self->end_leaving();
  });
}

void Lane::Impl::end_leaving() {
  if (in_flight.empty()) client = 0;  // nothing is under way that a later session would have to stop
  fail_connection(down_error, down_cause);
}

void Lane::Impl::on_end(const Session::Ending& ending) {
  connect_timer.cancel();
  health_timer.cancel();
  if (!failing && state != State::closed) {
    const Meaning meaning = classify(ending.stage, ending.error);
    down_error = meaning.code;
    login_pointless = meaning.for_good();
    down_cause = ending.problem;
    if (!tls_refusal->empty()) down_cause += ": " + *tls_refusal;
  }
  const bool stood = state == State::ready || state == State::leaving;
  useless = stood && !demoted ? std::nullopt : session->endpoint();
  // A server that takes no writes can be logged in to each time: it is not a success.
  if (stood && (!demoted || Clock::now() - ready_since >= config.reconnect_max)) backoff.reset();
  demoted = false;
  failing = false;
  channels.on_disconnected();
  if (state != State::closed) state = State::down;  // what the cut ones ask for next waits for the next connection
  const std::deque<OpPtr> cut = std::exchange(in_flight, {});
  for (const OpPtr& op : cut) on_cut(op);
  login.reset();
  if (state == State::closed) return;
  events.disconnected(down_cause);

  // A refusal, or a server that was never there, will not go away while the callers wait.
  const bool pointless = login_pointless || !ever_connected;
  login_pointless = false;
  if (pointless) fail_gate(true);

  hopeless = pointless;
  last_attempt = Clock::now();
  connect_at(last_attempt + backoff.next(std::generate_canonical<double, 32>(random)));
}

void Lane::Impl::recover() {
  if (state == State::closed) return;
  op_timer_armed = false;
  arm_op_timer();
  if (!session) {
    state = State::down;
    return connect_at(Clock::now() + config.reconnect_min);
  }
  session->abandon();
  failing = true;
  down_error = Errc::exhausted;
  down_cause.clear();
  on_end({Stage::ready, asio::error::operation_aborted, {}});
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
  } else if (kind == "subscribe" || kind == "unsubscribe") {
    on_confirmed(channel, kind == "unsubscribe");
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
  std::vector<std::string> idle = channels.take_idle(now - config.subscription_linger);
  if (idle.empty()) return;
  // The PING's reply is the end of what the UNSUBSCRIBE is answered by: see `on_refused`.
  const auto op = std::make_shared<Op>(Request{{{{"PING"}}}, config.command_timeout, std::move(idle)}, Lane::Handler{});
  op->finished = true;  // nobody waits for it
  op->leaving = true;
  op->unconfirmed = op->request.subscribe.size();
  encode(session->out(), "UNSUBSCRIBE", op->request.subscribe);
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
  resolver.leave();
}

}  // namespace holdfast::redis
