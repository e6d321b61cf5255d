#include "redis/connection/lane_impl.hpp"
#include "redis/failures/errors.hpp"
#include "redis/protocol/encode.hpp"

namespace holdfast::redis {

using base::Clock;
using base::TimePoint;

namespace {

/// How often callers can cause an attempt to connect at most.
constexpr std::chrono::milliseconds kQuickest{50};
/// Commands at the gate and under way, and bytes that the system has not taken yet, beyond which no more is taken on.
constexpr std::size_t kMostWaiting = 1U << 18U;
constexpr std::size_t kMostUnsent = 64U << 20U;

}  // namespace

void Lane::Impl::accept(const OpPtr& op) {
  if (state == State::closed) {
    op->handler(failure(Delivery::not_sent, Errc::closed, {}, true));
    return;
  }
  if (std::string cause = overload(); !cause.empty()) {
    op->handler(failure(Delivery::not_sent, Errc::unreachable, std::move(cause)));
    return;
  }
  limit(*op);
  if (state == State::ready) {
    send(op);
    return;
  }
  op->waiting = gate.insert(gate.end(), op);
  op->at_gate = true;
  // Whoever asks while there is little hope gets an answer from a fresh attempt, not from the end of a long pause.
  if (state == State::down && hopeless)
    connect_at(std::max(Clock::now(), last_attempt + std::min(config.reconnect_min, kQuickest)));
}

/// Why no more can be taken on; empty: it can.
std::string Lane::Impl::overload() const {
  if (gate.size() + in_flight.size() >= kMostWaiting) {
    return std::to_string(kMostWaiting) + " commands wait for the server already";
  }
  if (session && session->unsent() >= kMostUnsent) {
    return "the server does not take the " + std::to_string(session->unsent()) + " bytes that wait for it";
  }
  return {};
}

void Lane::Impl::leave_gate(Op& op) {
  if (!op.at_gate) return;
  op.at_gate = false;
  gate.erase(op.waiting);
}

void Lane::Impl::send(const OpPtr& op) noexcept {
  const std::size_t before = session->out().size();
  try {
    encode_request(op);
  } catch (...) {
    session->out().resize(before);  // no half of a command
    finish(op, failure(Delivery::not_sent, Errc::exhausted, {}));
  }
}

void Lane::Impl::encode_request(const OpPtr& op) {
  op->builder = {};
  op->unconfirmed = 0;
  op->cannot_subscribe.reset();
  std::string& out = session->out();
  const std::vector<std::string>& wanted = op->request.subscribe;
  if (!wanted.empty() && !channels.all_subscribed(wanted)) {
    op->cannot_subscribe = channels.denied(wanted, Clock::now());
    if (!op->cannot_subscribe) {
      op->unconfirmed = wanted.size();
      encode(out, "SUBSCRIBE", wanted);
    }
  }
  // Ahead of its first use on this connection: a NOSCRIPT would let what is sent behind it overtake it.
  op->loads = 0;
  for (const base::Command& command : op->request.commands) {
    if (command.script == nullptr || op->full_text || !told.insert(command.script).second) continue;
    encode(out, "SCRIPT", {"LOAD", std::string(command.script->text)});
    ++op->loads;
  }
  for (const base::Command& command : op->request.commands) {
    encode(out, command, op->full_text);
    events.command();
  }
  op->sent_at = Clock::now();
  expect(op, op->request.commands.size());
}

void Lane::Impl::expect(const OpPtr& op, std::size_t replies) {
  op->replies = replies;
  in_flight.push_back(op);
  events.to_be_flushed(session->out().size());
}

bool Lane::Impl::on_node(const Session::Node& node) {
  if (in_flight.empty()) return false;
  Op& op = *in_flight.front();
  if (op.unconfirmed > 0 || op.loads == 0) op.builder.add(node);
  return true;
}

/// A confirmation has come. In the order of the replies: of what the first in line has asked for.
void Lane::Impl::on_confirmed(const std::string& channel, bool left) {
  if (in_flight.empty()) return;
  Op& op = *in_flight.front();
  if (op.unconfirmed == 0 || op.leaving != left) return;
  --op.unconfirmed;
  if (left) {
    channels.on_unsubscribed(channel);
  } else {
    channels.on_subscribed(channel);
    arm_idle_sweep();
  }
}

/// A refused SUBSCRIBE or UNSUBSCRIBE is answered by a plain error and by nothing else, a permitted one by a push for
/// each channel. So a reply that comes before the last push is the refusal, and must not be taken for the reply of the
/// command behind it.
void Lane::Impl::on_refused(Op& op) {
  op.builder.finish();
  const base::Reply reply = std::move(op.builder.replies.front());
  op.builder = {};
  op.unconfirmed = 0;
  if (!reply.is_error()) {
    return fail_connection(Errc::unreachable, "the server answers without having confirmed a subscription");
  }
  const Meaning meaning = classify(reply.text);
  const std::vector<std::string>& names = op.request.subscribe;
  if (op.leaving) {
    for (const std::string& channel : names) channels.on_subscribed(channel);
    unsubscribe_refused = meaning.for_good();
    arm_idle_sweep();
    return;
  }
  std::string cause = "SUBSCRIBE";
  for (const std::string& channel : names) cause += " " + channel;
  op.cannot_subscribe = std::make_shared<const Refusal>(Refusal{meaning, cause + ": " + explain(reply.text)});
  if (meaning.for_good()) {
    channels.deny(refuses_command(reply.text) ? std::vector<std::string>{} : names, op.cannot_subscribe, Clock::now());
  }
}

void Lane::Impl::on_reply() {
  const OpPtr op = in_flight.front();
  if (op->unconfirmed > 0) return on_refused(*op);
  if (op->loads > 0) {  // refused perhaps; then NOSCRIPT says so
    --op->loads;
    return;
  }
  op->builder.finish();
  if (--op->replies > 0) return;
  in_flight.pop_front();
  if (op == login) {
    (this->*after_login)(op->builder.replies);
    return;
  }
  leave_if_demoted(*op);
  if (!op->finished) on_done(op);
  if (state == State::leaving && in_flight.empty()) end_leaving();
}

void Lane::Impl::on_done(const OpPtr& op) {
  std::vector<base::Reply>& replies = op->builder.replies;
  const bool script = op->request.commands.size() == 1 && op->request.commands.front().script != nullptr;
  if (script && !op->full_text && replies.front().is_error() && replies.front().text.starts_with("NOSCRIPT") &&
      (state == State::ready || state == State::leaving)) {
    op->full_text = true;
    send(op);
    return;
  }
  Result result;
  result.delivery = Delivery::answered;
  result.replies = std::move(replies);
  result.cannot_subscribe = std::move(op->cannot_subscribe);
  result.subscribed = !op->request.subscribe.empty() && !result.cannot_subscribe;
  finish(op, std::move(result));
}

/// The connection is gone, and no reply will come.
void Lane::Impl::on_cut(const OpPtr& op) noexcept {
  if (op->finished || op == login) return;
  Result result;
  try {
    result = failure(Delivery::unknown, Errc::unknown_outcome,
                     "the connection was lost before the reply came" + (down_cause.empty() ? "" : ": " + down_cause));
  } catch (const std::bad_alloc&) {
    result = failure(Delivery::unknown, Errc::unknown_outcome, {});
  }
  finish(op, std::move(result));
}

void Lane::Impl::limit(Op& op) {
  op.deadline = Clock::now() + op.request.timeout;
  deadlines.insert(op);
  arm_op_timer();
}

void Lane::Impl::finish(const OpPtr& op, Result result) noexcept {
  leave_gate(*op);
  op->unlink();
  op->finished = true;
  result.sent_at = op->sent_at;
  const Handler handler = std::move(op->handler);  // and with it what it holds, however long the bytes stay
  try {
    handler(std::move(result));
  } catch (...) {
    // Its own affair: the connection, and whoever else waits, have no part in it.
  }
}

/// One timer for all time limits. It may fire early, for a command that was answered meanwhile, and is then set anew:
/// cheaper than moving it with every command.
void Lane::Impl::arm_op_timer() {
  if (deadlines.empty()) return;
  const TimePoint next = deadlines.begin()->deadline;
  if (op_timer_armed && op_timer.expiry() <= next) return;
  op_timer_armed = false;  // unless the wait begins
  op_timer.expires_at(next);
  op_timer.async_wait([self = self()](ErrorCode error) {
    if (error) return;
    self->op_timer_armed = false;
    self->on_op_timer();
  });
  op_timer_armed = true;
}

void Lane::Impl::on_op_timer() {
  const TimePoint now = Clock::now();
  while (!deadlines.empty() && deadlines.begin()->deadline <= now) {
    const OpPtr op = deadlines.begin()->shared_from_this();
    // What was sent stays with the connection, whose replies must go on finding their commands; only nobody waits.
    finish(op, op->at_gate ? failure(Delivery::not_sent, down_error, why_not_connected())
                           : failure(Delivery::unknown, Errc::unknown_outcome,
                                     "no reply within " + milliseconds(op->request.timeout) + " ms"));
  }
  arm_op_timer();
}

void Lane::Impl::fail_gate(bool pointless) {
  while (!gate.empty()) {
    const OpPtr op = gate.front();
    finish(op, failure(Delivery::not_sent, down_error, down_cause, pointless));
  }
}

}  // namespace holdfast::redis
