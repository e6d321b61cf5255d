#include "engine/hold/handoff.hpp"

namespace holdfast::engine {

const Retained* Handoff::offer(const LeaseTerms& terms, From from, TimePoint now) const {
  if (!retained || (from == From::newcomer && !tenure.may_overtake(now))) return nullptr;
  const bool fits =
      terms.renewed && terms.length == retained->lease && now < lease_end(retained->sent_at, terms.length / 2);
  return fits ? &*retained : nullptr;
}

Retained Handoff::take(From from, TimePoint now) {
  if (from == From::queue) tenure.on_queue_served(now);
  Retained taken = std::move(*retained);
  retained.reset();
  return taken;
}

}  // namespace holdfast::engine
