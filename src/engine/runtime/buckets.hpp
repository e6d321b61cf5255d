// How long something took, and how often: the counters of one histogram.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <holdfast/metrics.hpp>

#include "base/clock.hpp"

namespace holdfast::engine {

/// `kBounds`: in seconds, growing. Thread-safe without a lock. The two numbers of one measurement are added one after
/// the other, so a snapshot in between has the first without the second.
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

}  // namespace holdfast::engine
