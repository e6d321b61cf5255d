// SPDX-License-Identifier: Apache-2.0
// What a client counts and measures of itself, by classes of locks if configured, and tells its observer.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <utility>
#include <vector>

#include <boost/intrusive/list.hpp>

#include <holdfast/error.hpp>
#include <holdfast/observer.hpp>

#include "base/clock.hpp"
#include "base/guarded.hpp"
#include "loop/notifier.hpp"
#include "redis/connection/request.hpp"

namespace holdfast::engine {

/// How long something took, and how often: the counters of one histogram. `kBounds`: in seconds, growing. Thread-safe
/// without a lock. The two numbers of one measurement are added one after the other, so a snapshot in between has the
/// first without the second.
template <const auto& kBounds>
class Buckets {
 public:
  void add(base::Duration took) noexcept {
    const std::int64_t nanoseconds = std::max<std::int64_t>(took.count(), 0);
    std::size_t bucket = 0;
    while (bucket < kLimits.size() && nanoseconds > kLimits[bucket]) ++bucket;
    counts_[bucket].fetch_add(1, std::memory_order_relaxed);
    nanoseconds_.fetch_add(static_cast<std::uint64_t>(nanoseconds), std::memory_order_relaxed);
  }

  void read(Metric& to) const {
    constexpr double kSecond = 1e9;
    to.sum = static_cast<double>(nanoseconds_.load(std::memory_order_relaxed)) / kSecond;
    to.buckets.reserve(counts_.size());
    for (const std::atomic<std::uint64_t>& count : counts_) to.buckets.push_back(count.load(std::memory_order_relaxed));
  }

  static std::vector<double> bounds() { return {kBounds.begin(), kBounds.end()}; }

 private:
  static constexpr auto kLimits = [] {
    std::array<std::int64_t, kBounds.size()> limits{};
    for (std::size_t i = 0; i < limits.size(); ++i) {
      const double exact = kBounds[i] * 1e9;
      limits[i] = static_cast<std::int64_t>(exact);
      if (exact - static_cast<double>(limits[i]) >= 0.5) ++limits[i];
    }
    return limits;
  }();

  std::array<std::atomic<std::uint64_t>, kBounds.size() + 1> counts_{};
  std::atomic<std::uint64_t> nanoseconds_{0};
};

/// The class of a lock. 0: all locks if there are no classes, otherwise those without one.
using LockClass = std::uint8_t;

/// Measures with relaxed atomic additions: no mutex, no allocation, nothing dropped. Thread-safe.
class Meter {
 public:
  /// The label of a lock, from its name. Empty: there are no classes.
  using Classify = std::function<std::string(std::string_view name)>;
  explicit Meter(Classify classify);
  Meter(const Meter&) = delete;
  Meter& operator=(const Meter&) = delete;

  static constexpr std::size_t kMostClasses = 50;
  bool classifies() const { return classify_ != nullptr; }
  /// Runs the user's function, in the calling thread and under no mutex. 0 if that throws or returns nothing, if there
  /// is no memory for a new class, or if the limit of classes is reached, which is counted.
  LockClass class_of(std::string_view name) noexcept;

  enum class Result : std::uint8_t { granted, busy, timed_out, cancelled, crowded, error };
  static constexpr std::size_t kResults = 6;
  static Result result_of(std::error_code error);

  void on_acquire(LockClass its_class, Result result, base::Duration waited) noexcept {
    in(its_class).waits[static_cast<std::size_t>(result)].add(waited);
  }
  void on_hold_end(LockClass its_class, base::Duration held) noexcept { in(its_class).holds.add(held); }
  void on_lost(LockClass its_class, LossReason reason) noexcept {
    in(its_class).lost[static_cast<std::size_t>(reason)].fetch_add(1, std::memory_order_relaxed);
  }
  void on_command(redis::Operation operation, base::Duration took) noexcept {
    commands_[static_cast<std::size_t>(operation)].add(took);
  }
  void on_renewals(base::Duration late) noexcept { lateness_.add(late); }

  /// Adds what was measured.
  void read(std::vector<MetricFamily>& to) const;

  // In seconds.
  static constexpr std::array kWaitBounds{.0001, .0005, .001, .005, .01, .05, .1, .5, 1., 5., 10., 30., 60.};
  static constexpr std::array kHoldBounds{.001, .005, .01, .05, .1, .5, 1., 5., 10., 30., 60., 300., 1800., 3600.};
  static constexpr std::array kCommandBounds{.0001, .0005, .001, .005, .01, .05, .1, .5, 1., 5., 10.};
  static constexpr std::array kLatenessBounds{.001, .005, .01, .05, .1, .5, 1., 5., 10., 30.};

 private:
  static constexpr std::size_t kLossReasons = 5;
  struct OfClass {
    std::array<Buckets<kWaitBounds>, kResults> waits{};
    Buckets<kHoldBounds> holds{};
    std::array<std::atomic<std::uint64_t>, kLossReasons> lost{};
  };
  OfClass& in(LockClass its_class) noexcept {
    OfClass* const found = classes_[its_class].load(std::memory_order_acquire);
    return found == nullptr ? others_ : *found;
  }
  LockClass find_or_add(const std::string& label);
  /// All existing classes, with their labels.
  std::vector<std::pair<std::vector<MetricLabel>, const OfClass*>> all() const;

  const Classify classify_;
  OfClass others_;  // of class 0
  std::array<std::atomic<OfClass*>, kMostClasses + 1> classes_{};
  std::array<Buckets<kCommandBounds>, redis::kOperations> commands_{};
  Buckets<kLatenessBounds> lateness_;
  std::atomic<std::uint64_t> overflows_{0};

  mutable base::Mutex mutex_;
  std::vector<std::unique_ptr<OfClass>> owned_ HOLDFAST_GUARDED_BY(mutex_);
  std::vector<std::string> labels_ HOLDFAST_GUARDED_BY(mutex_);  // that of class n is the nth, from 1 on
  std::unordered_map<std::string, LockClass> known_ HOLDFAST_GUARDED_BY(mutex_);
};

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

  Meter meter;
  Waits waits;

  /// What is counted, by its name in Counters. Returns what it was.
  using Counter = std::uint64_t Counters::*;
  std::uint64_t add(Counter which, std::uint64_t n = 1) noexcept { return in(which).fetch_add(n, kRelaxed); }
  void take(Counter which) noexcept { in(which).fetch_sub(1, kRelaxed); }
  std::uint64_t count(Counter which) const noexcept { return in(which).load(kRelaxed); }
  Counters snapshot() const;
  /// What was counted and measured, with what only others know: holds, and to which servers there is a connection.
  Metrics metrics(std::size_t holds, std::optional<base::Duration> lowest_validity,
                  const std::vector<std::pair<std::string, bool>>& links) const;

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
    add(&Counters::events_dropped);
  }

 private:
  static constexpr std::memory_order kRelaxed = std::memory_order_relaxed;
  using Atomic = std::atomic_ref<std::uint64_t>;
  Atomic in(Counter which) const noexcept { return Atomic(counters_.*which); }

  alignas(Atomic::required_alignment) mutable Counters counters_;
  const std::shared_ptr<Observer> observer_;
  Notifier& notifier_;
};

}  // namespace holdfast::engine
