// SPDX-License-Identifier: Apache-2.0
// Simulated time: everything runs in one thread, in an order that follows from a seed alone.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "sim/model/time.hpp"

namespace holdfast::test {

namespace sim {
class Process;
}

/// One at a time. As long as it lives the library's clock, chance, numbers and connections are its own
/// (replacements.cpp, system_calls.cpp).
class World final : public Time {
 public:
  using Chance = std::mt19937_64;

  explicit World(std::uint64_t seed);
  ~World() override;
  static World& current();

  base::TimePoint now() const override { return now_; }
  std::uint32_t random() { return static_cast<std::uint32_t>(chance_()); }
  base::Duration between(base::Duration least, base::Duration most) override { return pick(chance_, least, most); }
  static base::Duration pick(Chance& chance, base::Duration least, base::Duration most);
  /// A source of its own for whoever has this number: what others draw does not change what it gives.
  Chance chance_of(std::uint64_t number) const;

  Id at(base::TimePoint time, Event event) override;
  bool cancel(const Id& id) override { return events_.erase(id) > 0; }
  /// Called after each event and all that follows from it at the same time.
  void watch(std::function<void()> look) { look_ = std::move(look); }

  /// Lets so much time pass.
  void run(base::Duration time);
  /// The same, until `over` says so, looked at after each event. False: it did not.
  bool run_until(base::Duration limit, const std::function<bool()>& over);

 private:
  friend class sim::Process;
  void settle();
  bool step(base::TimePoint end);

  const std::uint64_t seed_;
  Chance chance_;
  base::TimePoint now_{std::chrono::hours(1)};
  std::uint64_t last_ = 0;
  std::map<Id, Event> events_;
  std::function<void()> look_;
  std::vector<sim::Process*> processes_;
};

}  // namespace holdfast::test
