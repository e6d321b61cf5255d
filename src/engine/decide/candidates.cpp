#include "engine/decide/candidates.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::engine {
namespace {

bool is_lasting(const Attempt& vote) {
  return vote.kind == Attempt::Kind::refused || vote.kind == Attempt::Kind::failed;
}

}  // namespace

std::vector<std::size_t> Candidates::round(TimePoint now, bool listens) {
  std::vector<std::size_t> asked;
  for (std::size_t i = 0; i < seen_.size(); ++i) {
    const std::size_t slot = (turn_ + i) % seen_.size();
    if (!listens || now >= seen_[slot].rests_until) asked.push_back(slot);
  }
  if (asked.empty()) {  // the caller has a reason to ask anyway
    on_doubt();
    return round(now, listens);
  }
  std::ranges::sort(asked, {}, [this, first = turn_](std::size_t slot) {
    const Seen& seen = seen_[slot];
    return std::pair(seen.told ? 0 : seen.trouble ? 2 : 1, (slot + seen_.size() - first) % seen_.size());
  });
  turn_ = (turn_ + 1) % seen_.size();
  for (const std::size_t slot : asked) seen_[slot].vote.reset();
  return asked;
}

void Candidates::on_vote(std::size_t slot, Attempt vote, TimePoint now) {
  Seen seen{.at = now, .trouble = vote.kind != Attempt::Kind::busy && vote.kind != Attempt::Kind::granted};
  if (seen.trouble || (vote.kind == Attempt::Kind::busy && vote.subscribed)) seen.rests_until = now + rest_;
  if (vote.kind == Attempt::Kind::busy && vote.busy_for.count() >= 0) {
    seen.rests_until = std::min<TimePoint>(seen.rests_until, now + std::min(vote.busy_for, kLongestLease));
  }
  if (vote.kind != Attempt::Kind::granted) seen.vote = std::move(vote);
  seen_[slot] = std::move(seen);
}

void Candidates::on_passed_over(std::size_t slot, TimePoint now) {
  seen_[slot].trouble = true;
  seen_[slot].rests_until = now + rest_;
}

void Candidates::on_release(std::size_t slot) {
  seen_[slot].told = true;
  seen_[slot].rests_until = {};
}

void Candidates::on_doubt() {
  for (Seen& seen : seen_) seen.rests_until = {};
}

/// A permanent refusal is reported, as when one command requests all of them, even if another one might still become
/// free.
Attempt Candidates::result(const std::vector<std::string>& names, TimePoint now) const {
  Ballot ballot(quorum_);
  for (std::size_t slot = 0; slot < seen_.size(); ++slot) {
    if (!seen_[slot].vote) continue;
    Attempt vote = *seen_[slot].vote;
    if (is_lasting(vote)) {
      vote.kind = Attempt::Kind::refused;  // the caller undoes what it may have taken
      vote.cause = names[slot] + ": " + vote.cause;
      return vote;
    }
    if (vote.kind == Attempt::Kind::busy && vote.busy_for.count() >= 0) {
      const auto since = std::chrono::duration_cast<milliseconds>(now - seen_[slot].at);
      vote.busy_for = std::max(vote.busy_for - since, milliseconds(0));
    }
    ballot.record(slot, std::move(vote));
  }
  return ballot.result(names, {});
}

}  // namespace holdfast::engine
