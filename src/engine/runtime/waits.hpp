// A client's waiting calls, in the order in which the waits began.
#pragma once

#include <atomic>
#include <optional>

#include <boost/intrusive/list.hpp>

#include "base/clock.hpp"

namespace holdfast::engine {

/// Use on the loop, unless stated otherwise.
class Waits {
 public:
  /// The entry of a waiting call; removed with its object.
  class Place : public boost::intrusive::list_base_hook<> {
   public:
    Place() = default;
    ~Place() {
      if (waits_ != nullptr) waits_->end(*this);
    }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

   private:
    friend class Waits;
    Waits* waits_ = nullptr;  // null: not waiting
    base::TimePoint since_{};
  };

  void begin(Place& place, base::TimePoint now) noexcept {
    place.waits_ = this;
    place.since_ = now;
    places_.push_back(place);
    if (&places_.front() == &place) publish();
  }
  void end(Place& place) noexcept {
    const bool was_first = &places_.front() == &place;
    places_.erase(places_.iterator_to(place));
    place.waits_ = nullptr;
    if (was_first) publish();
  }

  /// When the longest wait began; empty: none. From any thread.
  std::optional<base::TimePoint> oldest() const noexcept {
    const base::TimePoint since = oldest_.load(std::memory_order_relaxed);
    return since == base::TimePoint::max() ? std::nullopt : std::optional(since);
  }

 private:
  void publish() noexcept {
    oldest_.store(places_.empty() ? base::TimePoint::max() : places_.front().since_, std::memory_order_relaxed);
  }

  boost::intrusive::list<Place, boost::intrusive::constant_time_size<false>> places_;
  std::atomic<base::TimePoint> oldest_{base::TimePoint::max()};
};

}  // namespace holdfast::engine
