#include "engine/hold_fsm.hpp"

namespace holdfast::engine {

HoldFsm::HoldFsm(TimePoint sent_at, LeaseTerms terms, TimePoint granted_at) : terms_(terms), granted_at_(granted_at) {
  extend(sent_at);
}

void HoldFsm::extend(TimePoint sent_at) {
  last_extension_ = sent_at;
  deadline_ = lease_end(sent_at, terms_.length);
  if (terms_.max_hold) deadline_ = std::min(deadline_, granted_at_ + *terms_.max_hold);
  planned_ = sent_at + renew_after(terms_.length);
  due_ = terms_.renewed ? std::min(planned_, deadline_) : deadline_;
}

HoldFsm::Todo HoldFsm::on_time(TimePoint now, Duration early) {
  if (ended()) return Todo::nothing;
  if (now >= deadline_) {
    lose(why_expired());
    return Todo::lost;
  }
  if (!terms_.renewed || in_flight_ || now + early < due_) return Todo::nothing;
  // A renewal that would only reach past the cap is not needed when the lease outlives the cap already.
  if (terms_.max_hold && lease_end(last_extension_, terms_.length) >= granted_at_ + *terms_.max_hold) {
    due_ = deadline_;
    return Todo::nothing;
  }
  in_flight_ = true;
  due_ = deadline_;
  return Todo::renew;
}

HoldFsm::Change HoldFsm::on_renewed(TimePoint sent_at, TimePoint now) {
  in_flight_ = false;
  if (ended()) return Change::none;
  if (now >= deadline_) return lose(why_expired());
  if (sent_at >= last_extension_) extend(sent_at);
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
  if (now >= deadline_) return lose(why_expired());
  due_ = std::min(now + retry_after(terms_.length), deadline_);
  planned_ = due_;
  if (state_ == HoldState::suspect) return Change::none;
  state_ = HoldState::suspect;
  return Change::suspect;
}

void HoldFsm::on_reconnect(TimePoint now) {
  if (ended() || !terms_.renewed) return;
  in_flight_ = false;
  due_ = std::min(now, deadline_);
  planned_ = now;
}

HoldFsm::Change HoldFsm::on_closed() { return ended() ? Change::none : lose(LossReason::closed); }

bool HoldFsm::begin_release() {
  if (state_ == HoldState::released) return false;
  state_ = HoldState::released;
  return true;
}

Duration HoldFsm::valid_for(TimePoint now) const {
  if (ended() || now >= deadline_) return {};
  return deadline_ - now;
}

HoldFsm::Change HoldFsm::lose(LossReason reason) {
  state_ = HoldState::lost;
  reason_ = reason;
  return Change::lost;
}

LossReason HoldFsm::why_expired() const {
  const bool capped = terms_.max_hold && deadline_ == granted_at_ + *terms_.max_hold;
  return capped ? LossReason::max_hold : LossReason::expired;
}

}  // namespace holdfast::engine
