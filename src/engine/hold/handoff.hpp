// Passing a lock on inside a client: what is retained for the queue, for how long that goes on, and what is known of
// the others who want it.
#pragma once

#include <optional>
#include <utility>

#include "engine/decide/place.hpp"
#include "engine/decide/tenure.hpp"
#include "engine/hold/retained.hpp"

namespace holdfast::engine {

/// What only a lock has that several want: made when that shows. Kinds whose holds cannot be passed on have it with a
/// limit of zero, for what is known of others. Not thread-safe; the target guards it.
struct Handoff {
  /// `limit`: of a tenure.
  explicit Handoff(Duration limit) : tenure(limit) {}

  enum class From { queue, newcomer };
  /// What is retained, if it fits such a lease and such acks, which still count, and if a newcomer may overtake; or
  /// null.
  const Retained* offer(const LeaseTerms& terms, From from, TimePoint now, std::uint32_t acks_era) const;
  /// The offer is taken.
  Retained take(From from, TimePoint now);
  /// Takes what is retained, whatever it fits, to give it back.
  std::optional<Retained> take_unfit() { return std::exchange(retained, {}); }

  std::optional<Retained> retained;  // only while somebody is queued
  Tenure tenure;
  PlaceLimit place_limit;
};

}  // namespace holdfast::engine
