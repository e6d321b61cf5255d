#include "redis/boost_settings.hpp"
#include "redis/lane_impl.hpp"

namespace holdfast::redis {

using base::Clock;
using base::TimePoint;
using Node = boost::redis::resp3::node_view;
using Event = boost::redis::any_adapter::parse_event;

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
  op->deadline = deadlines.emplace(Clock::now() + op->request.timeout, op);
  arm_op_timer();
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
  op->bytes = boost::redis::request(request_config());
  op->builder = {};
  op->subscribing = false;
  const std::vector<std::string>& wanted = op->request.subscribe;
  if (!channels.all_subscribed(wanted)) {
    for (const std::string& channel : wanted) {
      const std::string refused = channels.denied(channel, Clock::now());
      if (refused.empty()) continue;
      finish(op, refused_channel(Delivery::not_sent, refused));
      return;
    }
    op->subscribing = true;
    std::vector<std::string_view> subscribe{"SUBSCRIBE"};
    subscribe.insert(subscribe.end(), wanted.begin(), wanted.end());
    append(op->bytes, subscribe);
  }
  for (const base::Command& command : op->request.commands) {
    append(op->bytes, command, op->full_text);
    events.command();
  }
  op->sent_at = Clock::now();
  execute(op);
}

void Lane::Impl::execute(const OpPtr& op) {
  connection.async_exec(op->bytes, adapter(op), [self = shared_from_this(), op](ErrorCode error, std::size_t) {
    if (!op->finished) self->on_done(op, error);
  });
}

/// A refused SUBSCRIBE or UNSUBSCRIBE is answered by a plain error, which would be taken for the reply of the command
/// behind it and shift all later replies by one. So that command's reply counts only once the server has confirmed
/// the channel (or, after UNSUBSCRIBE, if it is the PING's); if not, the parse fails and the connection is dropped
/// before any reply can reach the wrong command.
boost::redis::any_adapter Lane::Impl::adapter(const OpPtr& op) {
  return boost::redis::any_adapter{[this, op](Event event, const Node& node, ErrorCode& error) {
    if (event == Event::done) op->builder.finish();
    if (event != Event::node) return;
    if (op->subscribing && !channels.all_subscribed(op->request.subscribe)) {
      for (const std::string& channel : op->request.subscribe) {
        op->refused = "SUBSCRIBE " + channel + ": " + std::string(node.value);
        channels.deny(channel, op->refused, Clock::now() + kDenialLasts);
      }
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

void Lane::Impl::on_done(const OpPtr& op, ErrorCode error) {
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
    finish(op, refused_channel(Delivery::unknown, op->refused));
    return;
  }
  finish(op, failure(Delivery::unknown, Errc::unknown_outcome, "the connection was lost before the reply came"));
}

void Lane::Impl::finish(const OpPtr& op, Result result) {
  leave_gate(*op);
  deadlines.erase(op->deadline);
  op->finished = true;
  result.sent_at = op->sent_at;
  const Handler handler = std::move(op->handler);  // and with it what it holds, however long the bytes stay
  handler(std::move(result));
}

/// One timer for all time limits. It may fire early, for a command that was answered meanwhile, and is then set anew:
/// cheaper than moving it with every command.
void Lane::Impl::arm_op_timer() {
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

void Lane::Impl::on_op_timer() {
  const TimePoint now = Clock::now();
  std::vector<OpPtr> late;
  for (auto it = deadlines.begin(); it != deadlines.end() && it->first <= now; ++it) late.push_back(it->second);
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
