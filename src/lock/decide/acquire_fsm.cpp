// SPDX-License-Identifier: Apache-2.0
#include "lock/decide/acquire_fsm.hpp"

#include <algorithm>
#include <cmath>

#include <holdfast/error.hpp>

namespace holdfast::engine {

void Place::found(std::int64_t others) {
  const int most = static_cast<int>(std::clamp<std::int64_t>(others, 0, kNoLimit / 4));
  if (!known()) {
    ahead_ = most;
    turns_ = 0;
  }
  ahead_ = std::min(ahead_, most + turns_);
  others_ = most;
}

void Place::guess() {
  if (known()) return;
  found(kNear);
  guessed_ = true;
}

void Place::on_release(TimePoint now) {
  if (released_at_ != TimePoint{}) between_ = now - released_at_;
  released_at_ = now;
  if (now < turn_ends_) return;
  turn_ends_ = now + turn_;
  ++turns_;
}

Duration Place::step(bool strangers) const {
  const Duration shortest = strangers ? kStrangersStep : kStep;
  return std::clamp(others_ * kStepEach, shortest, kLongestStep);
}

Duration Place::delay(int limit, bool strangers) {
  scout_ = false;
  const int ahead = std::min(ahead_, limit);
  if (ahead <= 0) return {};
  // Steps of the golden ratio from a random start, so that any run of them is evenly spread.
  chance_ += 0.618033988749895;
  if (chance_ >= 1) chance_ -= 1;
  const auto by_chance = [this](Duration longest) { return std::chrono::duration_cast<Duration>(chance_ * longest); };
  const int place = ahead - turns_;
  if (guessed_) return by_chance(std::clamp(place, 2, kNear) * step(strangers));
  if (place <= -kOverdue) return {};
  if (place <= 0) return (place + kOverdue) * kSmallStep + by_chance(kSmallStep);
  if (place <= near()) return place * step(strangers) + by_chance(kSmallStep);
  const int crowd = std::max(others_, ahead);
  const Duration all = longest(crowd);
  const Duration pause = std::min(2 * between_, for_crowd(kLongestPause, crowd));
  const Duration before = near() * step(strangers) + pause;
  return before + far_delay(all - before, crowd);
}

/// A few in the first half; then twice as many have asked after each further step of time, and all of them at the end.
Duration Place::far_delay(Duration longest, int crowd) {
  const Duration spread = std::min(crowd * kSpreadEach, longest);
  const double rank = chance_ * crowd;
  const double first = kScouts;
  scout_ = in_crowd() && rank < first;
  const double share = rank < first ? rank / first : 1 + std::log2(rank / first) / std::log2(crowd / first);
  return std::chrono::duration_cast<Duration>(share / 2 * spread);
}

void PlaceLimit::on_end(const Place& place) {
  if (place.known()) turns_ = std::max(place.turns() - 1, std::min(turns_, place.ahead()) / 4);
}

namespace {

/// The server counts in whole milliseconds: ask just after the key is gone, not just before.
constexpr Duration kExpiryRounding = milliseconds(2);
/// A limit never shortens a command's timeout below this, so that an attempt that starts has a chance.
constexpr Duration kShortestTimeout = milliseconds(50);
/// A waiter that has found it busy this often assumes a crowd, even without a count.
constexpr int kCrowd = 3;

}  // namespace

AcquireFsm::AcquireFsm(AcquireTerms terms, TimePoint now)
    : terms_(terms), started_(now), place_(terms.turn, terms.jitter) {}

TimePoint AcquireFsm::limit() const {
  if (terms_.once) return started_;
  return terms_.wait ? started_ + *terms_.wait : TimePoint::max();
}

/// When lasting trouble ends the acquire.
TimePoint AcquireFsm::give_up() const {
  if (terms_.once) return started_ + terms_.command_timeout;
  return trouble_since_ ? std::min(limit(), *trouble_since_ + terms_.patience) : limit();
}

AcquireAction AcquireFsm::start() const { return {.kind = AcquireAction::Kind::wait_turn, .until = limit()}; }

AcquireAction AcquireFsm::on_turn(TimePoint now, TargetView view) { return go_on(now, view); }

AcquireAction AcquireFsm::go_on(TimePoint now, TargetView view) {
  if (view.held_here) {
    contended_ = taken_ = true;
    trouble_since_.reset();  // the server has answered another caller of this client
    troubles_ = 0;
    never_ = {};
    held_here_ = true;
    busy_cause_.clear();
    if (terms_.once) return in_vain(Errc::busy);
    if (now >= limit()) return in_vain(Errc::timed_out);
    return wait_until(limit(), Bound::local_hold);
  }
  held_here_ = false;
  if (trouble_since_ && now >= give_up()) return end_of_trouble(now);
  if (!terms_.once && now < view.not_before && now < limit()) {
    return wait_until(std::min({give_up(), view.not_before, now + terms_.safety_poll}), Bound::others_first);
  }
  // The first attempt goes without a subscription: a free lock must cost one command.
  AcquireAction asks = attempt(now, contended_ && !terms_.once && terms_.listens && !view.subscribed);
  asks.publish_busy = bound_ == Bound::spread && place_.is_scout();
  return asks;
}

AcquireAction AcquireFsm::attempt(TimePoint now, bool subscribe) {
  asked_at_ = now;
  const Duration timeout = std::min(terms_.command_timeout, std::max(give_up() - now, kShortestTimeout));
  return {.kind = AcquireAction::Kind::attempt, .timeout = timeout, .subscribe = subscribe};
}

AcquireAction AcquireFsm::wait_until(TimePoint until, Bound bound) {
  // Who has only let others ask so far asks once more at the limit: it may be free.
  const bool checks = bound == Bound::local_hold || bound == Bound::others_first || bound == Bound::spread;
  bound_ = until < limit() || checks ? bound : Bound::limit;
  return {.kind = AcquireAction::Kind::wait, .until = std::min(until, limit())};
}

AcquireAction AcquireFsm::on_attempt(TimePoint now, const Attempt& reply) {
  using Kind = Attempt::Kind;
  switch (reply.kind) {
    case Kind::granted:
      return finish({});
    case Kind::busy:
      contended_ = taken_ = true;
      ++races_lost_;
      unresolved_ = false;  // the server has just said that this owner does not hold it
      trouble_since_.reset();
      troubles_ = 0;
      busy_cause_ = reply.cause;
      never_ = static_cast<Errc>(reply.error.value());
      // Without this client and the holder.
      if (reply.listeners && *reply.listeners >= 0) place_.found(*reply.listeners - 2);
      if (races_lost_ >= kCrowd) place_.guess();
      if (terms_.once) return in_vain(Errc::busy);
      if (now >= limit()) return in_vain(Errc::timed_out);
      if (terms_.listens && !reply.subscribed && !reply.subscribing && !reply.cannot_subscribe)
        return attempt(now, true);
      return wait_busy(now, reply);
    case Kind::refused:
      return finish_as(reply);
    case Kind::failed:
      unresolved_ = true;
      return finish_as(reply);
    case Kind::unknown:
      unresolved_ = true;
      return on_trouble(now, reply);
    case Kind::not_durable:
      unresolved_ = true;
      taken_ = false;  // it is ours now
      if (terms_.once) return finish_as(reply);
      return on_trouble(now, reply);
    case Kind::transient:
    case Kind::not_sent:
      // For a group whose only trouble this is: its grants have been released.
      if (terms_.once && reply.error == Errc::durability_not_met) return finish_as(reply);
      if (reply.pointless) return finish_as(reply);
      return on_trouble(now, reply);
  }
  return finish(Errc::server_error);
}

AcquireAction AcquireFsm::wait_busy(TimePoint now, const Attempt& reply) {
  if (reply.retry_after) {
    AcquireAction action = wait_until(now + *reply.retry_after, Bound::pause);
    action.kind = AcquireAction::Kind::pause;
    return action;
  }
  const bool ends = reply.busy_for.count() >= 0 && reply.busy_for <= kLongestLease;  // else: practically never
  return wait_free(now, ends ? now + reply.busy_for : TimePoint::max());
}

AcquireAction AcquireFsm::wait_free(TimePoint now, TimePoint free) {
  const Duration pause = std::max(terms_.safety_poll, place_.poll_pause());
  const TimePoint poll =
      now + (terms_.poll ? poll_.next(*terms_.poll, terms_.jitter) : half_by_chance(pause, terms_.jitter));
  if (free != TimePoint::max()) free += kExpiryRounding;
  if (free <= poll) return wait_until(free, Bound::lease_end);
  return wait_until(poll, terms_.poll ? Bound::poll : Bound::safety_poll);
}

AcquireAction AcquireFsm::on_trouble(TimePoint now, const Attempt& reply) {
  last_error_ = reply.error;
  last_cause_ = reply.cause;
  last_may_pass_ = reply.may_pass;
  if (!trouble_since_) trouble_since_ = asked_at_;
  if (now >= give_up()) return end_of_trouble(now);
  // Attempts that were not sent are paced by the connection's gate; the others are paced here.
  const Duration pause =
      std::min<Duration>(milliseconds(10) * (1 << std::min(troubles_++, 6)), std::chrono::seconds(1));
  bound_ = Bound::pause;
  return {.kind = AcquireAction::Kind::wait, .until = std::min(now + pause, give_up())};
}

/// If it was waiting for another holder when the limit came, the result is a time-out of that wait.
AcquireAction AcquireFsm::end_of_trouble(TimePoint now) const {
  const bool was_waiting = taken_ && !terms_.once && now >= limit();
  return was_waiting ? in_vain(Errc::timed_out) : finish(last_error_, last_cause_, last_may_pass_);
}

AcquireAction AcquireFsm::on_wake(TimePoint now, TargetView view) {
  safety_polling_ = false;
  return go_on(now, view);
}

AcquireAction AcquireFsm::on_message(TimePoint now, TargetView view) {
  if (terms_.own_channel) return on_wake(now, view);
  if (bound_ == Bound::others_first && view.others > 0) place_.found(view.others);
  place_.on_release(now);
  if (now < view.busy_until && !view.held_here) return on_busy(now, view);
  const Duration delay = view.held_here ? Duration{} : place_.delay(view.place_limit, view.strangers);
  if (delay == Duration{}) return on_wake(now, view);
  safety_polling_ = false;
  return wait_until(now + delay, Bound::spread);
}

AcquireAction AcquireFsm::on_time(TimePoint now, TargetView view) {
  if (bound_ == Bound::limit || bound_ == Bound::local_hold) {
    if (terms_.once) return in_vain(Errc::busy);
    if (now >= limit()) {
      contended_ = true;
      return trouble_since_ && !taken_ ? finish(last_error_, last_cause_, last_may_pass_) : in_vain(Errc::timed_out);
    }
  }
  safety_polling_ = bound_ == Bound::safety_poll && !view.held_here;
  // A lease that all of a crowd know of ends for all of them at once.
  if (bound_ == Bound::lease_end && place_.far(view.place_limit)) {
    return wait_until(now + place_.delay(view.place_limit, view.strangers), Bound::spread);
  }
  return go_on(now, view);
}

bool AcquireFsm::lacks_acks() const { return trouble_since_ && last_error_ == Errc::durability_not_met; }

AcquireAction AcquireFsm::in_vain(Errc usual) const { return finish(never_ == Errc{} ? usual : never_, busy_cause()); }

AcquireAction AcquireFsm::on_stop(std::error_code why) const { return finish(why); }

AcquireAction AcquireFsm::finish(std::error_code error, std::string cause, std::optional<bool> may_pass) const {
  return {.kind = AcquireAction::Kind::finish,
          .undo = error && unresolved_,
          .error = error,
          .cause = std::move(cause),
          .may_pass = may_pass};
}

}  // namespace holdfast::engine
