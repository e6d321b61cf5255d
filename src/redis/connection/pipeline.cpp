// SPDX-License-Identifier: Apache-2.0
// The requests of a link, and its subscriptions.
#include <algorithm>
#include <new>
#include <utility>

#include "redis/connection/link.hpp"
#include "redis/connection/session.hpp"
#include "redis/decide/errors.hpp"
#include "redis/decide/resp.hpp"

namespace holdfast::redis {

using base::Clock;
using base::TimePoint;

namespace {

/// Returns whether the request must go to another server, since this one does not serve it, or lacks some of its keys.
bool tell_refusals(const Op& op, LaneEvents& events) {
  bool redirected = false;
  for (const base::Reply& reply : op.builder.replies) {
    if (!reply.is_error()) continue;
    events.refused(reply.text);
    redirected = redirected || is_redirect(reply.text) || is_apart(reply.text);
  }
  return redirected && events.takes_misdirected() && !op.request.here;
}

/// The most commands at the gate and in flight, and the most bytes not yet taken by the system; further requests fail.
constexpr std::size_t kMostWaiting = 1U << 18U;
constexpr std::size_t kMostUnsent = 64U << 20U;

/// Why a request cannot be accepted; empty: it can.
std::string overload(std::size_t waiting, std::size_t unsent) {
  if (waiting >= kMostWaiting) return std::to_string(kMostWaiting) + " commands wait for the server already";
  if (unsent < kMostUnsent) return {};
  return "the server does not take the " + std::to_string(unsent) + " bytes that wait for it";
}

// Commands whose script the server did not know: only those are resent, with the script's text.

/// If commands of this request, just answered for the first time, were refused because the server does not know their
/// script, notes which must be resent. The server refuses them before it does anything.
bool begin_resending(Op& op) {
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
bool resends_a_part(const Op& op) { return !op.resent.empty() && op.resent.size() < op.request.commands.size(); }

/// Everything is answered: replaces the refusals by the replies to the resent commands.
void end_resending(Op& op) {
  if (op.resent.empty()) return;
  for (std::size_t i = 0; i < op.resent.size(); ++i) {
    op.answered[op.resent[i]] = std::move(op.builder.replies[i]);
  }
  op.builder.replies = std::move(op.answered);
}

/// That its first reply is already the one that marks the end.
bool left_unanswered(const Op& auth) {
  const base::Reply& first = auth.builder.replies.front();
  return auth.replies == 2 && !first.is_error() && first.text != "OK";
}

}  // namespace

Pipeline::Pipeline(timing::Schedule& schedule, Link& link, Subscriptions& subscriptions, LaneEvents& events)
    : link_(link),
      connection_(link.connection),
      subscriptions_(subscriptions),
      events_(events),
      interlock_(schedule, link, subscriptions, events),
      limit_alarm_(schedule, [this] { on_limit_alarm(); }) {}

// --- from the caller to the connection ---

void Pipeline::submit(Request&& request, ResultHandler&& handler) {
  OpPtr op;
  try {
    op = std::make_shared<Op>(std::move(request), std::move(handler));
    accept(op);
    return;
  } catch (...) {
    if (op) leave_gate(*op);
    if (op && op->is_linked()) op->unlink();
  }
  const ResultHandler untold = std::move(op ? op->handler : handler);
  untold(failure(Delivery::not_sent, Errc::exhausted, {}));
}

void Pipeline::accept(const OpPtr& op) {
  if (connection_.closed()) {
    op->handler(failure(Delivery::not_sent, Errc::closed, {}, true));
    return;
  }
  const std::size_t unsent = connection_.session() != nullptr ? connection_.session()->unsent() : 0;
  if (std::string cause = overload(gate_.size() + in_flight_.size(), unsent); !cause.empty()) {
    op->handler(failure(Delivery::not_sent, Errc::unreachable, std::move(cause)));
    return;
  }
  limit(*op);
  if (connection_.ready()) {
    send(op);
    return;
  }
  op->waiting = gate_.insert(gate_.end(), op);
  op->at_gate = true;
  connection_.hurry();
}

/// The second connection knows less: it has the address of one server.
void Pipeline::on_login(const LoginOutcome& outcome) {
  if (!link_.for_messages()) subscriptions_.on_login(outcome.clustered, outcome.resp2);
}

void Pipeline::leave_gate(Op& op) {
  if (!op.at_gate) return;
  op.at_gate = false;
  gate_.erase(op.waiting);
}

void Pipeline::open_gate() {
  login_.reset();
  while (!gate_.empty()) {
    const OpPtr op = gate_.front();
    leave_gate(*op);
    send(op);
  }
}

void Pipeline::send(const OpPtr& op) noexcept {
  const std::size_t before = connection_.out().size();
  try {
    encode_request(*op);
    expect(op, op->resent.empty() ? op->request.commands.size() : op->resent.size());
  } catch (...) {
    connection_.out().resize(before);  // no half command remains, and no entry that would take another command's reply
    if (!in_flight_.empty() && in_flight_.back() == op) in_flight_.pop_back();
    finish(op, resends_a_part(*op) ? failure(Delivery::unknown, Errc::unknown_outcome, {})
                                   : failure(Delivery::not_sent, Errc::exhausted, {}));
  }
}

void Pipeline::encode_request(Op& op) {
  op.builder = {};
  std::string& out = connection_.out();
  const std::vector<base::Command>& commands = op.request.commands;
  const auto ask = [&]() -> std::size_t {
    if (!op.request.asking) return 0;
    encode(out, {{"ASKING"}}, false);
    return 1;
  };
  if (op.resent.empty()) {
    interlock_.subscribe(op);
    op.loads = loaded_.load(commands, out);
    op.loads += ask();
    for (const base::Command& command : commands) {
      encode(out, command, false);
      events_.command();
    }
  }
  for (const std::size_t i : op.resent) {
    op.loads += ask();
    encode(out, commands[i], true);
    events_.command();
  }
  if (!resends_a_part(op)) op.sent_at = Clock::now();  // otherwise a lease granted the first time is already running
}

void Pipeline::expect(const OpPtr& op, std::size_t replies) {
  op->replies = replies;
  in_flight_.push_back(op);
  events_.to_be_flushed(connection_.out().size());
}

void Pipeline::send_login(const std::vector<base::Command>& commands) {
  login_ = std::make_shared<Op>(Request{}, ResultHandler{});
  for (const base::Command& command : commands) encode(connection_.out(), command, false);
  expect(login_, commands.size());
}

/// Redis since 7.2 and Valkey leave a refusal unanswered while they have something else to send. So the reply to
/// another command marks the end.
void Pipeline::send_auth(const base::Command& command) {
  auth_ = std::make_shared<Op>(Request{}, ResultHandler{});
  encode(connection_.out(), command, false);
  encode(connection_.out(), {{connection_.end_mark()}}, false);
  expect(auth_, 2);
}

void Pipeline::ping() {
  const auto op = std::make_shared<Op>(Request{}, ResultHandler{});
  encode(connection_.out(), {{"PING"}}, false);
  expect(op, 1);
}

// --- from the connection to the caller ---

bool Pipeline::on_node(const Node& node) {
  if (in_flight_.empty()) return false;
  Op& op = *in_flight_.front();
  if (!op.asking() && (op.lacks_confirmations() || op.loads == 0)) op.builder.add(node);
  return true;
}

ReplyLimits Pipeline::room() const { return in_flight_.empty() ? Session::kLoginLimits : in_flight_.front()->left; }

void Pipeline::on_reply(const ReplyLimits& length) {
  const OpPtr op = in_flight_.front();
  op->left.bytes -= std::min(length.bytes, op->left.bytes);
  op->left.elements -= std::min(length.elements, op->left.elements);
  if (op->asking()) {  // if it was refused, the next reply shows it
    --op->asks;
    return;
  }
  if (op->lacks_confirmations()) return interlock_.on_refused(*op);
  if (op->loads > 0) {  // if it was refused, a NOSCRIPT shows it
    --op->loads;
    return;
  }
  op->builder.finish();
  if (op->leaving_sharded && interlock_.refused_to_leave(*op)) return;
  if (op == auth_ && left_unanswered(*op)) op->replies = 1;
  if (--op->replies > 0) return;
  in_flight_.pop_front();
  if (op == login_) return connection_.on_login(op->builder.replies);
  if (op == auth_) {
    auth_.reset();
    connection_.on_authenticated(op->builder.replies);
  } else {
    connection_.leave_if_demoted(op->builder.replies);
  }
  if (!op->finished()) on_done(op);
  if (in_flight_.empty()) connection_.on_idle();
}

void Pipeline::on_done(const OpPtr& op) {
  if (connection_.stands() && begin_resending(*op)) return send(op);
  end_resending(*op);
  const bool misdirected = tell_refusals(*op, events_);
  Result result;
  result.delivery = Delivery::answered;
  result.replies = std::move(op->builder.replies);
  result.cannot_subscribe = std::move(op->cannot_subscribe);
  result.resent = !op->resent.empty();
  result.subscribing = op->subscribing;
  result.subscribed = !op->request.subscribe.empty() && !result.cannot_subscribe && !result.subscribing &&
                      subscriptions_.stay_subscribed(op->request.subscribe, op->request.publish);
  result.asked = op->request.asking;
  if (misdirected) return misdirect(op, std::move(result));
  events_.answered(op->request.operation, Clock::now() - op->sent_at);
  finish(op, std::move(result));
}

void Pipeline::misdirect(const OpPtr& op, Result result) noexcept {
  part_with(*op, result);
  Misdirected misdirected{std::move(op->request), std::exchange(op->handler, nullptr), op->deadline, std::move(result)};
  try {
    events_.misdirected(std::move(misdirected));
  } catch (...) {
    // Ignored, as in finish().
  }
}

/// Requests that return to this gate are appended behind those visited here.
void Pipeline::reroute() noexcept {
  auto next = gate_.begin();
  for (std::size_t left = gate_.size(); left > 0; --left) {
    const OpPtr op = *next++;
    if (!op->request.here) misdirect(op, {});
  }
}

void Pipeline::part_with(Op& op, Result& result) {
  leave_gate(op);
  op.unlink();
  result.sent_at = op.sent_at;
}

void Pipeline::finish(const OpPtr& op, Result result) noexcept {
  part_with(*op, result);
  const ResultHandler handler =
      std::exchange(op->handler, nullptr);  // destroyed now, with all that it owns, even if the reply is still to come
  try {
    handler(std::move(result));
  } catch (...) {
    // Ignored: it must not affect the connection and other requests.
  }
}

// --- without an answer ---

Result Pipeline::not_connected(std::string cause, bool pointless) const {
  Result result = failure(Delivery::not_sent, connection_.down().error, std::move(cause), pointless);
  result.refused = connection_.down().refused;
  return result;
}

/// Its time starts now. The alarm may ring early, for a request that was answered meanwhile; that is cheaper than
/// moving it for each one.
void Pipeline::limit(Op& op) {
  op.deadline = Clock::now() + op.request.timeout;
  limits_.insert(op);
  limit_alarm_.set_by(limits_.begin()->deadline);
}

void Pipeline::set_limit_alarm() noexcept {
  limit_alarm_.set(limits_.empty() ? TimePoint::max() : limits_.begin()->deadline);
}

void Pipeline::on_limit_alarm() {
  const std::shared_ptr<Link> keep = link_.keep();
  const TimePoint now = Clock::now();
  set_limit_alarm();  // in case the rest throws
  while (!limits_.empty() && limits_.begin()->deadline <= now) on_time_over(limits_.begin()->shared_from_this());
  set_limit_alarm();
}

/// Finishes it.
void Pipeline::on_time_over(const OpPtr& op) {
  // A sent command stays in flight, so that later replies still match their commands; it only has no handler any more.
  finish(op, op->at_gate ? not_connected(connection_.why_not_yet(), /*pointless=*/false)
                         : failure(Delivery::unknown, Errc::unknown_outcome,
                                   "no reply within " + milliseconds(op->request.timeout) + " ms"));
}

void Pipeline::on_cut() {
  if (const auto messages = std::exchange(link_.messages, nullptr)) messages->end(link_.keep());
  subscriptions_.on_disconnected();
  const std::deque<OpPtr> sent = std::exchange(in_flight_, {});
  for (const OpPtr& op : sent) cut(op);
  login_.reset();
  auth_.reset();
}

void Pipeline::cut(const OpPtr& op) noexcept {
  if (op->finished() || op == login_) return;
  const std::string& cause = connection_.down().cause;
  Result result;
  try {
    result = failure(Delivery::unknown, Errc::unknown_outcome,
                     "the connection was lost before the reply came" + (cause.empty() ? "" : ": " + cause));
  } catch (const std::bad_alloc&) {
    result = failure(Delivery::unknown, Errc::unknown_outcome, {});
  }
  finish(op, std::move(result));
}

void Pipeline::give_up() {
  while (!gate_.empty()) {
    const OpPtr op = gate_.front();
    finish(op, not_connected(connection_.down().cause, /*pointless=*/true));
  }
}

void Pipeline::close() {
  limit_alarm_.cancel();
  interlock_.cancel();
}

void Pipeline::drop() {
  limits_.clear();
  const std::list<OpPtr> waiting = std::exchange(gate_, {});
  const std::deque<OpPtr> sent = std::exchange(in_flight_, {});
  login_.reset();
  auth_.reset();
}

// --- a new session, and its messages ---

void Pipeline::on_begin() {
  loaded_.clear();
  interlock_.on_new_session();
}

void Pipeline::on_push(const base::Reply& message) {
  if (!message.is_array() || message.elements.size() < 2) return;
  const std::string& kind = message.elements[0].text;
  if (kind == "invalidate") return events_.invalidated(message.elements[1]);
  const std::string& channel = message.elements[1].text;
  if (kind == "message" || kind == "smessage") {
    events_.message();
    const bool says = message.elements.size() > 2;
    subscriptions_.on_message(channel, says ? busy_for(message.elements[2].text) : std::nullopt);
    if (says) events_.said(channel, message.elements[2].text);
  } else if (kind == "sunsubscribe") {
    if (subscriptions_.on_taken_away(channel)) events_.taken_away(channel);
  } else if (!in_flight_.empty()) {
    interlock_.on_confirmed(*in_flight_.front(), kind, channel);
  }
}

// --- subscriptions ---

Interlock::Interlock(timing::Schedule& schedule, Link& link, Subscriptions& subscriptions, LaneEvents& events)
    : schedule_(schedule),
      link_(link),
      connection_(link.connection),
      subscriptions_(subscriptions),
      events_(events),
      idle_alarm_(schedule, [this] { on_idle_alarm(); }) {}

void Interlock::subscribe(Op& op) {
  op.unconfirmed = op.unconfirmed_sharded = 0;
  op.cannot_subscribe.reset();
  op.subscribing = false;
  const std::vector<std::string>& wanted = op.request.subscribe;
  const Publish how = subscriptions_.resolved(op.request.publish);
  if (wanted.empty() || subscriptions_.all_subscribed(wanted, how)) return;
  op.cannot_subscribe = subscriptions_.denied(wanted, Clock::now());
  if (connection_.speaks_resp2() && !link_.for_messages()) return subscribe_apart(op, how);
  if (op.cannot_subscribe) return;
  if (how != Publish::spublish) {
    op.unconfirmed = wanted.size();
    encode(connection_.out(), "SUBSCRIBE", wanted);
  }
  if (how != Publish::publish) {
    op.unconfirmed_sharded = wanted.size();
    if (op.request.asking) {
      encode(connection_.out(), {{"ASKING"}}, false);
      op.asks = 1;
    }
    encode(connection_.out(), "SSUBSCRIBE", wanted);
  }
}

/// Where even this connection may not subscribe, as behind some proxies, a waiter looks by itself now and then.
void Interlock::subscribe_apart(Op& op, Publish how) {
  op.subscribing = true;
  if (std::exchange(op.cannot_subscribe, nullptr)) return;
  if (!link_.messages) {
    link_.messages = std::make_shared<MessageLink>(schedule_, link_.config, connection_.session()->address(),
                                                   subscriptions_, events_);
    link_.messages->start();
  }
  link_.messages->subscribe(op.request.subscribe, how);
}

/// Confirmations come in the order of the replies, so this one is for the first request.
void Interlock::on_confirmed(Op& first, const std::string& kind, const std::string& channel) {
  const bool sharded = kind == "ssubscribe";
  std::size_t& unconfirmed = sharded ? first.unconfirmed_sharded : first.unconfirmed;
  if (unconfirmed == 0 || (!sharded && kind != (first.leaving ? "unsubscribe" : "subscribe"))) return;
  --unconfirmed;
  if (first.leaving) {
    subscriptions_.on_unsubscribed(channel);
  } else {
    subscriptions_.on_subscribed(channel, sharded ? Channels::sharded : Channels::plain);
    sweep_later();
  }
}

void Interlock::on_refused(Op& first) {
  first.builder.finish();
  const base::Reply reply = std::move(first.builder.replies.front());
  first.builder = {};
  // The SUBSCRIBE goes ahead of the SSUBSCRIBE.
  const bool sharded = first.unconfirmed == 0;
  (sharded ? first.unconfirmed_sharded : first.unconfirmed) = 0;
  if (!reply.is_error()) {
    connection_.fail(Errc::unreachable, "the server answers without having confirmed a subscription");
  } else if (first.leaving) {
    on_unsubscribe_refused(first, reply.text);
  } else {
    on_subscribe_refused(first, sharded ? "SSUBSCRIBE" : "SUBSCRIBE", reply.text);
  }
}

/// The channel counts as unsubscribed, whatever the reason for the refusal. If the server gave the channel away, it is;
/// and messages on an unused channel do no harm. But a wake would be lost if a channel counted as subscribed that is
/// not.
bool Interlock::refused_to_leave(Op& op) {
  const base::Reply& reply = op.builder.replies.front();
  if (!reply.is_error()) return false;
  if (classify(reply.text).for_good()) unsubscribe_refused_ = true;
  op.builder = {};
  return true;
}

void Interlock::on_unsubscribe_refused(const Op& op, const std::string& error_text) {
  for (const std::string& channel : op.request.subscribe) subscriptions_.on_subscribed(channel);
  unsubscribe_refused_ = classify(error_text).for_good();
  sweep_later();
}

void Interlock::on_subscribe_refused(Op& op, std::string verb, const std::string& error_text) {
  const Meaning meaning = classify(error_text);
  const std::vector<std::string>& names = op.request.subscribe;
  std::string cause = std::move(verb);
  for (const std::string& channel : names) cause += " " + channel;
  op.cannot_subscribe = std::make_shared<const Refusal>(Refusal{meaning, cause + ": " + explain(error_text)});
  if (meaning.for_good()) {
    subscriptions_.deny(refuses_command(error_text) ? std::vector<std::string>{} : names, op.cannot_subscribe,
                        Clock::now());
  }
}

void Interlock::sweep_later() {
  const base::Duration pause =
      std::max<base::Duration>(link_.config.timing.subscription_linger / 2, std::chrono::milliseconds(20));
  idle_alarm_.set_by(Clock::now() + pause);
}

void Interlock::on_idle_alarm() {
  if (connection_.closed()) return;
  const std::shared_ptr<Link> keep = link_.keep();
  if (subscriptions_.any_subscribed()) sweep_later();
  give_back_idle();
}

void Interlock::give_back_idle() {
  if (!connection_.ready() || unsubscribe_refused_) return;
  Subscriptions::Idle idle = subscriptions_.take_idle(Clock::now() - link_.config.timing.subscription_linger);
  if (idle.plain.empty() && idle.sharded.empty()) return;
  const std::shared_ptr<Op> op = idle.sharded.empty() ? leave(std::move(idle.plain)) : leave_sharded(idle);
  encode(connection_.out(), op->request.commands.front(), false);
  link_.pipeline.expect(op, 1);
}

/// The PING's reply marks the end of the replies to UNSUBSCRIBE: see on_refused().
std::shared_ptr<Op> Interlock::leave(std::vector<std::string> channels) {
  const auto op = std::make_shared<Op>(Request{{{{"PING"}}}, link_.config.timing.command_timeout, std::move(channels)},
                                       ResultHandler{});
  op->leaving = true;
  op->unconfirmed = op->request.subscribe.size();
  encode(connection_.out(), "UNSUBSCRIBE", op->request.subscribe);
  return op;
}

/// One command for each channel: their slots may differ, and so may the server's replies.
std::shared_ptr<Op> Interlock::leave_sharded(const Subscriptions::Idle& idle) {
  const auto op =
      std::make_shared<Op>(Request{{{{connection_.end_mark()}}}, link_.config.timing.command_timeout}, ResultHandler{});
  op->leaving_sharded = true;
  if (!idle.plain.empty()) encode(connection_.out(), "UNSUBSCRIBE", idle.plain);
  for (const std::string& channel : idle.sharded) encode(connection_.out(), "SUNSUBSCRIBE", {channel});
  return op;
}

}  // namespace holdfast::redis
