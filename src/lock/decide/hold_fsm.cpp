// SPDX-License-Identifier: Apache-2.0
#include "lock/decide/hold_fsm.hpp"

namespace holdfast::engine {
namespace {

TimePoint cap_of(TimePoint since, std::optional<milliseconds> max_hold) {
  return max_hold ? since + *max_hold : TimePoint::max();
}

}  // namespace

HoldFsm::HoldFsm(TimePoint sent_at, const LeaseTerms& terms, TimePoint granted_at, std::uint32_t acked_era,
                 Watched watched)
    : length_(terms.length),
      longest_(terms.length),
      shortest_(terms.length),
      granted_at_(granted_at),
      cap_at_(cap_of(granted_at, terms.max_hold)),
      acked_era_(acked_era),
      acks_(terms.acks),
      renewed_(terms.renewed),
      to_be_watched_(watched == Watched::yes && terms.length >= kShortestWatched) {
  extend(sent_at);
}

void HoldFsm::extend(TimePoint sent_at) {
  last_extension_ = sent_at;
  planned_ = sent_at + renew_after(length_);
}

TimePoint HoldFsm::deadline() const {
  const TimePoint end = lease_end(last_extension_, length_);
  return std::min(end, cap_at_);
}

HoldFsm::Todo HoldFsm::on_time(TimePoint now, Duration early) {
  if (ended()) return Todo::nothing;
  if (now >= deadline()) {
    lose(why_expired());
    return Todo::lost;
  }
  if (!to_be_renewed() || now + early < renewal_due()) return Todo::nothing;
  in_flight_ = true;
  return Todo::renew;
}

HoldFsm::Change HoldFsm::on_renewed(TimePoint sent_at, TimePoint now, std::uint32_t acked_era) {
  in_flight_ = false;
  if (ended()) return Change::none;
  if (now >= deadline()) return lose(why_expired());
  if (sent_at >= last_extension_) {
    extend(sent_at);
    acked_era_ = acked_era;
  }
  state_ = HoldState::held;
  return Change::none;
}

HoldFsm::Extension HoldFsm::begin_extension(TimePoint now, milliseconds length) {
  shortest_ = under_way_++ == 0 ? length : std::min(shortest_, length);
  longest_ = std::max(longest_, length);
  if (!ended() && lease_end(now, length) < lease_end(last_extension_, length_)) {
    length_ = length;
    extend(now);
  }
  return {++begun_, length};
}

HoldFsm::Change HoldFsm::on_extended(const Extension& extension, TimePoint sent_at, TimePoint now,
                                     std::uint32_t acked_era) {
  --under_way_;
  if (ended()) return Change::none;
  if (now >= deadline()) return lose(why_expired());
  // Others that are under way, or were begun after it, may be executed behind it. They count from then on, at least.
  const bool is_last = under_way_ == 0 && extension.number == begun_;
  const milliseconds length = is_last ? extension.length : std::min(extension.length, shortest_);
  if (is_last) longest_ = length;
  if (lease_end(sent_at, length) < lease_end(last_extension_, length_)) return Change::none;
  length_ = length;
  extend(sent_at);
  acked_era_ = acked_era;
  state_ = HoldState::held;
  return Change::none;
}

HoldFsm::Change HoldFsm::on_gone() {
  in_flight_ = false;
  return ended() ? Change::none : lose(LossReason::taken);
}

HoldFsm::Change HoldFsm::on_unanswered(TimePoint now) {
  in_flight_ = false;
  if (ended()) return Change::none;
  if (now >= deadline()) return lose(why_expired());
  planned_ = std::min(now + retry_after(length_), deadline());
  if (state_ == HoldState::suspect) return Change::none;
  state_ = HoldState::suspect;
  return Change::suspect;
}

void HoldFsm::on_reconnect(TimePoint now) {
  if (ended() || !renewed_) return;
  in_flight_ = false;
  planned_ = now;
}

bool HoldFsm::on_doubt(TimePoint now) {
  if (ended() || !renewed_ || outlives_cap()) return false;
  on_reconnect(now);
  return true;
}

HoldFsm::Change HoldFsm::on_moved(TimePoint now) {
  if (!on_doubt(now) || state_ == HoldState::suspect) return Change::none;
  state_ = HoldState::suspect;
  return Change::suspect;
}

bool HoldFsm::begin_watch(TimePoint now, Duration early) {
  const Duration age = watch_after(length_);
  if (!to_be_watched_ || now + std::min(early, age / 2) < granted_at_ + age) return false;
  to_be_watched_ = false;
  return !ended() && now < deadline();
}

HoldFsm::Change HoldFsm::on_closed() { return ended() ? Change::none : lose(LossReason::closed); }

bool HoldFsm::begin_release() {
  if (released_) return false;
  released_ = true;
  if (state_ != HoldState::lost) state_ = HoldState::released;
  return true;
}

bool HoldFsm::fits(const LeaseTerms& terms, TimePoint now, std::uint32_t era) const {
  return state_ == HoldState::held && renewed_ && terms.renewed && terms.length == length_ && terms.acks == acks_ &&
         (!acks_.wanted() || acked_era_ == era) && now < lease_end(last_extension_, length_ / 2);
}

void HoldFsm::set_cap(TimePoint now, std::optional<milliseconds> max_hold) { cap_at_ = cap_of(now, max_hold); }

void HoldFsm::on_release_found_none(TimePoint now) {
  if (was_lost_) return;
  was_lost_ = true;
  reason_ = now >= deadline() ? why_expired() : LossReason::taken;
}

Duration HoldFsm::valid_for(TimePoint now) const {
  if (ended() || now >= deadline()) return {};
  return deadline() - now;
}

HoldFsm::Change HoldFsm::lose(LossReason reason) {
  state_ = HoldState::lost;
  was_lost_ = true;
  reason_ = reason;
  return Change::lost;
}

/// The current lease ends after the cap.
bool HoldFsm::outlives_cap() const { return lease_end(last_extension_, length_) >= cap_at_; }

LossReason HoldFsm::why_expired() const { return deadline() == cap_at_ ? LossReason::max_hold : LossReason::expired; }

}  // namespace holdfast::engine
