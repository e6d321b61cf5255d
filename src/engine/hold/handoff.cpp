#include "engine/hold/handoff.hpp"

namespace holdfast::engine {

const Retained* Handoff::offer(const LeaseTerms& terms, From from, TimePoint now, std::uint32_t acks_era) const {
  if (!retained || (from == From::newcomer && !tenure.may_overtake(now))) return nullptr;
  const bool fits = terms.renewed && terms.length == retained->lease && terms.acks == retained->acks &&
                    (!terms.acks.wanted() || retained->acked_era == acks_era) &&
                    now < lease_end(retained->sent_at, terms.length / 2);
  return fits ? &*retained : nullptr;
}

Retained Handoff::take(From from, TimePoint now) {
  if (from == From::queue) tenure.on_queue_served(now);
  Retained taken = std::move(*retained);
  retained.reset();
  return taken;
}

}  // namespace holdfast::engine
