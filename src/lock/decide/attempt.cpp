// SPDX-License-Identifier: Apache-2.0
#include "lock/decide/attempt.hpp"

namespace holdfast::engine {

void Explanation::on_busy(TimePoint now, const Attempt& reply) {
  // Without a subscription it may have been released and taken again since.
  const bool went_on = reply.subscribed && held_since_ && now < certain_until_;
  if (!went_on) held_since_ = reply.subscribed ? std::optional(now) : std::nullopt;
  const bool ends = reply.busy_for.count() >= 0 && reply.busy_for <= kLongestLease;
  certain_until_ = ends ? now + reply.busy_for : TimePoint::max();
}

void Explanation::on_change() {
  held_since_.reset();
  changed_ = true;
}

std::string Explanation::text(TimePoint now, std::string cause) const {
  if (!info_ || !info_->holder) return cause;
  if (cause == kHeldByThisProcess) cause.clear();  // said again, and more
  if (!cause.empty()) cause += "; ";
  cause += changed_ ? "lately held by " : "held by ";
  cause += here_ ? "this process" : to_string(*info_->holder);
  const bool gone = info_->holder->connection == Holder::Connection::none;
  if (gone && !changed_ && certain_until_ > now && certain_until_ != TimePoint::max()) {
    const auto left = std::chrono::ceil<std::chrono::seconds>(certain_until_ - now);
    return cause + "; unless it is renewed, its lease ends in " + std::to_string(left.count()) + " s";
  }
  if (changed_ || !held_since_) return cause;
  const auto held = std::chrono::duration_cast<std::chrono::seconds>(now - *held_since_);
  if (held.count() > 0) cause += ", for at least " + std::to_string(held.count()) + " s";
  return cause;
}

}  // namespace holdfast::engine
