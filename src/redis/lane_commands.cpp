#include "redis/encode.hpp"
#include "redis/lane_impl.hpp"

namespace holdfast::redis {

using base::Clock;
using base::TimePoint;

namespace {

/// How long a refused SUBSCRIBE is believed before it is tried again.
constexpr std::chrono::seconds kDenialLasts{5};
/// How often callers can cause an attempt to connect at most.
constexpr std::chrono::milliseconds kQuickest{50};

Result refused_channel(Delivery delivery, const std::string& cause) {
  Result result = failure(delivery, Errc::denied, cause, delivery == Delivery::not_sent);
  result.refused_channel = true;
  return result;
}

}  // namespace

void Lane::Impl::accept(const OpPtr& op) {
  if (state == State::closed) {
    op->handler(failure(Delivery::not_sent, Errc::closed, {}, true));
    return;
  }
  limit(*op);
  if (state == State::ready) {
    send(op);
    return;
  }
  op->at_gate = true;
  op->waiting = gate.insert(gate.end(), op);
  // Whoever asks while there is little hope gets an answer from a fresh attempt, not from the end of a long pause.
  if (state == State::down && hopeless)
    connect_at(std::max(Clock::now(), last_attempt + std::min(config.reconnect_min, kQuickest)));
}

void Lane::Impl::leave_gate(Op& op) {
  if (!op.at_gate) return;
  op.at_gate = false;
  gate.erase(op.waiting);
}

void Lane::Impl::send(const OpPtr& op) {
  op->builder = {};
  op->subscribing = false;
  std::string& out = session->out();
  const std::vector<std::string>& wanted = op->request.subscribe;
  if (!wanted.empty() && !channels.all_subscribed(wanted)) {
    for (const std::string& channel : wanted) {
      const std::string refused = channels.denied(channel, Clock::now());
      if (refused.empty()) continue;
      finish(op, refused_channel(Delivery::not_sent, refused));
      return;
    }
    op->subscribing = true;
    encode(out, "SUBSCRIBE", wanted);
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

/// A refused SUBSCRIBE or UNSUBSCRIBE is answered by a plain error, which would be taken for the reply of the command
/// behind it and shift all later replies by one. So that command's reply counts only once the server has confirmed
/// the channel (or, after UNSUBSCRIBE, if it is the PING's); if not, the connection is dropped before any reply can
/// reach the wrong command.
bool Lane::Impl::on_node(const Session::Node& node) {
  if (in_flight.empty()) return false;
  Op& op = *in_flight.front();
  if (op.subscribing && !channels.all_subscribed(op.request.subscribe)) {
    for (const std::string& channel : op.request.subscribe) {
      op.refused = "SUBSCRIBE " + channel + ": " + std::string(node.value);
      channels.deny(channel, op.refused, Clock::now() + kDenialLasts);
    }
    return false;
  }
  if (op.must_pong && node.value != "PONG") {
    unsubscribe_refused = true;
    return false;
  }
  if (op.loads == 0) op.builder.add(node);
  return true;
}

void Lane::Impl::on_reply() {
  const OpPtr op = in_flight.front();
  if (op->loads > 0) {  // refused perhaps; then NOSCRIPT says so
    --op->loads;
    return;
  }
  op->builder.finish();
  if (--op->replies > 0) return;
  in_flight.pop_front();
  if (op == login) {
    (this->*after_login)(op->builder.replies);
  } else if (!op->finished) {
    on_done(op);
  }
}

void Lane::Impl::on_done(const OpPtr& op) {
  std::vector<base::Reply>& replies = op->builder.replies;
  const bool script = op->request.commands.size() == 1 && op->request.commands.front().script != nullptr;
  if (script && !op->full_text && replies.front().is_error() && replies.front().text.starts_with("NOSCRIPT") &&
      state == State::ready) {
    op->full_text = true;
    send(op);
    return;
  }
  Result result;
  result.delivery = Delivery::answered;
  result.replies = std::move(replies);
  result.subscribed = !op->request.subscribe.empty();
  finish(op, std::move(result));
}

/// The connection is gone, and no reply will come.
void Lane::Impl::on_cut(const OpPtr& op) {
  if (op->finished || op == login) return;
  if (!op->refused.empty()) {
    finish(op, refused_channel(Delivery::unknown, op->refused));
    return;
  }
  finish(op, failure(Delivery::unknown, Errc::unknown_outcome, "the connection was lost before the reply came"));
}

void Lane::Impl::limit(Op& op) {
  op.deadline = Clock::now() + op.request.timeout;
  deadlines.insert(op);
  arm_op_timer();
}

void Lane::Impl::finish(const OpPtr& op, Result result) {
  leave_gate(*op);
  deadlines.erase(deadlines.iterator_to(*op));
  op->finished = true;
  result.sent_at = op->sent_at;
  const Handler handler = std::move(op->handler);  // and with it what it holds, however long the bytes stay
  handler(std::move(result));
}

/// One timer for all time limits. It may fire early, for a command that was answered meanwhile, and is then set anew:
/// cheaper than moving it with every command.
void Lane::Impl::arm_op_timer() {
  if (deadlines.empty()) return;
  const TimePoint next = deadlines.begin()->deadline;
  if (op_timer_armed && op_timer.expiry() <= next) return;
  op_timer_armed = true;
  op_timer.expires_at(next);
  op_timer.async_wait([self = self()](ErrorCode error) {
    if (error) return;
    self->op_timer_armed = false;
    self->on_op_timer();
  });
}

void Lane::Impl::on_op_timer() {
  const TimePoint now = Clock::now();
  std::vector<OpPtr> late;
  for (auto it = deadlines.begin(); it != deadlines.end() && it->deadline <= now; ++it) {
    late.push_back(it->shared_from_this());
  }
  for (const OpPtr& op : late) {
    // What was sent stays with the connection, whose replies must go on finding their commands; only nobody waits.
    finish(op, op->at_gate ? failure(Delivery::not_sent, down_error, down_cause)
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
