// SPDX-License-Identifier: Apache-2.0
// What it costs to measure an acquire and its release: every addition that the engine makes for the two, with nothing
// around them; and how many series come of it. Prints two tables, in Markdown. Needs no server.
#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include <holdfast/observer.hpp>

#include "base/clock.hpp"
#include "lock/runtime/reporter.hpp"

namespace {

using holdfast::base::Clock;
using holdfast::base::Duration;
using holdfast::engine::LockClass;
using holdfast::engine::Meter;
using holdfast::redis::Operation;

constexpr int kRounds = 21;
constexpr int kPairs = 1'000'000;

/// As in AcquireOp::finish and, once for each command, Pipeline::on_done.
void measure_acquire(Meter& meter, LockClass its_class, Duration waited) {
  meter.on_command(Operation::acquire, waited);
  meter.on_acquire(its_class, Meter::Result::granted, waited);
}

/// And in Claim::begin_release.
void measure_pair(Meter& meter, LockClass its_class, Duration waited) {
  measure_acquire(meter, its_class, waited);
  meter.on_command(Operation::release, waited);
  meter.on_hold_end(its_class, waited);
}

template <class Pair>
void report(const char* what, int threads, Pair pair) {
  std::vector<double> rounds;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<double> each(static_cast<std::size_t>(threads));
    {
      std::vector<std::jthread> workers;
      for (double& own : each) {
        workers.emplace_back([&own, &pair] {
          const auto begun = std::chrono::steady_clock::now();
          for (int i = 0; i < kPairs; ++i) pair(i);
          const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begun;
          own = took.count() / kPairs;
        });
      }
    }
    rounds.push_back(*std::ranges::max_element(each));
  }
  std::ranges::sort(rounds);
  fmt::print("| {} | {:.1f} | {:.1f} |\n", what, rounds[rounds.size() / 2], rounds.front());
}

/// In Prometheus each bound of a histogram is a series, and so are its sum and its count.
std::size_t lines_of(const holdfast::MetricFamily& family) {
  const bool counts = family.type == holdfast::MetricFamily::Type::histogram;
  return family.metrics.size() * (counts ? family.bounds.size() + 3 : 1);
}

void report_series(const Meter& plain, const Meter& classes) {
  std::vector<holdfast::MetricFamily> without;
  std::vector<holdfast::MetricFamily> with;
  plain.read(without);
  classes.read(with);
  fmt::print("\n| family | sets of labels | series in Prometheus | sets with all classes | series with all classes |\n");
  fmt::print("| --- | ---: | ---: | ---: | ---: |\n");
  for (std::size_t i = 0; i < without.size(); ++i) {
    fmt::print("| `{}` | {} | {} | {} | {} |\n", without[i].name, without[i].metrics.size(), lines_of(without[i]),
               with[i].metrics.size(), lines_of(with[i]));
  }
}

}  // namespace

int main() {
  const auto waited = [](int i) { return Duration(50'000 + i % 1000); };
  fmt::print("| what | ns, median of {} rounds | at best |\n| --- | ---: | ---: |\n", kRounds);
  Meter plain(nullptr);
  report("an acquire", 1, [&](int i) { measure_acquire(plain, 0, waited(i)); });
  report("an acquire and its release", 1, [&](int i) { measure_pair(plain, 0, waited(i)); });
  report("the same in two threads", 2, [&](int i) { measure_pair(plain, 0, waited(i)); });
  Meter classes(holdfast::lock_class);
  const LockClass orders = classes.class_of("order:4711");
  report("an acquire and its release, of a class", 1, [&](int i) { measure_pair(classes, orders, waited(i)); });
  report("the class of a new handle", 1, [&](int) { classes.class_of("order:4711"); });
  report("for comparison: a look at the clock", 1, [](int) { Clock::now(); });
  for (std::size_t i = 0; i < 2 * Meter::kMostClasses; ++i) classes.class_of(std::string(i + 1, 'x'));
  report_series(plain, classes);
}
