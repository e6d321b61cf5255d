// Counts events and notifies the observer.
#pragma once

#include <atomic>
#include <memory>
#include <optional>

#include <boost/intrusive/list.hpp>

#include <holdfast/observer.hpp>

#include "base/clock.hpp"
#include "engine/loop/notifier.hpp"
#include "engine/runtime/meter.hpp"

namespace holdfast::engine {

/// A client's waiting calls, in the order in which the waits began. Use on the loop, unless stated otherwise.
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

/// Thread-safe. Counters are incremented at once; the observer is called on the notifier's thread.
class Reporter {
 public:
  Reporter(std::shared_ptr<Observer> observer, Notifier& notifier, Meter::Classify classify)
      : meter(std::move(classify)), observer_(std::move(observer)), notifier_(notifier) {}

  struct Count {
    std::atomic<std::uint64_t> granted{0}, contended{0}, not_granted{0}, failed{0}, released{0}, renewals{0},
        renewal_batches{0}, renewal_failures{0}, suspect{0}, lost{0}, unknown{0}, misuses{0}, wakes{0}, safety_polls{0},
        safety_poll_wakes{0}, connections{0}, commands{0}, watched{0}, notices{0}, watch_refusals{0}, acks_waits{0},
        acks_missed{0}, events_dropped{0}, local_handoffs{0}, waiting{0};
  };
  Count count;
  Counters snapshot() const;
  Meter meter;
  Waits waits;

  static void add(std::atomic<std::uint64_t>& counter, std::uint64_t n = 1) {
    counter.fetch_add(n, std::memory_order_relaxed);
  }

  static void take(std::atomic<std::uint64_t>& gauge) { gauge.fetch_sub(1, std::memory_order_relaxed); }

  bool has_observer() const noexcept { return observer_ != nullptr; }

  /// Notifies the observer, if there is one; only then does `make` build the event. An event without room is dropped
  /// and counted.
  template <class Event, class Make>
  void tell(void (Observer::*method)(const Event&), Make&& make) noexcept {
    if (!observer_) return;
    try {
      if (notifier_.post([observer = observer_, method, event = Event(make())] { (observer.get()->*method)(event); })) {
        return;
      }
    } catch (...) {
      // Out of memory: as if there were no room.
    }
    add(count.events_dropped);
  }

 private:
  const std::shared_ptr<Observer> observer_;
  Notifier& notifier_;
};

}  // namespace holdfast::engine
