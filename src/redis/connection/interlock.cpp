#include "redis/connection/interlock.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "redis/failures/errors.hpp"
#include "redis/protocol/encode.hpp"

namespace holdfast::redis {

using base::Clock;

Interlock::Interlock(const boost::asio::any_io_executor& executor, const Config& config, Subscriptions& subscriptions,
                     const Lifeline& lifeline, Connection& connection,
                     std::function<void(const std::shared_ptr<Op>&)> expect)
    : config_(config),
      subscriptions_(subscriptions),
      lifeline_(lifeline),
      connection_(connection),
      expect_(std::move(expect)),
      idle_timer_(executor) {}

void Interlock::subscribe(Op& op) {
  op.unconfirmed = 0;
  op.cannot_subscribe.reset();
  const std::vector<std::string>& wanted = op.request.subscribe;
  if (wanted.empty() || subscriptions_.all_subscribed(wanted)) return;
  op.cannot_subscribe = subscriptions_.denied(wanted, Clock::now());
  if (op.cannot_subscribe) return;
  op.unconfirmed = wanted.size();
  if (op.request.asking) {
    encode(connection_.out(), {{"ASKING"}}, false);
    op.asks = 1;
  }
  encode(connection_.out(), "SUBSCRIBE", wanted);
}

void Interlock::on_confirmed(Op& first, const std::string& channel, bool left) {
  if (first.unconfirmed == 0 || first.leaving != left) return;
  --first.unconfirmed;
  if (left) {
    subscriptions_.on_unsubscribed(channel);
  } else {
    subscriptions_.on_subscribed(channel);
    arm_idle_sweep();
  }
}

void Interlock::on_refused(Op& first) {
  first.builder.finish();
  const base::Reply reply = std::move(first.builder.replies.front());
  first.builder = {};
  first.unconfirmed = 0;
  if (!reply.is_error()) {
    connection_.fail(Errc::unreachable, "the server answers without having confirmed a subscription");
  } else if (first.leaving) {
    on_unsubscribe_refused(first, reply.text);
  } else {
    on_subscribe_refused(first, reply.text);
  }
}

void Interlock::on_unsubscribe_refused(const Op& op, const std::string& error_text) {
  for (const std::string& channel : op.request.subscribe) subscriptions_.on_subscribed(channel);
  unsubscribe_refused_ = classify(error_text).for_good();
  arm_idle_sweep();
}

void Interlock::on_subscribe_refused(Op& op, const std::string& error_text) {
  const Meaning meaning = classify(error_text);
  const std::vector<std::string>& names = op.request.subscribe;
  std::string cause = "SUBSCRIBE";
  for (const std::string& channel : names) cause += " " + channel;
  op.cannot_subscribe = std::make_shared<const Refusal>(Refusal{meaning, cause + ": " + explain(error_text)});
  if (meaning.for_good()) {
    subscriptions_.deny(refuses_command(error_text) ? std::vector<std::string>{} : names, op.cannot_subscribe,
                        Clock::now());
  }
}

void Interlock::arm_idle_sweep() {
  if (idle_armed_) return;
  idle_armed_ = true;
  idle_timer_.expires_after(std::max<Clock::duration>(config_.subscription_linger / 2, std::chrono::milliseconds(20)));
  idle_timer_.async_wait([self = self()](Session::ErrorCode error) {
    self->idle_armed_ = false;
    if (error || self->connection_.closed()) return;
    self->give_back_idle();
    if (self->subscriptions_.any_subscribed()) self->arm_idle_sweep();
  });
}

void Interlock::give_back_idle() {
  if (!connection_.ready() || unsubscribe_refused_) return;
  std::vector<std::string> idle = subscriptions_.take_idle(Clock::now() - config_.subscription_linger);
  if (idle.empty()) return;
  // The PING's reply is the end of what the UNSUBSCRIBE is answered by: see on_refused().
  const auto op =
      std::make_shared<Op>(Request{{{{"PING"}}}, config_.command_timeout, std::move(idle)}, ResultHandler{});
  op->finished = true;  // nobody waits for it
  op->leaving = true;
  op->unconfirmed = op->request.subscribe.size();
  encode(connection_.out(), "UNSUBSCRIBE", op->request.subscribe);
  encode(connection_.out(), op->request.commands.front(), false);
  expect_(op);
}

}  // namespace holdfast::redis
