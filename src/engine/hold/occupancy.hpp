// Which hold of this client has the lock, as far as that keeps its other callers from asking the server.
#pragma once

#include "engine/hold/holding.hpp"

namespace holdfast::engine {

/// Of a kind with one owner at a time; for one that admits several the server is always asked, and this stays empty.
/// Not thread-safe; the target guards it. Each hold leaves before it is destroyed.
class Occupancy {
 public:
  bool empty() const { return hold_ == nullptr; }
  bool is(const Holding& hold) const { return hold_ == &hold; }
  /// As far as known, without side effects.
  bool stands() const { return hold_ != nullptr && hold_->stands(); }
  bool has(const wire::Owner& owner) const { return stands() && hold_->owner() == owner; }
  /// When the server granted it; empty if there is none.
  std::optional<TimePoint> extended_at() const {
    return hold_ == nullptr ? std::nullopt : std::optional(hold_->extended_at());
  }

  void enter(Holding& hold) { hold_ = &hold; }
  void leave() { hold_ = nullptr; }

 private:
  Holding* hold_ = nullptr;
};

}  // namespace holdfast::engine
