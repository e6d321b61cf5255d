// What only a lock has that several want: how long it is passed on inside the client, and what is known of the others.
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "engine/decide/place.hpp"
#include "engine/decide/tenure.hpp"
#include "engine/runtime/pending.hpp"

namespace holdfast::engine {

class Tenancy;

/// A tenancy on which nobody has a claim, kept for the queue.
struct Retained {
  std::shared_ptr<Tenancy> tenancy;
  Pending::Token pending;  // close() waits until somebody has taken it, or has given it back
};

/// Made when it shows that several want it. Kinds whose tenancies cannot be passed on have it with a limit of zero, for
/// what is known of others. Not thread-safe; the target guards it.
struct Contention {
  /// `limit`: of a tenure.
  explicit Contention(Duration limit) : tenure(limit) {}
  std::optional<Retained> take_retained() { return std::exchange(retained, {}); }

  std::optional<Retained> retained;  // only while somebody is queued
  Tenure tenure;
  PlaceLimit place_limit;
  TimePoint release_first_until{};  // while a release goes first (ReleaseTraffic)
};

}  // namespace holdfast::engine
