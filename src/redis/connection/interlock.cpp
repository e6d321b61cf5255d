#include "redis/connection/interlock.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "redis/failures/errors.hpp"
#include "redis/protocol/encode.hpp"

namespace holdfast::redis {

using base::Clock;

Interlock::Interlock(timing::Schedule& schedule, const Config& config, Subscriptions& subscriptions,
                     const Lifeline& lifeline, Connection& connection,
                     std::function<void(const std::shared_ptr<Op>&)> expect)
    : config_(config),
      subscriptions_(subscriptions),
      lifeline_(lifeline),
      connection_(connection),
      expect_(std::move(expect)),
      idle_alarm_(schedule, [this] { on_idle_alarm(); }) {}

void Interlock::subscribe(Op& op) {
  op.unconfirmed = op.unconfirmed_sharded = 0;
  op.cannot_subscribe.reset();
  const std::vector<std::string>& wanted = op.request.subscribe;
  const Publish how = subscriptions_.resolved(op.request.publish);
  if (wanted.empty() || subscriptions_.all_subscribed(wanted, how)) return;
  op.cannot_subscribe = subscriptions_.denied(wanted, Clock::now());
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
  const base::Duration pause = std::max<base::Duration>(config_.subscription_linger / 2, std::chrono::milliseconds(20));
  idle_alarm_.set_by(Clock::now() + pause);
}

void Interlock::on_idle_alarm() {
  if (connection_.closed()) return;
  const std::shared_ptr<void> keep = lifeline_.hold();
  if (subscriptions_.any_subscribed()) sweep_later();
  give_back_idle();
}

void Interlock::give_back_idle() {
  if (!connection_.ready() || unsubscribe_refused_) return;
  Subscriptions::Idle idle = subscriptions_.take_idle(Clock::now() - config_.subscription_linger);
  if (idle.plain.empty() && idle.sharded.empty()) return;
  const std::shared_ptr<Op> op = idle.sharded.empty() ? leave(std::move(idle.plain)) : leave_sharded(idle);
  op->finished = true;  // it has no handler
  encode(connection_.out(), op->request.commands.front(), false);
  expect_(op);
}

/// The PING's reply marks the end of the replies to UNSUBSCRIBE: see on_refused().
std::shared_ptr<Op> Interlock::leave(std::vector<std::string> channels) {
  const auto op =
      std::make_shared<Op>(Request{{{{"PING"}}}, config_.command_timeout, std::move(channels)}, ResultHandler{});
  op->leaving = true;
  op->unconfirmed = op->request.subscribe.size();
  encode(connection_.out(), "UNSUBSCRIBE", op->request.subscribe);
  return op;
}

/// One command for each channel: their slots may differ, and so may the server's replies.
std::shared_ptr<Op> Interlock::leave_sharded(const Subscriptions::Idle& idle) {
  const auto op = std::make_shared<Op>(Request{{{{"HELLO"}}}, config_.command_timeout}, ResultHandler{});
  op->leaving_sharded = true;
  if (!idle.plain.empty()) encode(connection_.out(), "UNSUBSCRIBE", idle.plain);
  for (const std::string& channel : idle.sharded) encode(connection_.out(), "SUNSUBSCRIBE", {channel});
  return op;
}

}  // namespace holdfast::redis
