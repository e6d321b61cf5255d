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
  class Entry : public boost::intrusive::list_base_hook<> {
   public:
    Entry() = default;
    ~Entry() {
      if (waits_ != nullptr) waits_->end(*this);
    }
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;

   private:
    friend class Waits;
    Waits* waits_ = nullptr;  // null: not waiting
    base::TimePoint since_{};
  };

  void begin(Entry& entry, base::TimePoint now) noexcept {
    entry.waits_ = this;
    entry.since_ = now;
    entries_.push_back(entry);
    if (&entries_.front() == &entry) publish();
  }
  void end(Entry& entry) noexcept {
    const bool was_first = &entries_.front() == &entry;
    entries_.erase(entries_.iterator_to(entry));
    entry.waits_ = nullptr;
    if (was_first) publish();
  }

  /// When the longest wait began; empty: none. From any thread.
  std::optional<base::TimePoint> oldest() const noexcept {
    const base::TimePoint since = oldest_.load(std::memory_order_relaxed);
    return since == base::TimePoint::max() ? std::nullopt : std::optional(since);
  }

 private:
  void publish() noexcept {
    oldest_.store(entries_.empty() ? base::TimePoint::max() : entries_.front().since_, std::memory_order_relaxed);
  }

  boost::intrusive::list<Entry, boost::intrusive::constant_time_size<false>> entries_;
  std::atomic<base::TimePoint> oldest_{base::TimePoint::max()};
};

}  // namespace holdfast::engine
